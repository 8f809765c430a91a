// Package live sends segments request by request: as fast as accounts allow, with a log from which the next process goes on.
package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
)

// work is a live segment under our lease.
type work struct {
	*hold.Work
	queues *Queues
}

// Step does the one thing that the state of a segment asks for which does not travel as a batch.
func (s *Queues) Step(ctx context.Context, held *hold.Work) error {
	w := &work{held, s}
	switch {
	case w.Seg.Mode == store.Reuse && !w.Seg.State.Terminal():
		return w.abandon(ctx)
	case w.Seg.State == store.Staged:
		return w.goLive(ctx)
	case w.Seg.State == store.Launched:
		return w.askAll(ctx)
	}
	return w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, string(w.Seg.Reason))
}

// abandon gives up a segment whose outcomes were in the memory of a process that died. Its requests go on by queue.
func (w *work) abandon(ctx context.Context) error {
	end := store.EndOpen{Ending: assay.Cancelled, Message: "its process died before it was written",
		Again: &store.Again{Mode: store.Batch, After: w.Clock.Now(), Cause: "not sent", Cap: hold.NoCap}}
	if err := w.Ledger.Work.EndOpen(ctx, w.Lease, end); err != nil {
		return err
	}
	if w.Seg.State == store.Staged {
		return w.Ledger.Work.Drop(ctx, w.Lease, end.Message)
	}
	return w.Ledger.Work.Finish(ctx, w.Lease, time.Time{})
}

// goLive reserves the money of a live segment.
func (w *work) goLive(ctx context.Context) error {
	if ok, err := w.MayGo(ctx); !ok || err != nil {
		return err
	}
	if w.Access.Live == nil {
		return w.StopLane(ctx, hold.LaneHeld("provider "+w.Seg.Provider+" cannot be asked live"))
	}
	err := w.Ledger.Work.GoLive(ctx, w.Lease, w.Access.Fingerprint, w.Seg.Expected, w.Clock.Now())
	if err != nil {
		return w.Unintended(ctx, err)
	}
	return nil
}

// askAll asks what has no answer yet, and settles the segment when all have one.
func (w *work) askAll(ctx context.Context) error {
	if err := w.takeOver(ctx); err != nil {
		return err
	}
	if w.Seg.CancelCause != "" {
		return errors.Join(w.StopAsking(ctx, "cancelled"), w.lookBack(ctx))
	}
	if w.overdue() {
		return errors.Join(w.StopAsking(ctx, "the deadline came before it"), w.lookBack(ctx))
	}
	if ok, err := w.MayGo(ctx); !ok || err != nil {
		return err
	}
	run, err := w.Ledger.Reader.Run(ctx, w.Run.No) // with what was just found to be in flight
	if err != nil {
		return err
	}
	if spent, err := w.overspent(ctx, run); spent || err != nil {
		return errors.Join(err, w.Unintended(ctx, store.ErrBudget))
	}
	log, err := w.openLog(ctx)
	if errors.Is(err, fs.ErrExist) { // of a holder that a ledger which was put back does not know: the next lease has another name
		return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now(), "")
	}
	if err != nil {
		return err
	}
	a := w.newSender(log)
	durable := context.WithoutCancel(ctx)
	if err := errors.Join(a.run(ctx), a.queue.keepShares(durable)); err != nil {
		return errors.Join(err, log.Close(), a.disown(durable, err))
	}
	if err := w.finishLog(durable, log); err != nil {
		return err
	}
	return w.asked(durable, a, ctx.Err())
}

// asked decides what comes after asking: all is answered, or it was stopped.
func (w *work) asked(ctx context.Context, a *sender, interrupted error) error {
	g, err := w.Ledger.Reader.Segment(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	switch {
	case a.halt != nil:
		return w.halted(ctx, a.halt)
	case a.broke != nil && g.Open() > 0:
		return w.Unintended(ctx, a.broke)
	case interrupted != nil:
		return interrupted
	case g.Open() > 0: // something came in between: the next step sees what
		return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now(), "")
	}
	if err := w.lookBack(ctx); err != nil {
		return err
	}
	if err := hold.Finish(ctx, w.Work, time.Time{}); err != nil {
		return err
	}
	return hold.JudgeCanary(ctx, w.Ledger, w.Seg, w.Policy, w.Route)
}

// overdue reports whether the study's deadline has come, after which nothing more is asked. Where the rest of a batch would
// go live, what is live already goes on.
func (w *work) overdue() bool {
	return w.Policy.Deadline > 0 && w.Policy.Then != engine.ThenLive && !w.Clock.Now().Before(w.Seg.Launched.Add(w.Policy.Deadline))
}

// overspent reports whether the budget was lowered to what has been paid, or below: nothing of what it had been promised goes then. A hard
// one is so as soon as it does not cover what may have been paid and what is promised.
func (w *work) overspent(ctx context.Context, run store.Run) (bool, error) {
	if w.Seg.Expected == 0 || !run.Overdrawn() {
		return false, nil
	}
	if w.Policy.ReserveHigh {
		return true, nil
	}
	all, err := w.Ledger.Reader.Spending(ctx, run.No)
	paid := run.Perhaps
	for _, p := range all {
		paid += p.Cost.Sum
	}
	return err == nil && paid >= *run.Budget, err
}

// halted stops the lane because of a fault that every further request would meet.
func (w *work) halted(ctx context.Context, f *assay.Fault) error {
	if w.Seg.Purpose == store.ForCanary {
		if _, err := w.Ledger.Work.SetCanary(ctx, w.Run.No, w.Seg.Stage, w.Seg.Lane, store.CanaryAsked, store.CanaryFailed); err != nil {
			return err
		}
	}
	if f.Code == fileLost {
		return w.StopLane(ctx, hold.LaneHeld(f.Message))
	}
	return w.StopLane(ctx, hold.StoppedBy(f))
}

// pauseNote is for what a segment waits, as the ledger has it.
type pauseNote struct {
	until  time.Time // its provider asked to wait until then
	reason string
	kind   string // class, status and code of the refusal
}

// notePause keeps in the ledger for what the requests of the segment wait, where that has changed.
func (a *sender) notePause(ctx context.Context, noted *pauseNote) error {
	var now pauseNote
	if wait, why := a.queue.pause(a.model); why != nil {
		f := why.fault
		now.reason, now.kind = f.Error(), fmt.Sprint(f.Class, f.Status, f.Code)
		if why.asked && wait > a.Timing.Look {
			now.until = a.Clock.Now().Add(wait)
		}
	}
	if now.kind == noted.kind && now.until.Sub(noted.until).Abs() < pauseMoved {
		return nil
	}
	err := a.Insist(ctx, func() error { return a.Ledger.Work.Waits(ctx, a.Lease, now.until, now.reason) })
	if ctx.Err() != nil {
		return nil
	}
	*noted = now
	return err
}

// pauseMoved is by how much the end of a pause has moved when it is written again.
const pauseMoved = 2 * time.Second
