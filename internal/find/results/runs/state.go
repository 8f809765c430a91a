package runs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/study"
)

// State is the state of a run in a word: the same in lists, pages, reports, documents and messages.
type State string

// The states of a run.
const (
	StatePlanned    State = "planned"        // nothing was sent yet
	StateInFlight   State = "in flight"      // requests are at providers, or go out by themselves
	StateWaiting    State = "waiting"        // nothing is to be done before a moment
	StateHeld       State = "held"           // a person has to decide
	StateStopped    State = "stopped"        // nothing goes on by itself
	StateIncomplete State = "incomplete"     // closed, and something has no answer
	StateCancelled  State = "cancelled"      // by a person; jobs that were asked to stop may still be at providers
	StateJudges     State = "judges failed"  // no verdict of a stage can be used
	StatePeople     State = "people to vote" // all is answered, and a stage is left to people
	StateDone       State = "done"
)

// StateOpen is what filters call all states of runs that are not closed.
const StateOpen State = "open"

// States returns all states.
func States() []State {
	return []State{StatePlanned, StateInFlight, StateWaiting, StateHeld, StateStopped, StateIncomplete, StateCancelled, StateJudges,
		StatePeople, StateDone}
}

// Cause is why a run is in its state, where one state has several reasons.
type Cause int

// The causes.
const (
	CauseNone     Cause = iota
	CauseSegments       // segments wait for a decision
	CauseLane           // a lane is held or stopped
	CauseYes            // first answers wait for a yes
	CauseBudget         // the budget does not cover the rest
	CausePaused         // a person paused a lane
	CauseNobody         // no process drives it
	CauseProvider       // a provider asked to wait
	CauseCompare        // jobs at its providers are to be compared with the ledger before anything is sent
	CauseAudit          // closed: a provider's list of jobs is to be read once more
	CauseKeys           // no worker that is alive has a key for what is to be sent
	CauseCancel         // cancelled, and not closed: jobs were asked to stop, and what they did comes back
)

// Standing is the state of a run, why it is so, and the numbers that say so.
type Standing struct {
	State   State
	Cause   Cause
	Lane    store.Lane    // that is held, stopped, paused or asked to wait
	Stage   string        // of failed judges, or the first that is left to people
	Left    []string      // all stages that are left to people
	Program bool          // what failed is the program that judges
	Until   time.Time     // of a wait
	Job     store.Segment // the first held one whose job was made
	Short   string        // what the budget does not cover, with what it needs; empty: it is not known
	Keys    []string      // the variables of keys that no worker has
	Listed  bool          // all segments are printed beside it

	Run      store.Run
	Far      RunProgress
	Needs    store.Attention
	Pulse    store.Pulse // of an open run
	Alive    bool        // a process drives it, or will when its next step is due
	allShort bool        // the budget covers none of the jobs that wait

	now time.Time
}

// Standings returns the states of runs, by their numbers.
func Standings(ctx context.Context, r *results.Reader, all ...store.Run) (map[int64]Standing, error) {
	return standings(ctx, r, map[string]*study.Study{}, all)
}

// standings keeps the studies that it reads, by their digests: most runs of a list are of few studies.
func standings(ctx context.Context, r *results.Reader, studies map[string]*study.Study, all []store.Run) (map[int64]Standing, error) {
	numbers := make([]int64, len(all))
	for i, run := range all {
		numbers[i] = run.No
	}
	far, err := ProgressOf(ctx, r, all...)
	if err != nil {
		return nil, err
	}
	needs, err := r.Pages.Attention(ctx, numbers)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]Standing, len(all))
	for _, run := range all {
		s := Standing{Run: run, Far: far[run.No], Needs: needs[run.No], now: r.Pages.Now()}
		if run.State == store.RunClosed {
			err = s.closed(ctx, r, studies)
		} else if s.Pulse, s.Alive, err = alive(ctx, r, run); err == nil {
			if err = s.findKeys(ctx, r, studies); err == nil {
				err = s.open(ctx, r, engine.RunStatus{})
			}
		}
		if err == nil && s.Cause == CauseSegments {
			err = s.findJob(ctx, r)
		}
		if err != nil {
			return nil, err
		}
		out[run.No] = s
	}
	return out, nil
}

// Of returns the state of a run.
func Of(ctx context.Context, r *results.Reader, run store.Run) (Standing, error) {
	all, err := Standings(ctx, r, run)
	return all[run.No], err
}

// After returns the state of a run after a drive, which ended with what the engine saw.
func After(ctx context.Context, r *results.Reader, run store.Run, st engine.RunStatus) (Standing, error) {
	s, err := Of(ctx, r, run)
	if err != nil || run.State == store.RunClosed {
		return s, err
	}
	s = Standing{Run: run, Far: s.Far, Needs: s.Needs, Job: s.Job, now: s.now}
	return s, s.open(ctx, r, st)
}

// open finds the state of a run that is not closed. What a person has to look after comes before what goes on.
func (s *Standing) open(ctx context.Context, r *results.Reader, st engine.RunStatus) error {
	lane := func(is func(LaneProgress) bool) bool {
		i := slices.IndexFunc(s.Far.Lanes, is)
		if i >= 0 {
			s.Lane = s.Far.Lanes[i].Lane
		}
		return i >= 0
	}
	in := func(state store.LaneState) func(LaneProgress) bool {
		return func(l LaneProgress) bool { return l.State == state && !l.Complete() }
	}
	waits := func() bool { return lane(func(l LaneProgress) bool { return l.wait.After(s.now) }) }
	short, err := s.shortOfMoney(ctx, r)
	if err != nil {
		return err
	}
	p, segments := s.Far.Progress, s.Needs.Held
	for _, l := range s.Far.Lanes {
		if l.State == store.LaneHeld {
			segments--
		}
	}
	_, file := batchrun.Of(s.Run)
	// What is due later may be a look for late results alone: that sends nothing.
	still := p.InFlight+p.Live+p.Staged+p.Again == 0 || p.InFlight == 0 && (!s.Alive || s.Pulse.Holder == "" && s.allShort)
	switch {
	case s.Run.State == store.RunPreparing:
		s.State = StatePlanned
	case segments <= 0 && lane(func(l LaneProgress) bool { return engine.CancelledByUser(l.Lane) }):
		s.State, s.Cause = StateCancelled, CauseCancel
	case lane(func(l LaneProgress) bool { return l.Shut() && l.unusable() && s.readOf(l.Stage) == 0 }):
		s.State, s.Cause, s.Stage = StateJudges, CauseLane, s.Lane.Stage
	case segments > 0:
		s.State, s.Cause = StateHeld, CauseSegments
	case lane(in(store.LaneHeld)):
		s.State, s.Cause = StateHeld, CauseLane
	case lane(func(l LaneProgress) bool { return l.Canary == store.CanaryShown && l.State == store.LaneOpen }):
		s.State, s.Cause = StateHeld, CauseYes
	case (short || st.Budget) && still && !(p.Live > 0 && waits()): // what goes live has its money: it waits for the provider
		s.State, s.Cause = StateStopped, CauseBudget
	case still && lane(in(store.LanePaused)):
		s.State, s.Cause = StateStopped, CausePaused
	case still && lane(in(store.LaneStopped)), file && lane(func(l LaneProgress) bool { return engine.StoppedByAccount(l.Lane) }):
		s.State, s.Cause = StateStopped, CauseLane
	case s.Run.Reconcile != "":
		s.State, s.Cause = StateWaiting, CauseCompare
	case p.InFlight == 0 && waits():
		s.State, s.Cause, s.Until = StateWaiting, CauseProvider, s.waitEnds()
	case len(s.Keys) > 0:
		s.State, s.Cause = StateWaiting, CauseKeys
	case s.Alive && s.Pulse.Holder == "" && p.unsent():
		s.State = StatePlanned
	case p.InFlight > 0 || s.Alive:
		s.State = StateInFlight
	case p.unsent():
		s.State, s.Cause = StatePlanned, CauseNobody
	default:
		s.State, s.Cause = StateStopped, CauseNobody
	}
	return nil
}

// unsent reports whether nothing was ever sent.
func (p Progress) unsent() bool {
	return p.InFlight == 0 && p.first.IsZero() && p.Answered+p.Failed == 0
}

// findJob looks for a held segment whose job is known: with a key that works, it is collected.
func (s *Standing) findJob(ctx context.Context, r *results.Reader) error {
	held, err := r.Ledger.Segments(ctx, s.Run.No, store.Held)
	i := slices.IndexFunc(held, func(g store.Segment) bool {
		return g.Job != "" && (g.HeldFrom == store.Launched || g.HeldFrom == store.Ended)
	})
	if i >= 0 {
		s.Job = held[i]
	}
	return err
}

// waitEnds returns when the first provider that asked to wait takes requests again.
func (s *Standing) waitEnds() time.Time {
	var first time.Time
	for _, l := range s.Far.Lanes {
		if !l.wait.IsZero() && (first.IsZero() || l.wait.Before(first)) {
			first, s.Lane = l.wait, l.Lane
		}
	}
	return first
}

// recentEvents is how far back the history is read for what stopped a run.
const recentEvents = 20

// shortOfMoney reports whether the budget does not cover what is left.
func (s *Standing) shortOfMoney(ctx context.Context, r *results.Reader) (bool, error) {
	if s.Run.Budget == nil || s.Far.Complete() {
		return false, nil
	}
	waiting, err := r.Ledger.Segments(ctx, s.Run.No, store.Staged, store.Uploaded, store.Launched)
	n := len(waiting)
	waiting = slices.DeleteFunc(waiting, func(g store.Segment) bool { return !engine.OverBudget(g) })
	s.allShort = n > 0 && len(waiting) == n
	if err != nil || len(waiting) > 0 {
		s.Short = needed(waiting)
		return err == nil, err
	}
	events, err := r.Pages.EventsBefore(ctx, s.Run.No, 0, recentEvents)
	for _, e := range events { // the newest first
		if e.Kind == store.BudgetEvent || e.Kind == store.TunedEvent {
			s.Short = e.Text
			return e.Kind == store.BudgetEvent, err
		}
	}
	return false, err
}

// needed returns what segments that the budget does not cover need.
func needed(waiting []store.Segment) string {
	if len(waiting) == 0 {
		return ""
	}
	least, all := waiting[0].Expected, assay.Money(0)
	for _, g := range waiting {
		least, all = min(least, g.Expected), all+g.Expected
	}
	if len(waiting) == 1 {
		return "the next job needs " + all.String()
	}
	return fmt.Sprintf("the smallest of %s that wait needs %s, all of them %s", assay.Count(len(waiting), "job"), least, all)
}

// closed finds the state of a closed run.
func (s *Standing) closed(ctx context.Context, r *results.Reader, known map[string]*study.Study) error {
	if s.Run.Result == store.ResultCancelled {
		s.State = StateCancelled
		return nil
	}
	st, err := studyOf(ctx, r, s.Run, known)
	if err != nil {
		return err
	}
	if s.Stage = s.failedStage(st); s.Stage == "" {
		if s.Stage, err = failedProgram(ctx, r, s.Run, st); err != nil {
			return err
		}
		s.Program = s.Stage != ""
	}
	switch {
	case s.Stage != "":
		s.State = StateJudges
	case s.Run.Result == store.ResultIncomplete:
		s.State = StateIncomplete
	case s.Needs.Owed > 0:
		s.State, s.Cause, s.Until = StateWaiting, CauseAudit, s.Needs.OwedFrom
	default:
		s.State = StateDone
		if s.Left, err = peoplesStages(ctx, r, s.Run, st); len(s.Left) > 0 {
			s.State, s.Stage = StatePeople, s.Left[0]
		}
	}
	return err
}

func studyOf(ctx context.Context, r *results.Reader, run store.Run, known map[string]*study.Study) (*study.Study, error) {
	if st, ok := known[run.Digest]; ok {
		return st, nil
	}
	st, err := r.Study(ctx, run)
	if err == nil {
		known[run.Digest] = st
	}
	return st, err
}

// overdue is how late a run is when no process seems to drive it.
const overdue = 20 * time.Second

// alive reports whether a process is at work on an open run or will be when its next step is due, and which and when.
func alive(ctx context.Context, r *results.Reader, run store.Run) (store.Pulse, bool, error) {
	p, err := r.Pages.Pulse(ctx, run.No)
	if r.Gone != nil && p.Holder != "" && r.Gone(p.Holder) {
		return store.Pulse{}, false, err
	}
	return p, p.Holder != "" || !p.Due.IsZero() && r.Pages.Now().Sub(p.Due) <= overdue, err
}
