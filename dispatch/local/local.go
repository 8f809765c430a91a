// Package local drives runs in one process: it hands what is due to the engine, and sleeps until the next thing is.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"assay/engine"
	"assay/store"
)

// Driver drives runs with one engine.
type Driver struct {
	Engine  *engine.Engine
	Workers int                             // pieces of work at a time, live segments aside; 0: 8
	Moved   func(ctx context.Context) error // called when something was done; nil: not called
	Every   time.Duration                   // Moved is called this often, too, while work goes on; 0: not
	Held    func(*store.HeldError)          // called when another process holds what is due; nil: not called
	Until   func(st engine.Standing) bool   // ends the drive when nothing more can be done at once; nil: never
}

const (
	// busy is how long to wait when all that is due is held by other processes.
	busy = time.Second
	// longest is the longest sleep: an order that is given meanwhile, or a clock that is set back, is noticed soon.
	longest = 5 * time.Second
	// growing is how long to wait while a run is extended: what it has staged so far can go.
	growing = 100 * time.Millisecond
	// shortest is the part of the shortest poll that a sleep takes at least: what comes due meanwhile is done in one round.
	shortest = 15
	// signEvery is how often a driver says that it is there.
	signEvery = 5 * time.Second
	// liveWorkers is how many live segments are asked at a time. They mostly wait, and a slow one may take hours: they
	// have places of their own.
	liveWorkers = 256
)

// drive is one Drive.
type drive struct {
	*Driver
	run    int64
	done   chan result
	at     map[store.Work]bool // work that goes on, without its due time
	places map[bool]int        // free ones: live, and not
	st     engine.Standing
	looked bool      // at the run, since anything moved
	signed time.Time // when we last said that we are there
}

// result is a piece of work that was done.
type result struct {
	work store.Work
	st   *engine.Standing // nil: it was not the run
	err  error
}

// Drive works on a run until it is closed, or until nothing moves by itself any more: what is left waits for a person, for
// money, or for a key. A context that ends stops the work; nothing is lost by it.
func (d *Driver) Drive(ctx context.Context, run int64) (engine.Standing, error) {
	ctx, stop := context.WithCancel(ctx)
	v := &drive{Driver: d, run: run, done: make(chan result), at: map[store.Work]bool{},
		places: map[bool]int{true: liveWorkers, false: cmp.Or(d.Workers, 8)}}
	err := v.loop(ctx)
	stop()
	defer func() { _ = d.Engine.Ledger.Leaves(context.WithoutCancel(ctx), run, d.Engine.Holder) }() // it would be forgotten by itself
	for len(v.at) > 0 {                                                                             // what goes on comes home
		r := <-v.done
		v.finish(r)
		if err != nil && !errors.Is(r.err, context.Canceled) && !elsewhere(r.err) {
			err = errors.Join(err, r.err)
		}
	}
	if err != nil {
		return v.st, fmt.Errorf("drive run %d: %w", run, err)
	}
	return v.st, nil
}

func (v *drive) loop(ctx context.Context) error {
	var held time.Duration
	last := false // it is looked at for the last time
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := v.Engine.Ledger.KeepTime(ctx); err != nil {
			return err
		}
		if err := v.sign(ctx); err != nil {
			return err
		}
		worked, err := v.round(ctx)
		if err != nil {
			return err
		}
		if v.Moved != nil {
			if err := v.Moved(ctx); err != nil {
				return err
			}
		}
		if v.st.Closed {
			return nil
		}
		if worked || len(v.at) > 0 {
			held = 0
			continue
		}
		if v.Until != nil && v.Until(v.st) {
			return nil
		}
		next, err := v.Engine.Ledger.NextDue(ctx, v.run)
		if err != nil {
			return err
		}
		if next.IsZero() && (v.looked || last) {
			return nil
		}
		if next.IsZero() { // the last look was another process's, and only a look finds out what the run waits for
			last = true
			if err := v.Engine.Ledger.RunDue(ctx, v.run, v.Engine.Clock.Now()); err != nil {
				return err
			}
			continue
		}
		wait := next.Sub(v.Engine.Clock.Now())
		if wait <= 0 { // another process is at it, or it came due just now
			held = min(max(2*held, time.Millisecond), busy)
			wait = held
		}
		wait = max(wait, v.Engine.Timing.PollMin/shortest)
		if err := v.Engine.Clock.Sleep(ctx, min(wait, longest)); err != nil {
			return err
		}
	}
}

// sign says that we are there, and hands on who else is.
func (v *drive) sign(ctx context.Context) error {
	now := v.Engine.Clock.Now()
	every := min(signEvery, v.Engine.Timing.Lease/4)
	if now.Sub(v.signed).Abs() < every {
		return nil
	}
	v.signed = now
	if err := v.Engine.Ledger.Drives(ctx, v.run, v.Engine.Holder, 4*every); err != nil {
		return err
	}
	all, err := v.Engine.Ledger.Drivers(ctx, v.run)
	for _, d := range all {
		if d.Holder != v.Engine.Holder && v.Held != nil {
			v.Held(&store.HeldError{Holder: d.Holder, Until: d.Until})
		}
	}
	return err
}

// round begins everything that is due and waits until something is done. It reports whether there was anything to do.
func (v *drive) round(ctx context.Context) (bool, error) {
	due, err := v.Engine.Ledger.Due(ctx, v.run, 256)
	if err != nil {
		return false, err
	}
	for _, w := range due {
		v.begin(ctx, w)
	}
	if len(v.at) == 0 {
		return false, nil
	}
	var failed, keyless []error
	done, others, looked := 0, 0, false
	for _, r := range v.wait(ctx) {
		v.finish(r)
		switch {
		case r.err == nil:
			done++
			looked = looked || r.st != nil
		case errors.Is(r.err, engine.ErrNoKey):
			keyless = append(keyless, r.err)
		case elsewhere(r.err):
			others++
			v.report(r.err)
		default:
			failed = append(failed, r.err)
		}
	}
	if done > 0 {
		v.looked = looked
	}
	switch {
	case len(failed) > 0:
		return false, errors.Join(failed...)
	case len(keyless) > 0 && done == 0 && others == 0 && len(v.at) == 0:
		return false, errors.Join(keyless...)
	case done == 0 && len(keyless)+others > 0 && len(v.at) == 0:
		return true, v.Engine.Clock.Sleep(ctx, busy)
	}
	return done > 0, nil
}

// begin begins a piece of work, unless it goes on already or there is no place for it.
func (v *drive) begin(ctx context.Context, w store.Work) {
	w.Due = time.Time{}
	live := w.Mode == store.Live
	if v.at[w] || v.places[live] == 0 {
		return
	}
	v.at[w] = true
	v.places[live]--
	go func() {
		r := result{work: w}
		r.st, r.err = v.work(ctx, w)
		v.done <- r
	}()
}

func (v *drive) finish(r result) {
	delete(v.at, r.work)
	v.places[r.work.Mode == store.Live]++
	if r.st != nil {
		v.st = *r.st
	}
}

// wait waits until a live segment is done, or all other work is, or it is time to look for more. It returns what is done.
func (v *drive) wait(ctx context.Context) []result {
	quick, most := 0, cmp.Or(min(v.Every, busy), busy)
	for w := range v.at {
		if w.Mode != store.Live {
			quick++
		}
		if w.Segment == 0 {
			most = min(most, growing)
		}
	}
	sleep, wake := context.WithCancel(ctx)
	defer wake()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = v.Engine.Clock.Sleep(sleep, v.patience(ctx, most)) // woken or not: it is looked again
	}()
	var all []result
	for {
		select {
		case r := <-v.done:
			all = append(all, r)
			if r.work.Mode != store.Live {
				quick--
			}
			if quick == 0 || r.work.Mode == store.Live {
				return all
			}
		case <-over:
			return all
		}
	}
}

// patience is how long to wait for work that goes on before looking for more.
func (v *drive) patience(ctx context.Context, most time.Duration) time.Duration {
	wait, now := most, v.Engine.Clock.Now()
	if next, err := v.Engine.Ledger.NextDueAfter(ctx, v.run, now); err == nil && !next.IsZero() {
		wait = min(wait, next.Sub(now))
	}
	return wait
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

// report hands on which process is at the work.
func (d *Driver) report(err error) {
	var held *store.HeldError
	if d.Held != nil && errors.As(err, &held) {
		d.Held(held)
	}
}

// elsewhere reports whether an error means that another process is at the work.
func elsewhere(err error) bool {
	var held *store.HeldError
	return errors.As(err, &held) || errors.Is(err, store.ErrLeaseLost)
}
