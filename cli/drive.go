package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/dispatch/local"
	"assay/dispatch/river"
	"assay/engine"
	"assay/notify"
	"assay/simulator"
	"assay/store"
	"assay/study"
	"assay/waves"
)

type driveOptions struct {
	detach bool // stop when everything that can go out now is on its way
	once   bool // one round, for cron
	quiet  bool // no table at the end

	interval time.Duration // between looks at a job; 0: as usual
}

// rehearsalSpeed is how many times faster than life a rehearsal waits.
const rehearsalSpeed = 2000

// drive works on a run until it is closed or waits for somebody, and says how it ended.
func drive(ctx context.Context, w *World, h *home, run store.Run, s *study.Study, o driveOptions) error {
	if err := h.share(ctx); err != nil {
		return err
	}
	if err := h.takeLuck(run); err != nil {
		return err
	}
	if err := h.files.Probe(); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the artifacts cannot be used: %w", err), hint: "nothing is lost; `assay resume " + run.ID + "` goes on"}
	}
	e, closeEngine, err := newEngine(ctx, w, h, s)
	if err != nil {
		return err
	}
	defer closeEngine()
	if o.interval > 0 {
		e.Timing.PollMin, e.Timing.PollMax = o.interval, o.interval
	}
	progress, err := newProgress(ctx, w, h, run)
	if err != nil {
		return err
	}
	defer progress.close()
	if h.rehearsal {
		fmt.Fprintf(w.Stderr, "REHEARSAL of %s against the simulator: run %s\n", run.Study, run.ID)
	} else {
		fmt.Fprintf(w.Stderr, "run %s of %s\n", run.ID, run.Study)
	}
	d := &local.Driver{Engine: e, Moved: progress.show, Held: progress.held, Every: time.Second}
	if o.once || o.detach {
		d.Until = func(st engine.Standing) bool { return true }
	}
	if err := succeed(ctx, w, h, run); err != nil {
		return err
	}
	// Looked at in any case: what it waits for, money or a person, is told by a look alone.
	if err := h.ledger.RunDue(ctx, run.No, w.Now()); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { progress.stopping(e.Flying()) })()
	st, err := d.Drive(ctx, run.No)
	if err := progress.close(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(w.Stderr, "\n%s; `assay resume %s` goes on with the run\n", detached(context.WithoutCancel(ctx), h, run), run.ID)
		return ctx.Err()
	}
	if err != nil {
		return &exitError{code: exitFailed, err: err, hint: "nothing is lost; `assay resume " + run.ID + "` goes on"}
	}
	result := conclude(ctx, w, h, run, st)
	if h.rehearsal && !o.quiet && !o.detach && !o.once {
		if err := printTruth(ctx, w, h, run); err != nil {
			return err
		}
	}
	tell(ctx, w, s, h, run, result)
	if o.detach && errors.Is(result, errGoesOn) { // as it was told to
		fmt.Fprintf(w.Stderr, "%s; `assay resume %s` goes on with it\n", detached(ctx, h, run), run.ID)
		return nil
	}
	return result
}

// takeLuck has the simulator go on with the luck that a rehearsal began with.
func (h *home) takeLuck(run store.Run) error {
	if !h.rehearsal || run.Settings == "" {
		return nil
	}
	var s waves.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	h.luck = s.Luck
	return nil
}

// detached says what goes on without us.
func detached(ctx context.Context, h *home, run store.Run) string {
	if away, err := jobsAway(ctx, h, run); err == nil && !away {
		return "stopped: nothing is on its way"
	}
	return "detached: jobs that were sent go on at the providers"
}

// jobsAway tells whether jobs of a run may be at their providers.
func jobsAway(ctx context.Context, h *home, run store.Run) (bool, error) {
	away, err := h.ledger.Segments(ctx, run.No, store.Intended, store.Launched)
	return slices.ContainsFunc(away, func(g store.Segment) bool { return g.Mode == store.Batch }), err
}

// tell sends the run's news to where the study wants it. News of rehearsals stay here.
func tell(ctx context.Context, w *World, s *study.Study, h *home, run store.Run, result error) {
	if h.rehearsal || len(s.Notify.List) == 0 {
		return
	}
	var urls []string
	for _, name := range s.Notify.List {
		if url, ok := w.Env(strings.Trim(name, "${}")); ok && url != "" {
			urls = append(urls, url)
		}
	}
	news := "done"
	if result != nil {
		news = result.Error()
	}
	if err := notify.Send(ctx, urls, fmt.Sprintf("assay: run %s of %s: %s", run.ID, run.Study, news)); err != nil {
		fmt.Fprintln(w.Stderr, "assay:", err)
	}
}

// newEngine is an engine for runs of one study. The second result ends what it started.
func newEngine(ctx context.Context, w *World, h *home, s *study.Study) (*engine.Engine, func(), error) {
	rng, err := newRand()
	if err != nil {
		return nil, nil, err
	}
	e := &engine.Engine{
		Ledger: h.ledger, Files: h.files, Planner: h.planner, Clock: w.clock(), Timing: h.timing(w), Random: rng,
		Holder: holderName() + "/" + newID(rng),
	}
	a := &accounts{world: w, study: s, stall: e.Timing.Stall}
	stop := func() {}
	if h.rehearsal {
		sim, err := simulator.New(simulator.Options{Seed: cmp.Or(h.luck, 1), Dir: h.files.Dir()})
		if err != nil {
			return nil, nil, fmt.Errorf("start the simulator: %w", err)
		}
		a.sim, stop = sim, func() { sim.Close() }
	}
	e.Accounts = a.known
	return e, stop, ctx.Err()
}

// holderName is who we are to other processes.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "here"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// succeed takes over at once from processes of this machine that are gone: nobody has to wait until their leases end.
func succeed(ctx context.Context, w *World, h *home, run store.Run) error {
	drivers, err := h.ledger.Drivers(ctx, run.No)
	if err != nil {
		return err
	}
	for _, d := range drivers {
		if !gone(h, d.Holder) {
			continue
		}
		if err := h.ledger.ReleaseDead(ctx, run.No, d.Holder); err != nil {
			return err
		}
		fmt.Fprintf(w.Stderr, "%s, which drove this run, is gone: going on from where it was\n", processOf(d.Holder))
	}
	return nil
}

// gone tells whether a holder of leases was a process of this machine that is not there any more.
func gone(h *home, holder string) bool {
	if h.ledger.Postgres() { // whose workers may be on machines that only share a name
		return false
	}
	here, _, _ := strings.Cut(holderName(), "/")
	host, rest, _ := strings.Cut(holder, "/")
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	return err == nil && host == here && !alive(pid)
}

// timing is how long everything waits. Whoever shares a ledger has short leases, so that others can soon go on.
func (h *home) timing(w *World) engine.Timing {
	t := engine.DefaultTiming()
	if h.rehearsal {
		t = t.Scaled(rehearsalSpeed)
	}
	if h.ledger.Postgres() {
		t = river.Leases(t)
	}
	if w.Timing != nil {
		t = w.Timing(t)
	}
	return t
}

// clock is the world's time; waiting for it takes real time, unless the world has its own way.
type clock struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
}

func (w *World) clock() engine.Clock { return clock{w.Now, w.Sleep} }

func (c clock) Now() time.Time { return c.now() }

func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.sleep != nil {
		return c.sleep(ctx, d)
	}
	return engine.WallClock().Sleep(ctx, d)
}

// errGoesOn says that a run is not done yet, and nothing is wrong with it.
var errGoesOn = errors.New("the run goes on")

// conclude says in words how a run stands, with the exit code that goes with it.
func conclude(ctx context.Context, w *World, h *home, run store.Run, st engine.Standing) error {
	run, err := h.ledger.Run(ctx, run.No)
	if err != nil {
		return err
	}
	if err := printStatus(ctx, w, h, run, false); err != nil {
		return err
	}
	if err := tellUnjudged(ctx, w, h, run); err != nil {
		return err
	}
	lanes, err := h.ledger.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	open := run.State != store.RunClosed
	held, isHeld := laneIn(lanes, store.LaneHeld)
	stopped, isStopped := laneIn(lanes, store.LaneStopped)
	switch {
	case st.Held > 0:
		return &exitError{code: exitHeld, err: fmt.Errorf("%s held", assay.Count(st.Held, "segment")), hint: "assay status " + run.ID + " --segments, then assay resolve"}
	case open && isHeld:
		return &exitError{code: exitHeld, err: fmt.Errorf("lane %s is held: %s", held.Name, held.Reason), hint: "put it right, then assay retry " + run.ID}
	case len(st.Verify) > 0:
		return &exitError{code: exitHeld, err: errors.New("first answers wait for a yes"), hint: "assay results " + run.ID + ", then assay resume " + run.ID + " --proceed"}
	case st.Budget:
		return &exitError{code: exitBudget, err: errors.New("stopped by the budget"), hint: "raise it with assay resume " + run.ID + " --budget"}
	case open && isStopped && st.Moving == 0:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("lane %s is stopped: %s", stopped.Name, stopped.Reason), hint: "put it right, then assay retry " + run.ID}
	case open:
		return &exitError{code: exitIncomplete, err: errGoesOn, hint: "assay resume " + run.ID}
	case run.Result == store.ResultIncomplete || run.Result == store.ResultCancelled:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("done, but %s", run.Result), hint: "assay errors " + run.ID}
	}
	return nil
}

// laneIn is the first lane in a state, if there is one.
func laneIn(lanes []store.Lane, s store.LaneState) (store.Lane, bool) {
	for _, l := range lanes {
		if l.State == s {
			return l, true
		}
	}
	return store.Lane{}, false
}

// spent is what a run has cost so far, with what came home of segments that are on their way.
func spent(ctx context.Context, h *home, run store.Run) (assay.Cost, error) {
	return h.results().Spent(ctx, run)
}
