package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/internal/keep/store"
)

// tenure is a piece of work under a lease, which is renewed while the work goes on, and how long the lease is surely ours. A
// process that was asleep, or cut off from the ledger, may not send: another may have taken over.
type tenure struct {
	*Engine
	l store.Lease

	one   sync.Mutex // held by a sender that renews the lease for all
	mu    sync.Mutex
	since time.Time // when it was last known to be ours
}

// under takes a lease, does something, and gives it back. What goes wrong because the lease was lost, unnoticed, says so: then
// it is another's work now.
func (e *Engine) under(ctx context.Context, take func() (store.Lease, error), do func(ctx context.Context, t *tenure) error) (err error) {
	t := &tenure{Engine: e, since: e.Clock.Now()}
	if t.l, err = take(); err != nil {
		return err
	}
	kept, stop := t.keep(ctx)
	err = do(kept, t)
	err = errors.Join(err, stop())
	ctx = context.WithoutCancel(ctx)
	if err != nil && !errors.Is(err, store.ErrLeaseLost) {
		if lost := t.renew(ctx); errors.Is(lost, store.ErrLeaseLost) {
			err = errors.Join(err, lost)
		}
	}
	return errors.Join(err, e.Ledger.Release(ctx, t.l))
}

// keep renews the lease now and then until it is stopped, and ends the context when the lease is lost: taken by another, or not
// renewed until its end because the ledger cannot be reached.
func (t *tenure) keep(ctx context.Context) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	quit := make(chan struct{})
	go func() {
		tick := time.NewTicker(t.Timing.Lease / 3) // leases are about processes: it is the machine's time that counts
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
			err := t.renew(ctx)
			if err != nil && ctx.Err() == nil && t.elapsed() >= t.Timing.Lease {
				err = fmt.Errorf("%w (%w)", store.ErrLeaseLost, err)
			}
			if errors.Is(err, store.ErrLeaseLost) {
				cancel(err)
				done <- err
				return
			}
			_ = t.keepShares(ctx) // a share that is not renewed ends by itself
		}
	}()
	return ctx, func() error { close(quit); err := <-done; cancel(nil); return err }
}

func (t *tenure) renew(ctx context.Context) error {
	began := t.Clock.Now()
	if _, err := t.Ledger.Renew(ctx, t.l, t.Timing.Lease); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = began
	return nil
}

// sure returns when the lease is ours for long enough to send something: it may have to be renewed first, by a process that
// was asleep. An error says that it may be another's.
func (t *tenure) sure(ctx context.Context) error {
	if t.elapsed() <= t.Timing.Lease/2 { // before the lock: what is noted and has not left yet would wait for a renewal
		return nil
	}
	t.one.Lock()
	defer t.one.Unlock()
	if t.elapsed() <= t.Timing.Lease/2 {
		return nil
	}
	return t.insist(ctx, func() error { return t.renew(ctx) })
}

func (t *tenure) elapsed() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return elapsed(t.since, t.Clock.Now())
}

// insist repeats a call to the ledger while that cannot be reached, for as long as a lease lasts: replies that are paid for
// are kept meanwhile.
func (e *Engine) insist(ctx context.Context, call func() error) error {
	began := e.Clock.Now()
	for wait := firstAgain; ; wait = min(2*wait, lastAgain) {
		err := call()
		if err == nil || final(err) || elapsed(began, e.Clock.Now()) > e.Timing.Lease {
			return err
		}
		if e.Clock.Sleep(ctx, min(wait, e.Timing.Lease/4)) != nil {
			return err
		}
	}
}

// firstAgain is how long to wait before the ledger is called again, and lastAgain the longest such wait.
const firstAgain, lastAgain = 50 * time.Millisecond, 5 * time.Second

// final reports whether the ledger has said no: another call would hear the same.
func final(err error) bool {
	for _, no := range []error{store.ErrLeaseLost, store.ErrBudget, store.ErrNotFound, store.ErrAnswered, context.Canceled} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
