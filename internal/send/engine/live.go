package engine

import (
	"context"
	"errors"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// stepLive moves a segment that does not travel as a batch.
func (w *work) stepLive(ctx context.Context) error {
	switch {
	case w.g.Mode == store.Reuse && !w.g.State.Terminal():
		return w.abandon(ctx)
	case w.g.State == store.Staged:
		return w.goLive(ctx)
	case w.g.State == store.Launched:
		return w.askAll(ctx)
	}
	return w.Ledger.Wake(ctx, w.l, time.Time{}, w.g.Reason)
}

// abandon gives up a segment whose outcomes were in the memory of a process that died. Its requests go on by queue.
func (w *work) abandon(ctx context.Context) error {
	end := store.EndOpen{Ending: assay.Cancelled, Message: "its process died before it was written",
		Again: &store.Again{Mode: store.Batch, After: w.Clock.Now(), Cause: "not sent", Cap: noCap}}
	if err := w.Ledger.EndOpen(ctx, w.l, end); err != nil {
		return err
	}
	if w.g.State == store.Staged {
		return w.Ledger.Drop(ctx, w.l, end.Message)
	}
	return w.Ledger.Finish(ctx, w.l, time.Time{})
}

// goLive reserves the money of a live segment.
func (w *work) goLive(ctx context.Context) error {
	if ok, err := w.mayGo(ctx); !ok || err != nil {
		return err
	}
	if w.access.Live == nil {
		return w.stopLane(ctx, held("provider "+w.g.Provider+" cannot be asked live"))
	}
	err := w.Ledger.GoLive(ctx, w.l, w.access.Fingerprint, w.g.Expected, w.soon())
	if err != nil {
		return w.unintended(ctx, err)
	}
	return nil
}

// askAll asks what has no answer yet, and settles the segment when all have one.
func (w *work) askAll(ctx context.Context) error {
	if err := w.takeOver(ctx); err != nil {
		return err
	}
	if w.g.CancelCause != "" {
		return w.stopAsking(ctx, "cancelled")
	}
	if w.overdue() {
		return w.stopAsking(ctx, "the deadline came before it")
	}
	if ok, err := w.mayGo(ctx); !ok || err != nil {
		return err
	}
	if spent, err := w.overspent(ctx, w.run); spent || err != nil {
		return errors.Join(err, w.unintended(ctx, store.ErrBudget))
	}
	log, err := w.openLog(ctx)
	if err != nil {
		return err
	}
	a := w.newAsking(log)
	durable := context.WithoutCancel(ctx)
	if err := errors.Join(a.fly(ctx), a.queue.keepShares(durable)); err != nil {
		return errors.Join(err, log.Close())
	}
	if err := w.finishLog(durable, log); err != nil {
		return err
	}
	return w.asked(durable, a, ctx.Err())
}

// asked decides what comes after asking: all is answered, or it was stopped.
func (w *work) asked(ctx context.Context, a *asking, interrupted error) error {
	g, err := w.Ledger.Segment(ctx, w.g.No)
	if err != nil {
		return err
	}
	switch {
	case a.halt != nil:
		return w.halted(ctx, a.halt)
	case a.broke != nil && g.Open() > 0:
		return w.unintended(ctx, a.broke)
	case interrupted != nil:
		return interrupted
	case g.Open() > 0: // something came in between: the next step sees what
		return w.Ledger.Wake(ctx, w.l, w.soon(), "")
	}
	if err := w.Ledger.Finish(ctx, w.l, time.Time{}); err != nil {
		return err
	}
	return w.judgeCanary(ctx)
}

// overdue reports whether the study's deadline has come, after which nothing more is asked. Where the rest of a batch would
// go live, what is live already goes on.
func (w *work) overdue() bool {
	return w.policy.Deadline > 0 && w.policy.Then != ThenLive && !w.Clock.Now().Before(w.g.Launched.Add(w.policy.Deadline))
}

// halted stops the lane because of a fault that every further request would meet.
func (w *work) halted(ctx context.Context, f *assay.Fault) error {
	if w.g.Purpose == store.ForCanary {
		if _, err := w.Ledger.SetCanary(ctx, w.run.No, w.g.Stage, w.g.Lane, store.CanaryAsked, store.CanaryFailed); err != nil {
			return err
		}
	}
	return w.stopLane(ctx, stoppedBy(f))
}

// stopAsking ends what has not been asked.
func (w *work) stopAsking(ctx context.Context, why string) error {
	if err := w.Ledger.EndOpen(ctx, w.l, store.EndOpen{Ending: assay.Cancelled, Message: why}); err != nil {
		return err
	}
	return w.Ledger.Finish(ctx, w.l, time.Time{})
}

// judgeCanary decides by a canary's outcome whether the lane's batches may go.
func (w *work) judgeCanary(ctx context.Context) error {
	if w.g.Purpose != store.ForCanary {
		return nil
	}
	var outcome *assay.Outcome
	for a, err := range w.Ledger.SegmentAnswers(ctx, w.g.No) {
		if err != nil {
			return err
		}
		outcome = &a.Outcome
		break
	}
	if outcome == nil {
		return nil
	}
	to := store.CanaryPassed
	switch {
	case outcome.Ending == assay.Rejected:
		to = store.CanaryFailed
		why := "the canary was rejected"
		if outcome.Fault != nil {
			why += ": " + outcome.Fault.Error()
		}
		if err := w.Ledger.SetLane(ctx, w.run.No, w.g.Stage, w.g.Lane, store.LaneStop{State: store.LaneStopped, Reason: why}); err != nil {
			return err
		}
	case outcome.Ending == assay.Empty || outcome.Ending == assay.Cut:
		to = store.CanaryFailed
		if err := w.Ledger.SetLane(ctx, w.run.No, w.g.Stage, w.g.Lane, store.LaneStop{State: store.LaneStopped, Reason: shortCanary(outcome.Ending)}); err != nil {
			return err
		}
	case w.policy.VerifyFirst:
		to = store.CanaryShown
	}
	_, err := w.Ledger.SetCanary(ctx, w.run.No, w.g.Stage, w.g.Lane, store.CanaryAsked, to)
	return err
}
