// Package runs drives runs: Advance moves one segment by a durable step, Extend obeys orders and makes what goes out next, and a
// run that has nothing left to do is compared with its providers and closed.
package runs

import (
	"context"
	"fmt"
	"sync"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/batch"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/live"
	"assay/internal/send/engine/reconcile"
)

// Engine drives runs. It is safe for concurrent use.
type Engine struct {
	engine.Config
	waits  *engine.Waits
	leases *hold.Leases
	queues *live.Queues
	jobs   *batch.Jobs

	auditor *reconcile.Auditor

	compared sync.Map // runs whose artifacts were compared with the ledger
	awaited  sync.Map // what reconciliations were reported to wait for
	compares sync.Map // since when runs wait for that, by this process
}

// New returns an engine that works with what a configuration names.
func New(c engine.Config) *Engine {
	e := &Engine{Config: c}
	if e.Own == nil {
		e.Own = e.Clock.Now
	}
	e.waits = engine.NewWaits(&e.Config)
	e.queues = live.NewQueues(&e.Config)
	e.leases = hold.NewLeases(&e.Config, e.waits, e.queues.KeepShares)
	e.auditor = &reconcile.Auditor{Config: &e.Config, Leases: e.leases}
	e.jobs = batch.NewJobs(&e.Config, e.leases, e.auditor)
	return e
}

// maxSteps bounds one Advance: a segment that moves more often than this is going in circles.
const maxSteps = 40

// Advance moves a segment as far as it can go now. *store.HeldError: another process is at it. ErrNoKey, ErrOtherKey: not from here.
func (e *Engine) Advance(ctx context.Context, segment int64) error {
	return e.advance(ctx, segment, func(store.Segment) bool { return true })
}

// advance moves a segment while it may be moved.
func (e *Engine) advance(ctx context.Context, segment int64, may func(store.Segment) bool) error {
	err := e.leases.Segment(ctx, segment, func(ctx context.Context, h *hold.LeaseHolder) (err error) {
		var w *hold.Work
		for range maxSteps {
			if w, err = e.leases.Look(ctx, h, w); err != nil {
				return err
			}
			if w.Seg.State != store.Launched {
				e.jobs.Forget(w.Seg)
			}
			if w.Asleep() || !may(w.Seg) {
				return nil
			}
			asks := w.Seg.Mode == store.Live && w.Seg.State == store.Launched
			if err := e.step(ctx, w); err != nil {
				return fmt.Errorf("%s: %w", w.Seg.State, err)
			}
			if asks { // once under each lease, which has one log
				return nil
			}
		}
		return e.Ledger.Work.Wake(ctx, h.Lease, e.Clock.Now().Add(e.Timing.PollMax), "it moved too often at once")
	})
	if err != nil {
		return fmt.Errorf("advance segment %d: %w", segment, err)
	}
	return nil
}

func (e *Engine) step(ctx context.Context, w *hold.Work) error {
	if w.Seg.Mode == store.Batch {
		return e.jobs.Step(ctx, w)
	}
	return e.queues.Step(ctx, w)
}

// InFlight returns how many live requests of this engine are in flight.
func (e *Engine) InFlight() int { return e.queues.InFlight() }

// Moving returns how many segments of a run move by themselves.
func (e *Engine) Moving(ctx context.Context, run int64) (int, error) {
	open, err := e.Ledger.Work.OpenSegments(ctx, run)
	return open.Moving, err
}
