package batch

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// prepare uploads. It costs nothing and may be repeated.
func (w *work) prepare(ctx context.Context) error {
	if ok, err := w.MayGo(ctx); !ok || err != nil {
		return err
	}
	if w.Access.Batch == nil {
		return w.StopLane(ctx, hold.LaneHeld("provider "+w.Seg.Provider+" has no batches"))
	}
	if w.Seg.Fence != "" {
		return w.fence(ctx)
	}
	if w.Seg.Handle == "" {
		if whole, err := inputWhole(ctx, w); !whole || err != nil {
			return err
		}
	}
	if there, err := shown(ctx, w); !there || err != nil {
		return err
	}
	input, err := w.input(ctx)
	if err != nil {
		return err
	}
	h, ready, err := w.Access.Batch.Prepare(ctx, input, provider.Handle(w.Seg.Handle))
	if err != nil {
		return w.unprepared(ctx, h, err)
	}
	now := w.Clock.Now()
	switch ready {
	case provider.Ready:
		return w.Ledger.Work.Upload(ctx, w.Lease, string(h), now)
	case provider.Again:
		return w.Ledger.Work.SaveHandle(ctx, w.Lease, string(h), now)
	}
	return w.Ledger.Work.SaveHandle(ctx, w.Lease, string(h), now.Add(w.Poll(now.Sub(w.Seg.Moved))))
}

// shown makes sure that the files which lines name are at the provider. It is false where that takes longer.
func shown(ctx context.Context, w *work) (bool, error) {
	files, err := namedFiles(ctx, w)
	if err != nil {
		return false, err
	}
	p, err := hold.PresentAt(ctx, w.Work, files)
	switch {
	case err != nil && (ctx.Err() != nil || provider.FaultOf(err) == nil):
		return false, err
	case err != nil:
		return false, w.stumble(ctx, err)
	case p.Left > 0:
		return false, w.Ledger.Work.Wake(ctx, w.Lease, p.Due, fmt.Sprintf("uploads what its requests show: %s to come",
			assay.Count(p.Left, "file")))
	}
	w.ids = p.IDs
	return true, nil
}

// unprepared decides about an upload that failed. Nothing was paid.
func (w *work) unprepared(ctx context.Context, h provider.Handle, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if h != "" && string(h) != w.Seg.Handle {
		if err := w.Ledger.Work.SaveHandle(ctx, w.Lease, string(h), w.Clock.Now()); err != nil {
			return err
		}
	}
	// A provider that looks at the lines as they are uploaded refuses them all for one.
	if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultInvalid && f.Status/100 == 4 && w.Access.Batch.Limits().AllOrNothing {
		return w.bisect(ctx, f)
	}
	return w.stumble(ctx, err)
}

// maxBusy is how often in a row a provider may report that it is busy before a person has to look.
const maxBusy = 8

// tooBusy reports whether a provider has answered often enough that it is busy. One that cannot be reached does not count: a
// machine that sleeps or has lost its network waits for it.
func (w *work) tooBusy(f *assay.Fault) bool {
	return f.Class == assay.FaultBusy && f.Status != 0 && w.Seg.Failures >= maxBusy
}

// stumble decides by class about a call that costs nothing and failed: later, or the lane stops.
func (w *work) stumble(ctx context.Context, err error) error {
	f := provider.FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: err.Error()}
	}
	switch f.Class {
	case assay.FaultQuota, assay.FaultDenied:
		return w.StopLane(ctx, hold.StoppedBy(f))
	case assay.FaultInvalid, assay.FaultLarge:
		return w.StopLane(ctx, hold.LaneHeld(f.Error()))
	}
	if w.tooBusy(f) {
		return w.StopLane(ctx, hold.LaneHeld(busyFor(f)))
	}
	why := f.Error()
	if errors.Is(err, provider.ErrPartial) {
		why = fmt.Sprintf("not sent: %s says that it has more batch jobs than it lists, so that a job whose reply is lost could not be "+
			"found; use the key of a project with fewer jobs, or mode: live", w.Seg.Provider)
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: w.Clock.Now().Add(w.Backoff(w.Seg.Failures, f.RetryAfter)),
		Asked: f.RetryAfter > 0, Reason: why})
}

// busyFor returns the reason where a provider was busy too often.
func busyFor(f *assay.Fault) string {
	return fmt.Sprintf("the provider was busy %d times in a row; nothing was sent and nothing is lost: %s", maxBusy+1, f.Error())
}
