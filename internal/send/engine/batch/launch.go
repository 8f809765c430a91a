package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// launch commits the intent, then makes the one call that costs money.
func (w *work) launch(ctx context.Context) error {
	if ok, err := w.MayGo(ctx); !ok || err != nil {
		return err
	}
	if made, err := w.madeBefore(ctx); made || err != nil {
		return err
	}
	if !fences(w.Access.Batch) { // nothing is uploaded: the create call carries it all
		if whole, err := inputWhole(ctx, w); !whole || err != nil {
			return err
		}
	}
	if there, err := shown(ctx, w); !there || err != nil {
		return err
	}
	input, err := w.input(ctx) // files are read before the clock of the create call runs
	if err != nil {
		return err
	}
	in := store.Intent{Account: w.Access.Fingerprint, Reserve: w.Seg.Expected}
	if finder, ok := w.Access.Batch.(provider.Finder); ok {
		cursor, err := finder.Cursor(ctx)
		if err != nil {
			return w.stumble(ctx, err)
		}
		in.Cursor, in.Stamped = cursor, finder.Stamped()
	}
	began := w.Own()
	if _, err := w.Ledger.Leases.Renew(ctx, w.Lease, w.Timing.Lease); err != nil {
		return err
	}
	in.Due = w.Clock.Now().Add(w.Timing.Create)
	if err := w.Ledger.Work.Intend(ctx, w.Lease, in); err != nil {
		return unintended(ctx, w, err)
	}
	// Asleep between the intent and here? Then the lease may be another's, who looks for a job that is yet to come.
	if engine.Elapsed(began, w.Own()) > w.Timing.Lease-w.Timing.Create {
		return w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Uploaded, Reason: "the create call came too late and was not sent",
			Due: w.Clock.Now()})
	}
	call, cancel := w.inTime(ctx, began)
	defer cancel()
	r := w.Access.Batch.Launch(call, input, provider.Handle(w.Seg.Handle))
	return w.received(context.WithoutCancel(ctx), r)
}

// inTime returns the context of a create call, which ends when the call may take no longer: timers stop while a machine
// sleeps, and the next holder of the lease has to be sure that nothing is in flight any more.
func (w *work) inTime(ctx context.Context, began time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, w.Timing.Create)
	tick := time.NewTicker(time.Second)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if engine.Elapsed(began, w.Own()) > w.Timing.Create {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// received decides about the receipt of the create call.
func (w *work) received(ctx context.Context, r provider.Receipt) error {
	now := w.Clock.Now()
	switch r.Status {
	case provider.Accepted:
		return w.launched(ctx, r.Job, r.Warning)
	case provider.Refused:
		return w.refused(ctx, r.Err)
	}
	why := "the fate of the create call is unknown"
	if r.Err != nil {
		why += ": " + r.Err.Error()
	}
	return errors.Join(w.Ledger.Work.Wake(ctx, w.Lease, now.Add(w.Poll(0)), why),
		w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "unknown", why))
}

func (w *work) launched(ctx context.Context, job, note string) error {
	now := w.Clock.Now()
	return w.Ledger.Work.Launched(ctx, w.Lease, store.Launch{Job: job, At: now, Due: now.Add(w.pollNext(0)), Note: note})
}

// refused decides by class about a create call that surely made no job.
func (w *work) refused(ctx context.Context, err error) error {
	f := provider.FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: fmt.Sprint(err)}
	}
	back := store.Back{To: store.Uploaded, Reason: f.Error(), Due: w.Clock.Now().Add(w.Backoff(w.Seg.Failures, f.RetryAfter)),
		Asked: f.RetryAfter > 0}
	switch f.Class {
	case assay.FaultGone:
		back.To = store.Staged
		if w.Seg.Intends > maxBusy {
			return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, back),
				w.StopLane(ctx, hold.LaneHeld("what was uploaded is gone again and again: "+f.Error())))
		}
	case assay.FaultQuota, assay.FaultDenied:
		return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, back), w.StopLane(ctx, hold.StoppedBy(f)))
	case assay.FaultInvalid, assay.FaultLarge:
		back.To = store.Staged
		return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, back), w.StopLane(ctx, hold.LaneHeld(f.Error())))
	}
	if w.tooBusy(f) {
		return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, back), w.StopLane(ctx, hold.LaneHeld(busyFor(f))))
	}
	return w.Ledger.Work.GoBack(ctx, w.Lease, back)
}
