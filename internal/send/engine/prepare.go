package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// source is the segment's bytes, to be read again and again.
func (w *work) source(ctx context.Context) provider.Source {
	return provider.Source{Size: w.g.InputBytes, SHA256: w.g.InputSHA256, Open: func() (io.ReadCloser, error) {
		return w.Files.Open(ctx, w.run.ID, w.g.Input)
	}}
}

// prepare uploads. It costs nothing and may be repeated.
func (w *work) prepare(ctx context.Context) error {
	if ok, err := w.mayGo(ctx); !ok || err != nil {
		return err
	}
	if w.access.Batch == nil {
		return w.stopLane(ctx, held("provider "+w.g.Provider+" has no batches"))
	}
	if w.g.Fence != "" {
		return w.fence(ctx)
	}
	h, ready, err := w.access.Batch.Prepare(ctx, w.parcel(ctx), provider.Handle(w.g.Handle))
	if err != nil {
		return w.unprepared(ctx, h, err)
	}
	now := w.Clock.Now()
	switch ready {
	case provider.Ready:
		return w.Ledger.Upload(ctx, w.l, string(h), now)
	case provider.Again:
		return w.Ledger.SaveHandle(ctx, w.l, string(h), now)
	}
	return w.Ledger.SaveHandle(ctx, w.l, string(h), now.Add(w.poll(now.Sub(w.g.Moved))))
}

// unprepared decides about an upload that failed. Nothing was paid.
func (w *work) unprepared(ctx context.Context, h provider.Handle, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if h != "" && string(h) != w.g.Handle {
		if err := w.Ledger.SaveHandle(ctx, w.l, string(h), w.Clock.Now()); err != nil {
			return err
		}
	}
	// A provider that looks at the lines as they are uploaded refuses them all for one.
	if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultInvalid && f.Status/100 == 4 && w.access.Batch.Limits().AllOrNothing {
		return w.bisect(ctx, f)
	}
	return w.stumble(ctx, err)
}

// maxBusy is how often in a row a provider may say that it is busy before a person has to look.
const maxBusy = 8

// tooBusy reports whether a provider has said often enough that it is busy. One that cannot be reached says nothing: a
// machine that sleeps or has lost its network waits for it.
func (w *work) tooBusy(f *assay.Fault) bool {
	return f.Class == assay.FaultBusy && f.Status != 0 && w.g.Failures >= maxBusy
}

// stumble decides by class about a call that costs nothing and failed: later, or the lane stops.
func (w *work) stumble(ctx context.Context, err error) error {
	f := provider.FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: err.Error()}
	}
	switch f.Class {
	case assay.FaultQuota, assay.FaultDenied:
		return w.stopLane(ctx, stoppedBy(f))
	case assay.FaultInvalid, assay.FaultLarge:
		return w.stopLane(ctx, held(f.Error()))
	}
	if w.tooBusy(f) {
		return w.stopLane(ctx, held(busyFor(f)))
	}
	return w.Ledger.RetryLater(ctx, w.l, w.Clock.Now().Add(w.backoff(w.g.Failures, f.RetryAfter)), f.Error())
}

// busyFor says that a provider was busy too often.
func busyFor(f *assay.Fault) string {
	return fmt.Sprintf("the provider was busy %d times in a row; nothing was sent and nothing is lost: %s", maxBusy+1, f.Error())
}

// stopLane stops or holds the lane in its stage; the segment waits with it.
func (w *work) stopLane(ctx context.Context, to store.LaneStop) error {
	if err := w.Ledger.SetLane(ctx, w.run.No, w.g.Stage, w.g.Lane, to); err != nil {
		return err
	}
	return w.Ledger.Wake(ctx, w.l, time.Time{}, to.Reason)
}

// mayGo reports whether anything may be sent in this lane now. If not, the segment waits: for a gate until it opens, for a
// canary or a person until Extend rouses it.
func (w *work) mayGo(ctx context.Context) (bool, error) {
	lane, err := w.lane(ctx, w.run.No, w.g.Stage, w.g.Lane)
	if err != nil {
		return false, err
	}
	if w.g.CancelCause == store.ByUser || CancelledByUser(lane) {
		return false, w.cancelUnsent(ctx)
	}
	if lane.State != store.LaneOpen {
		return false, w.Ledger.Wake(ctx, w.l, time.Time{}, "the lane is "+string(lane.State)+": "+lane.Reason)
	}
	if w.g.Purpose != store.ForCanary && !canaryLetsGo(lane.Canary) {
		return false, w.Ledger.Wake(ctx, w.l, time.Time{}, "waits for the lane's canary")
	}
	gate, err := w.Ledger.GateOf(ctx, w.access.Fingerprint, w.g.Model)
	if err != nil {
		return false, err
	}
	if gate.Until.After(w.Clock.Now()) {
		return false, w.Ledger.Wake(ctx, w.l, gate.Until.Add(w.jitter(w.Timing.PollMin)), gate.Reason)
	}
	return true, nil
}

// cancelUnsent ends a segment that has not gone because a person cancelled the run.
func (w *work) cancelUnsent(ctx context.Context) error {
	if w.g.State == store.Launched { // a live one: what was asked is kept
		return w.stopAsking(ctx, cancelled)
	}
	return w.Ledger.Drop(ctx, w.l, cancelled)
}

func canaryLetsGo(c store.Canary) bool { return c == store.CanaryOff || c == store.CanaryPassed }

// lane reads a lane of a stage.
func (e *Engine) lane(ctx context.Context, run int64, stage, name string) (store.Lane, error) {
	l, err := e.Ledger.Lane(ctx, run, stage, name)
	if errors.Is(err, store.ErrNotFound) {
		err = errors.New("lane " + name + " is not in the plan of stage " + stage)
	}
	return l, err
}
