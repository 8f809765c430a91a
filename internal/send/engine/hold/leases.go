// Package hold works on segments and runs under leases: it takes, renews and gives back leases, and decides what holds for every
// segment, however it travels: whether it may go, what stops its lane, what becomes of a refused intent.
package hold

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// Leases are those that this process takes.
type Leases struct {
	from    *engine.Config
	waits   *engine.Waits
	renewed func(ctx context.Context) error
}

// NewLeases returns the leases of a process. Renewed is called whenever one of them was renewed.
func NewLeases(from *engine.Config, waits *engine.Waits, renewed func(ctx context.Context) error) *Leases {
	return &Leases{from, waits, renewed}
}

// LeaseHolder has a lease, which is renewed while its work goes on, and knows how long it is surely ours. A process that was
// asleep, or cut off from the ledger, may not send: another may have taken over.
type LeaseHolder struct {
	store.Lease
	of *Leases

	one   chan struct{} // holds one while a sender renews the lease for all
	mu    sync.Mutex
	since time.Time // when it was last known to be ours
}

// Segment does something under the lease of a segment, which is kept meanwhile and given back. *store.HeldError: other work goes
// on there, of this process or another.
func (s *Leases) Segment(ctx context.Context, no int64, do func(ctx context.Context, h *LeaseHolder) error) error {
	return s.under(ctx, func() (store.Lease, error) {
		return s.from.Ledger.Leases.HoldSegment(ctx, no, s.from.Holder, s.from.Timing.Lease)
	}, do)
}

// Run does something under the lease of a run, as Segment does.
func (s *Leases) Run(ctx context.Context, no int64, do func(ctx context.Context, h *LeaseHolder) error) error {
	return s.under(ctx, func() (store.Lease, error) {
		return s.from.Ledger.Leases.HoldRun(ctx, no, s.from.Holder, s.from.Timing.Lease)
	}, do)
}

// under takes a lease, does something, and gives it back. An error that came because the lease was lost, unnoticed, wraps
// store.ErrLeaseLost: then it is another's work now.
func (s *Leases) under(ctx context.Context, take func() (store.Lease, error),
	do func(ctx context.Context, h *LeaseHolder) error) (err error) {
	h := &LeaseHolder{of: s, since: s.from.Own(), one: make(chan struct{}, 1)}
	if h.Lease, err = take(); err != nil {
		return err
	}
	kept, stop := h.keep(ctx)
	err = do(kept, h)
	err = errors.Join(err, stop())
	ctx = context.WithoutCancel(ctx)
	if err != nil && !errors.Is(err, store.ErrLeaseLost) {
		if lost := h.renew(ctx); errors.Is(lost, store.ErrLeaseLost) {
			err = errors.Join(err, lost)
		}
	}
	return errors.Join(err, s.from.Ledger.Leases.Release(ctx, h.Lease))
}

// keep renews the lease now and then until it is stopped, and ends the context when the lease is lost: taken by another, or not
// renewed until its end because the ledger cannot be reached.
func (h *LeaseHolder) keep(ctx context.Context) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	quit := make(chan struct{})
	lasts := h.of.from.Timing.Lease
	go func() {
		tick := time.NewTicker(lasts / 3) // leases are about processes: the machine's time counts
		defer tick.Stop()
		for {
			select {
			case <-quit:
				done <- nil
				return
			case <-ctx.Done():
				done <- nil
				return
			case <-tick.C:
			}
			err := h.renew(ctx)
			if err != nil && ctx.Err() == nil && h.elapsed() >= lasts {
				err = fmt.Errorf("%w (%w)", store.ErrLeaseLost, err)
			}
			if errors.Is(err, store.ErrLeaseLost) {
				cancel(err)
				done <- err
				return
			}
			_ = h.of.renewed(ctx) // a share that is not renewed ends by itself
		}
	}()
	return ctx, func() error { close(quit); err := <-done; cancel(nil); return err }
}

func (h *LeaseHolder) renew(ctx context.Context) error {
	began := h.of.from.Own()
	if _, err := h.of.from.Ledger.Leases.Renew(ctx, h.Lease, h.of.from.Timing.Lease); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = began
	return nil
}

// Sure returns when the lease is ours for long enough to send something: it may have to be renewed first, by a process that
// was asleep. With an error, it may be another's.
func (h *LeaseHolder) Sure(ctx context.Context) error {
	enough := h.of.from.Timing.Lease / 2
	if h.elapsed() <= enough { // before the lock: what is noted and has not left yet would wait for a renewal
		return nil
	}
	select {
	case h.one <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.one }()
	if h.elapsed() <= enough {
		return nil
	}
	return h.of.from.Insist(ctx, func() error { return h.renew(ctx) })
}

func (h *LeaseHolder) elapsed() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return engine.Elapsed(h.since, h.of.from.Own())
}
