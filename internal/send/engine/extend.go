package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/keep/store"
)

// Standing is where a run is after Extend.
type Standing struct {
	Closed  bool
	Result  store.Result
	Made    int // segments made now
	Moving  int // segments that move by themselves
	Held    int // segments that wait for a person
	Asleep  int // segments that wait for a lane, a canary or money
	Budget  bool
	Verify  []string // lanes whose canary waits for a yes
	Paused  []string // lanes that a person paused, and that have more to ask
	Waiting bool     // requests wait for others to join them, or to be sent again
}

// extension is one look at a run under its lease.
type extension struct {
	*Engine
	l      store.Lease
	run    store.Run
	policy Policy
	lanes  []store.Lane
	made   int
	next   time.Time // when to look again by itself; zero: when something settles
	short  bool      // the budget left something out
	waits  bool
	still  bool // no segment moved by itself when the look began

	completed bool // a group came to its end without anything to send: what waits for it can go on
}

// Extend obeys the orders of a run, makes the segments that can go out now, and closes the run when nothing is left to
// do. *store.HeldError: another process is at it.
func (e *Engine) Extend(ctx context.Context, run int64) (st Standing, err error) {
	err = e.holdRun(ctx, run, func(ctx context.Context, t *tenure) error {
		x := &extension{Engine: e, l: t.l}
		if x.run, err = e.Ledger.Run(ctx, run); err != nil {
			return err
		}
		if err := x.obey(ctx); err != nil {
			return err
		}
		if x.run.State != store.RunOpen {
			st = Standing{Closed: x.run.State == store.RunClosed, Result: x.run.Result}
			return nil
		}
		if x.still, err = e.Still(ctx, run); err != nil {
			return err
		}
		if err := x.grow(ctx); err != nil {
			return err
		}
		st, err = x.conclude(ctx)
		return err
	})
	if err != nil {
		return st, fmt.Errorf("extend run %d: %w", run, err)
	}
	return st, nil
}

// Still reports whether no segment of a run moves by itself.
func (e *Engine) Still(ctx context.Context, run int64) (bool, error) {
	open, err := e.Ledger.OpenSegments(ctx, run, blockedByBudget)
	return open.Moving == 0, err
}

// grow makes the segments that can go out now.
func (x *extension) grow(ctx context.Context) error {
	var err error
	if x.policy, err = x.Planner.Policy(ctx, x.run); err != nil {
		return err
	}
	if err := x.discardScratch(ctx); err != nil {
		return err
	}
	if err := x.Planner.Absorb(ctx, x.run); err != nil {
		return err
	}
	if err := x.reload(ctx); err != nil {
		return err
	}
	if err := x.stopLanes(ctx); err != nil {
		return err
	}
	if err := x.canaries(ctx); err != nil {
		return err
	}
	if err := x.resends(ctx); err != nil {
		return err
	}
	if err := x.waves(ctx); err != nil {
		return err
	}
	if err := x.reload(ctx); err != nil {
		return err
	}
	for _, l := range x.lanes {
		if l.State == store.LaneOpen {
			if err := x.Ledger.WakeLane(ctx, x.run.No, l.Stage, l.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *extension) reload(ctx context.Context) (err error) {
	x.lanes, err = x.Ledger.Lanes(ctx, x.run.No)
	return err
}

func (x *extension) laneOf(stage, name string) (store.Lane, bool) {
	for _, l := range x.lanes {
		if l.Stage == stage && l.Name == name {
			return l, true
		}
	}
	return store.Lane{}, false
}

// discardScratch takes away what a killed process had begun to write: nothing of it left this machine.
func (x *extension) discardScratch(ctx context.Context) error {
	planned, err := x.Ledger.Segments(ctx, x.run.No, store.Planned)
	if err != nil {
		return err
	}
	for _, g := range planned {
		// The run is ours, and only the holder of a run plans: whatever lease is on it belongs to the dead.
		l, err := x.Ledger.SeizeSegment(ctx, x.l, g.No, x.Holder, x.Timing.Lease)
		if err != nil {
			return err
		}
		if err := x.Files.Remove(ctx, x.run.ID, fmt.Sprintf("s%d-in", g.No)); err != nil {
			return err
		}
		if err := x.Ledger.Discard(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// conclude says where the run is, when to look again, and closes it when nothing is left to do.
func (x *extension) conclude(ctx context.Context) (Standing, error) {
	st := Standing{Made: x.made, Budget: x.short, Waiting: x.waits}
	open, err := x.Ledger.OpenSegments(ctx, x.run.No, blockedByBudget)
	if err != nil {
		return st, err
	}
	st.Held, st.Asleep, st.Moving = open.Held, open.Asleep, open.Moving
	st.Budget = st.Budget || open.Blocked > 0 // also one that is roused, and not yet tried again
	for _, l := range x.lanes {
		if l.Canary == store.CanaryShown && l.State == store.LaneOpen { // one that was cancelled waits for nothing
			st.Verify = append(st.Verify, l.Name)
		}
		if l.State == store.LanePaused && l.Ended() < l.Planned-l.Spared {
			st.Paused = append(st.Paused, l.Name)
		}
	}
	if open.Held+open.Asleep+open.Moving > 0 || x.waits || x.short || len(st.Verify)+len(st.Paused) > 0 {
		return st, x.Ledger.SleepRun(ctx, x.run.No, x.run.Due, x.next)
	}
	if x.made > 0 || x.completed { // what was settled at once may make more possible
		return st, x.Ledger.RunDue(ctx, x.run.No, x.Clock.Now())
	}
	return x.close(ctx, st)
}

// close reconciles the run with its providers and ends it, unless something settled since this look began: what that
// makes possible has not been seen.
func (x *extension) close(ctx context.Context, st Standing) (Standing, error) {
	if err := x.reconcile(ctx); err != nil {
		return st, err
	}
	if err := x.reload(ctx); err != nil {
		return st, err
	}
	result := x.result()
	switch err := x.Ledger.CloseRun(ctx, x.l, x.run.Due, result); {
	case errors.Is(err, store.ErrWoken):
		return st, nil // it is due again
	case err != nil:
		return st, err
	}
	st.Closed, st.Result = true, result
	// What cannot be packed is whole where it is: `assay clean` packs it later.
	if err := x.Files.Pack(ctx, x.run.ID); err != nil && ctx.Err() == nil {
		return st, x.Ledger.Note(ctx, x.run.No, 0, "pack", err.Error())
	}
	return st, nil
}

func (x *extension) result() store.Result {
	result := store.ResultDone
	for _, l := range x.lanes {
		if CancelledByUser(l) {
			return store.ResultCancelled
		}
		var stands int64
		for e, n := range l.Endings {
			if e.Stands() {
				stands += n
			}
		}
		if stands < l.Planned-l.Spared {
			result = store.ResultIncomplete
		}
	}
	return result
}

// wake makes sure that the run is looked at again by a moment.
func (x *extension) wake(at time.Time) {
	if x.next.IsZero() || at.Before(x.next) {
		x.next = at
	}
	x.waits = true
}
