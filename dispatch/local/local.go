// Package local drives runs in one process: it hands what is due to the engine, and sleeps until the next thing is.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/engine"
	"assay/store"
)

// Driver drives runs with one engine.
type Driver struct {
	Engine  *engine.Engine
	Workers int                             // pieces of work at a time; 0: 8
	Moved   func(ctx context.Context) error // called after every round of work; nil: nobody looks
	Held    func(*store.HeldError)          // told when somebody else holds what is due; nil: nobody asks
	Until   func(st engine.Standing) bool   // ends the drive when nothing more can be done at once; nil: never
}

// busy is how long to wait when all that is due is held by somebody else.
const busy = time.Second

// longest is the longest sleep: a clock that is set back meanwhile is noticed soon.
const longest = 5 * time.Minute

// Drive works on a run until it is closed, or until nothing moves by itself any more: what is left waits for a person, for
// money, or for a key. A context that ends stops the work; nothing is lost by it.
func (d *Driver) Drive(ctx context.Context, run int64) (engine.Standing, error) {
	var st engine.Standing
	var held time.Duration
	looked, last := false, false // at the run, since anything moved; for the last time
	for {
		if err := ctx.Err(); err != nil {
			return st, err
		}
		if _, err := d.Engine.Ledger.KeepTime(ctx); err != nil {
			return st, fmt.Errorf("drive run %d: %w", run, err)
		}
		now, worked, err := d.round(ctx, run)
		if err != nil {
			return st, err
		}
		if now != nil {
			st = *now
		}
		if worked {
			looked = now != nil
		}
		if d.Moved != nil {
			if err := d.Moved(ctx); err != nil {
				return st, err
			}
		}
		if st.Closed {
			return st, nil
		}
		if worked {
			held = 0
			continue
		}
		if d.Until != nil && d.Until(st) {
			return st, nil
		}
		next, err := d.Engine.Ledger.NextDue(ctx, run)
		if err != nil {
			return st, fmt.Errorf("drive run %d: %w", run, err)
		}
		if next.IsZero() && (looked || last) {
			return st, nil
		}
		if next.IsZero() { // the last look was somebody else's, and only a look tells what the run waits for
			last = true
			if err := d.Engine.Ledger.RunDue(ctx, run, d.Engine.Clock.Now()); err != nil {
				return st, fmt.Errorf("drive run %d: %w", run, err)
			}
			continue
		}
		wait := next.Sub(d.Engine.Clock.Now())
		if wait <= 0 { // somebody else is at it, or it came due just now
			held = min(max(2*held, time.Millisecond), busy)
			wait = held
		}
		if err := d.Engine.Clock.Sleep(ctx, min(wait, longest)); err != nil {
			return st, err
		}
	}
}

// round does everything that is due now. It tells how the run stands, if it looked, and whether there was anything to do.
func (d *Driver) round(ctx context.Context, run int64) (st *engine.Standing, worked bool, err error) {
	due, err := d.Engine.Ledger.Due(ctx, run, 256)
	if err != nil {
		return nil, false, fmt.Errorf("drive run %d: %w", run, err)
	}
	places := make(chan struct{}, cmp.Or(d.Workers, 8))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed, keyless []error
	done := 0
	for _, w := range due {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			standing, err := d.work(ctx, w)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				done++
			case errors.Is(err, engine.ErrNoKey):
				keyless = append(keyless, err)
			case elsewhere(err):
				d.tell(err)
			default:
				failed = append(failed, err)
			}
			if standing != nil {
				st = standing
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return st, false, errors.Join(failed...)
	}
	if len(keyless) > 0 && len(keyless) == len(due) {
		return st, false, errors.Join(keyless...)
	}
	if len(due) > 0 && done == 0 {
		return st, true, d.Engine.Clock.Sleep(ctx, busy)
	}
	return st, done > 0, nil
}

func (d *Driver) work(ctx context.Context, w store.Work) (*engine.Standing, error) {
	if w.Segment != 0 {
		return nil, d.Engine.Advance(ctx, w.Segment)
	}
	st, err := d.Engine.Extend(ctx, w.Run)
	if err != nil {
		return nil, err
	}
	return &st, nil
}

// tell hands on who is at the work, where somebody wants to know.
func (d *Driver) tell(err error) {
	var held *store.HeldError
	if d.Held != nil && errors.As(err, &held) {
		d.Held(held)
	}
}

// elsewhere tells whether an error means that somebody else is at the work.
func elsewhere(err error) bool {
	var held *store.HeldError
	return errors.As(err, &held) || errors.Is(err, store.ErrLeaseLost)
}
