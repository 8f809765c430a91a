package runs

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/engine/stage"
)

// extension is one look at a run under its lease, with what carries out its orders.
type extension struct {
	*stage.Extension
	engine *Engine
}

func (e *Engine) extension(l store.Lease) *extension {
	return &extension{&stage.Extension{Config: &e.Config, Waits: e.waits, Lease: l}, e}
}

// Extend obeys the orders of a run, makes the segments that can go out now, and closes the run when nothing is left to
// do. *store.HeldError: another process is at it.
func (e *Engine) Extend(ctx context.Context, run int64) (st engine.RunStatus, err error) {
	err = e.leases.Run(ctx, run, func(ctx context.Context, h *hold.LeaseHolder) error {
		x := e.extension(h.Lease)
		if x.Run, err = e.Ledger.Reader.Run(ctx, run); err != nil {
			return err
		}
		if err := x.obey(ctx); err != nil {
			return err
		}
		if x.Run.State != store.RunOpen {
			st = engine.RunStatus{Closed: x.Run.State == store.RunClosed, Result: x.Run.Result}
			return nil
		}
		if err := x.younger(ctx); err != nil {
			return err
		}
		may, err := x.reconcile(ctx)
		if err != nil {
			return err
		}
		moving, err := e.Moving(ctx, run)
		if x.Still = moving == 0; err != nil {
			return err
		}
		if may {
			err = x.Grow(ctx)
		}
		if err != nil {
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

// conclude returns where the run is, sets when to look again, and closes it when nothing is left to do.
func (x *extension) conclude(ctx context.Context) (engine.RunStatus, error) {
	st := engine.RunStatus{Made: x.Made, Budget: x.Short, Waiting: x.Waiting}
	open, err := x.Ledger.Work.OpenSegments(ctx, x.Run.No)
	if err != nil {
		return st, err
	}
	st.Held, st.Asleep, st.Moving = open.Held, open.Asleep, open.Moving
	st.Budget = st.Budget || open.Blocked > 0 // also one that is woken, and not yet tried again
	for _, l := range x.Lanes {
		if l.Canary == store.CanaryShown && l.State == store.LaneOpen { // one that was cancelled waits for nothing
			st.Verify = append(st.Verify, l.Name)
		}
		if l.State == store.LanePaused && l.Ended() < l.Planned-l.Spared {
			st.Paused = append(st.Paused, l.Name)
		}
	}
	if open.Held+open.Asleep+open.Moving > 0 || x.Waiting || x.Short || len(st.Verify)+len(st.Paused) > 0 {
		return st, x.Ledger.Leases.SleepRun(ctx, x.Run.No, x.Run.Due, x.Next)
	}
	if x.Made > 0 || x.Completed { // what was settled at once may make more possible
		return st, x.Ledger.Leases.RunDue(ctx, x.Run.No, x.Clock.Now())
	}
	if unsent, err := x.Unsent(ctx); err != nil || unsent { // a lane that is stopped holds the run, whether its requests were cut or not
		return st, errors.Join(err, x.Ledger.Leases.SleepRun(ctx, x.Run.No, x.Run.Due, x.Next))
	}
	return x.close(ctx, st)
}

// close reconciles the run with its providers and ends it, unless something settled since this look began: what that
// makes possible has not been seen.
func (x *extension) close(ctx context.Context, st engine.RunStatus) (engine.RunStatus, error) {
	var unread *reconcile.UnreadError
	switch err := x.engine.auditor.Run(ctx, x.Run); {
	case errors.As(err, &unread): // tried again a few times before it is left for later
		st.Waiting = true
		return st, x.Ledger.Leases.SleepRun(ctx, x.Run.No, x.Run.Due, x.Clock.Now().Add(x.Backoff(0, 0)))
	case err != nil:
		return st, err
	}
	if now, err := x.Ledger.Reader.Run(ctx, x.Run.No); err != nil || now.Reconcile != "" { // a job showed that is not in the ledger
		return st, errors.Join(err, x.Ledger.Leases.RunDue(ctx, x.Run.No, x.Clock.Now()))
	}
	if err := x.Reload(ctx); err != nil {
		return st, err
	}
	result, err := x.result(ctx)
	if err != nil {
		return st, err
	}
	switch err := x.Ledger.Work.CloseRun(ctx, x.Lease, x.Run.Due, result); {
	case errors.Is(err, store.ErrWoken):
		return st, nil // it is due again
	case err != nil:
		return st, err
	}
	st.Closed, st.Result = true, result
	// What cannot be packed is whole where it is: `assay clean` packs it later.
	if err := x.Files.Pack(ctx, x.Run.ID); err != nil && ctx.Err() == nil {
		return st, x.Ledger.Work.Note(ctx, x.Run.No, 0, "pack", err.Error())
	}
	return st, nil
}

// result returns how the run ends: whether everything has an answer, and every judge gave a verdict.
func (x *extension) result(ctx context.Context) (store.Result, error) {
	result := store.ResultDone
	for _, l := range x.Lanes {
		if engine.CancelledByUser(l) {
			return store.ResultCancelled, nil
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
		if l.Unread == 0 || l.Unread < stands {
			continue
		}
		// Further tries, or another judge in its place, may have given what it did not.
		if judged, err := x.Ledger.Reader.Judged(ctx, x.Run.No, l.Stage, l.Name); err != nil {
			return result, err
		} else if !judged {
			result = store.ResultIncomplete
		}
	}
	return result, nil
}
