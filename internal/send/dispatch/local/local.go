// Package local drives runs in one process: it hands what is due to the engine, and sleeps until the next thing is.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/live"
	"assay/internal/send/engine/runs"
)

// Driver drives runs with one engine.
type Driver struct {
	Engine  *runs.Engine
	Workers int                             // pieces of work at a time, live segments aside; 0: 8
	Moved   func(ctx context.Context) error // called when something was done, and now and then; nil: not called
	Held    func(*store.HeldError)          // called when another process holds what is due; nil: not called
	Gone    func(holder string) bool        // reports whether a holder of leases is known to have ended; nil: none is
	Away    func(error)                     // called when the ledger cannot be reached and is waited for; nil: not called
	Until   func(st engine.RunStatus) bool  // ends the drive when nothing more can be done at once; nil: never
}

const (
	// growing is how long to wait while a run is extended: what it has staged so far can go. It doubles while nothing comes of it.
	growing = 100 * time.Millisecond
	// shortest is the part of the shortest poll that a sleep takes at least: what comes due meanwhile is done in one round.
	shortest = 15
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
	st     engine.RunStatus
	looked bool      // at the run, since anything moved
	asked  bool      // whether anything moves, since a segment did
	signed time.Time // time of the last sign of life
	held   time.Duration
	still  int           // looks in a row that found nothing to begin
	last   bool          // it is looked at for the last time
	paused []string      // lanes that were paused when it began: it does not wait for them
	begun  bool          // those are known
	alien  map[int64]int // how often in a row segments were found to need another key
	away   time.Time     // since when the ledger cannot be reached; zero: it can
	fails  int           // in a row
}

// result is a piece of work that was done.
type result struct {
	work store.Work
	st   *engine.RunStatus // nil: it was not the run
	err  error
}

// Drive works on a run until it is closed, or until nothing moves by itself any more: what is left waits for a person, for
// money, or for a key. A context that ends stops the work; nothing is lost by it.
func (d *Driver) Drive(ctx context.Context, run int64) (engine.RunStatus, error) {
	ctx, stop := context.WithCancel(ctx)
	v := &drive{Driver: d, run: run, done: make(chan result), at: map[store.Work]bool{}, alien: map[int64]int{},
		places: map[bool]int{true: liveWorkers, false: cmp.Or(d.Workers, 8)}}
	err := v.loop(ctx)
	stop()
	// it would be forgotten by itself
	defer func() { _ = d.Engine.Ledger.Leases.Leaves(context.WithoutCancel(ctx), run, d.Engine.Holder) }()
	for len(v.at) > 0 { // what goes on comes back
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
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		over, err := v.turn(ctx)
		if err == nil {
			v.away, v.fails = time.Time{}, 0
		} else if err = v.sitOut(ctx, err); err != nil {
			return err
		}
		if over {
			return nil
		}
	}
}

// sitOut waits a moment where the ledger cannot be reached: what was done is in it, or is done again. Any other error stays one.
func (v *drive) sitOut(ctx context.Context, err error) error {
	now := time.Now()
	if !v.Engine.Ledger.Leases.Away(err) || !v.away.IsZero() && now.Sub(v.away) > engine.MostAway {
		return err
	}
	if v.away.IsZero() {
		v.away = now
		if v.Away != nil {
			v.Away(err)
		}
	}
	v.fails++
	return v.Engine.Clock.Sleep(ctx, min(100*time.Millisecond<<min(v.fails, 10), v.Engine.Timing.Idle))
}

// turn does what is due, and then waits for what comes next. It reports whether the drive is over.
func (v *drive) turn(ctx context.Context) (over bool, err error) {
	if _, err := v.Engine.Ledger.Leases.KeepTime(ctx); err != nil {
		return false, err
	}
	if err := v.sign(ctx); err != nil {
		return false, err
	}
	if err := v.begins(ctx); err != nil {
		return false, err
	}
	worked, err := v.round(ctx)
	if err != nil {
		return false, err
	}
	if v.Moved != nil {
		if err := v.Moved(ctx); err != nil {
			return false, err
		}
	}
	if v.st.Closed {
		return true, nil
	}
	if worked || len(v.at) > 0 {
		v.held = 0
		return false, nil
	}
	if v.Until != nil && v.Until(v.st) {
		return true, nil
	}
	// A closed run waits for nothing: what may still come late is looked for by the drive that comes after it is due.
	if r, err := v.Engine.Ledger.Reader.Run(ctx, v.run); err != nil || r.State == store.RunClosed {
		v.st.Closed, v.st.Result = err == nil, r.Result
		return err == nil, err
	}
	next, err := v.Engine.Ledger.Reader.NextDue(ctx, v.run)
	if err != nil {
		return false, err
	}
	idle, err := v.idle(ctx, next)
	if err != nil {
		return false, err
	}
	if idle && (v.looked || v.last) || v.rests(next) {
		if v.justPaused() {
			return false, v.Engine.Clock.Sleep(ctx, v.Engine.Timing.Busy)
		}
		return true, nil
	}
	if over, err := v.needsOtherKeys(ctx); over || err != nil {
		return over, err
	}
	if idle { // only a look finds out what the run waits for
		v.last = true
		return false, v.Engine.Ledger.Leases.RunDue(ctx, v.run, v.Engine.Clock.Now())
	}
	wait := next.Sub(v.Engine.Clock.Now())
	if wait > v.Engine.Timing.Busy && v.st.Waiting && !v.asked {
		// A wave waits for more only while something moves, and what moved at the last look may have come to rest.
		moving, err := v.Engine.Moving(ctx, v.run)
		if v.asked = true; moving == 0 && err == nil {
			err = v.Engine.Ledger.Leases.RunDue(ctx, v.run, v.Engine.Clock.Now())
		}
		return false, err
	}
	if wait <= 0 { // another process is at it, or it came due just now
		v.held = min(max(2*v.held, time.Millisecond), v.Engine.Timing.Busy)
		wait = v.held
	}
	wait = max(wait, v.Engine.Timing.PollMin/shortest)
	return false, v.Engine.Clock.Sleep(ctx, min(wait, v.Engine.Timing.Idle))
}

// rests reports whether all that is left waits for a person or for money, and what comes next is a look for results that may come late.
func (v *drive) rests(next time.Time) bool {
	return v.looked && v.st.Moving == 0 && !v.st.Waiting && next.Sub(v.Engine.Clock.Now()) > v.Engine.Timing.Busy
}

// sign writes a sign of life, takes over from processes that have ended, and passes on the other drivers.
func (v *drive) sign(ctx context.Context) error {
	now := v.Engine.Clock.Now()
	every := min(v.Engine.Timing.Idle, v.Engine.Timing.Lease/4)
	if now.Sub(v.signed).Abs() < every {
		return nil
	}
	v.signed = now
	if err := v.Engine.Ledger.Leases.Drives(ctx, v.run, v.Engine.Holder, 4*every); err != nil {
		return err
	}
	all, err := v.Engine.Ledger.Leases.Drivers(ctx, v.run)
	for _, d := range all {
		switch {
		case d.Holder == v.Engine.Holder:
		case v.Gone != nil && v.Gone(d.Holder):
			if err := v.Engine.Ledger.Leases.ReleaseDead(ctx, d.Holder); err != nil {
				return err
			}
		case v.Held != nil:
			v.Held(&store.HeldError{Holder: d.Holder, Until: d.Until})
		}
	}
	return err
}

// round begins everything that is due and waits until something is done. It reports whether there was anything to do.
func (v *drive) round(ctx context.Context) (bool, error) {
	due, err := v.Engine.Ledger.Leases.Due(ctx, v.run, 256)
	if err != nil {
		return false, err
	}
	v.still++
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
		case errors.Is(r.err, engine.ErrOtherKey):
			v.alien[r.work.Segment]++
			done++
		case r.err == nil:
			delete(v.alien, r.work.Segment)
			done++
			looked = looked || r.st != nil
			v.asked = v.asked && r.st != nil
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
		v.looked = looked && done == 1 // a look beside other work may have come before it
	}
	switch {
	case len(failed) > 0:
		return false, errors.Join(failed...)
	case len(keyless) > 0 && done == 0 && others == 0 && len(v.at) == 0:
		return false, errors.Join(keyless...)
	case done == 0 && len(keyless)+others > 0 && len(v.at) == 0:
		return true, v.Engine.Clock.Sleep(ctx, v.Engine.Timing.Busy)
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
	v.still = 0
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
	quick, most := 0, v.Engine.Timing.Busy
	for w := range v.at {
		if w.Mode != store.Live {
			quick++
		}
		if w.Segment == 0 {
			most = min(most, growing<<min(v.still, 10))
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

// patience returns how long to wait for work that goes on before looking for more.
func (v *drive) patience(ctx context.Context, most time.Duration) time.Duration {
	wait, now := most, v.Engine.Clock.Now()
	if next, err := v.Engine.Ledger.Leases.NextDueAfter(ctx, v.run, now); err == nil && !next.IsZero() {
		wait = min(wait, next.Sub(now))
	}
	return wait
}

func (d *Driver) work(ctx context.Context, w store.Work) (*engine.RunStatus, error) {
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

// elsewhere reports whether an error means that another process is at the work, and nothing else.
func elsewhere(err error) bool {
	var held *store.HeldError
	var lost *live.LostAnswersError
	return (errors.As(err, &held) || errors.Is(err, store.ErrLeaseLost)) && !errors.As(err, &lost)
}
