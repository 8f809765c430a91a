package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"assay/store"
)

// tenure is how long the lease of a piece of work is surely ours. A worker that was asleep, or cut off from the ledger, may
// not send: another may have taken over.
type tenure struct {
	*work
	mu    sync.Mutex
	since time.Time // when it was last known to be ours
}

// newTenure makes sure that the lease is ours now.
func (w *work) newTenure(ctx context.Context) (*tenure, error) {
	t := &tenure{work: w}
	return t, w.insist(ctx, func() error { return t.renew(ctx) })
}

func (t *tenure) renew(ctx context.Context) error {
	began := t.Clock.Now()
	if _, err := t.Ledger.Renew(ctx, t.l, t.Timing.Lease); err != nil {
		return err
	}
	t.since = began
	return nil
}

// sure returns when the lease is ours for long enough to send something. An error says that it may be another's.
func (t *tenure) sure(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.elapsed() <= t.Timing.Lease/2 {
		return nil
	}
	return t.insist(ctx, func() error { return t.renew(ctx) })
}

func (t *tenure) elapsed() time.Duration { return elapsed(t.since, t.Clock.Now()) }

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
