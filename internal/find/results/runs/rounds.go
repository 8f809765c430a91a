package runs

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// Held is why the round of a stage does not come to its end by itself.
type Held string

// The reasons.
const (
	NotHeld    Held = ""
	HeldLane   Held = "lane stopped"      // a judge that it needs
	HeldPaused Held = "lane paused"       // by a person
	HeldBarren Held = "no usable verdict" // all of its verdicts failed, or could not be read
)

// RoundState is how far a stage is that buys its pairs in rounds.
type RoundState struct {
	store.Look // the last one; its number is 0 before the first
	Held       Held
	Lane       string // that is stopped or paused
	Reason     string // why the lane is
	Fixed      bool   // its pairs were all planned at once, and more were bought besides
	Unread     bool   // every judge answered, and no verdict could be read
}

// RoundStates returns the stages of a run that buy their pairs in rounds: those that were looked at, and those whose
// round is held up.
func RoundStates(ctx context.Context, r *results.Reader, run store.Run) ([]RoundState, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	last := map[string]store.Look{}
	for l, err := range r.Ledger.Looks(ctx, run.No) {
		if err != nil {
			return nil, err
		}
		last[l.Stage] = l
	}
	left := map[string]bool{}
	for d, err := range r.Ledger.Decisions(ctx, run.No) {
		if err != nil {
			return nil, err
		}
		left[d.Stage] = left[d.Stage] || d.Lane == "" && !d.Passed
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var out []RoundState
	for i := range st.Stages {
		s := &st.Stages[i]
		rounds := s.Pairs != nil && s.Pairs.Adaptive != nil
		if !rounds && last[s.Name].Number == 0 || left[s.Name] {
			continue
		}
		state := RoundState{Look: last[s.Name], Fixed: !rounds}
		state.Stage = s.Name
		if rounds {
			state.Planned = s.Pairs.Adaptive.Planned()
		}
		state.hold(run, lanes)
		if state.Number > 0 || state.Held != NotHeld {
			out = append(out, state)
		}
	}
	return out, nil
}

// hold finds out why a round does not come to its end.
func (s *RoundState) hold(run store.Run, lanes []store.Lane) {
	if s.Stop != store.StopNone || run.Result == store.ResultCancelled {
		return
	}
	asked, failed := false, false
	for _, l := range lanes {
		for e, n := range l.Endings {
			failed = failed || n > 0 && !e.Stands()
		}
		if l.Stage != s.Stage {
			continue
		}
		asked = asked || l.Ended() > 0
		switch {
		case l.Shut():
			s.Held, s.Lane, s.Reason = HeldLane, l.Name, l.Reason
		case l.State == store.LanePaused && s.Held == NotHeld:
			s.Held, s.Lane, s.Reason = HeldPaused, l.Name, l.Reason
		}
	}
	if s.Held == NotHeld && run.State == store.RunClosed && (asked || s.Number > 0) {
		s.Held, s.Unread = HeldBarren, !failed
	}
}

// Words returns how far the stage is, and the command to type where it does not go on by itself. Named is the run as
// commands take it.
func (s RoundState) Words(named string) string {
	round := fmt.Sprintf("Stage %s: round %d of %d", s.Stage, s.Number+1, s.Planned)
	if s.Fixed || s.Number >= s.Planned {
		round = fmt.Sprintf("Stage %s: what was bought beyond its plan", s.Stage)
	}
	switch {
	case s.Stop != store.StopNone && (s.Fixed || s.Number > s.Planned):
		return fmt.Sprintf("Stage %s: looked at %d times, %d of them planned: %s.", s.Stage, s.Number, s.Planned, s.Stop.Words())
	case s.Stop != store.StopNone:
		return fmt.Sprintf("Stage %s: stopped after round %d of %d: %s.", s.Stage, s.Number, s.Planned, s.Stop.Words())
	case s.Held == HeldLane:
		return fmt.Sprintf("%s is held: judge %s is stopped (%s). `assay retry %s` goes on.", round, s.Lane,
			assay.Clean(s.Reason, 200), named)
	case s.Held == HeldPaused:
		return fmt.Sprintf("%s is held: judge %s is paused. `assay tune %s --unpause %s`, then `assay resume %s` goes on.", round, s.Lane,
			named, results.ShellWord(s.Lane), named)
	case s.Held == HeldBarren && s.Unread:
		return fmt.Sprintf("%s is held: none of its verdicts can be read. `assay retry %s --verdicts malformed,refused` asks again.",
			round, named)
	case s.Held == HeldBarren:
		return fmt.Sprintf("%s is held: none of its verdicts can be used. `assay retry %s` asks again.", round, named)
	}
	return round + " is under way."
}
