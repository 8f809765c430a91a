package engine

import (
	"context"
	"fmt"
	"time"

	"assay/internal/assay"
)

// Clock is the time and the waiting for it.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is the real time.
func WallClock() Clock { return wallClock{} }

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Timing is every wait there is. A rehearsal shortens it; the product has no other switch.
type Timing struct {
	Lease        time.Duration   // how long a lease lasts unless it is renewed
	Create       time.Duration   // the longest a create call may take: well inside the lease
	PollMin      time.Duration   // between looks at a young job
	PollMax      time.Duration   // between looks at an old one
	PollEach     time.Duration   // between looks at any two jobs, on average: many jobs are looked at less often
	LagStamped   time.Duration   // at least this between two reads that see no job
	LagUnstamped time.Duration   // the same where jobs carry no stamp
	Unfenced     time.Duration   // how long a create call that cannot be called back may take to show
	Audit        time.Duration   // jobs of create calls that were sent again are looked for once more, this long after the end
	Refetch      []time.Duration // before each further fetch for results that are missing
	Gone         time.Duration   // a job that is not found for this long is held
	BackoffMin   time.Duration
	BackoffMax   time.Duration
	GateMin      time.Duration // a model over its token limit rests this long
	GateMax      time.Duration // … growing up to this
	Room         time.Duration // how long it counts that a model was found to take no more waiting tokens
	Cut          time.Duration // a later wave goes out this long after its first request was ready
	Late         time.Duration // between looks at results that may come late
	Ask          time.Duration // the longest a live request may take
	Call         time.Duration // the longest a small call may take: a look, a list, a delete
	Stall        time.Duration // the longest that a transfer, or a live answer which has begun to come, may pause
	Look         time.Duration // between looks at a live lane's orders and errors
	Linger       time.Duration // the longest that a live answer waits for others to be written with it

	faster int64 // how many times faster than the providers' own figures; 0: as they are
}

// DefaultTiming is the product's.
func DefaultTiming() Timing {
	return Timing{
		Lease: 2 * time.Minute, Create: 75 * time.Second,
		PollMin: 15 * time.Second, PollMax: 5 * time.Minute, PollEach: 250 * time.Millisecond,
		LagStamped: time.Minute, LagUnstamped: 10 * time.Minute, Unfenced: 3 * time.Hour, Audit: time.Hour,
		Refetch: []time.Duration{5 * time.Minute, 20 * time.Minute, 35 * time.Minute},
		Gone:    time.Hour, BackoffMin: 2 * time.Second, BackoffMax: 5 * time.Minute,
		GateMin: 5 * time.Minute, GateMax: time.Hour, Room: 24 * time.Hour, Cut: 30 * time.Minute, Late: 6 * time.Hour, Ask: 15 * time.Minute,
		Call: time.Minute, Stall: 2 * time.Minute, Look: time.Second, Linger: 25 * time.Millisecond,
	}
}

// Scaled is the same timing, so many times faster. The lease is not scaled, nor what bounds a call: they are about processes
// and networks, not about how long providers take.
func (t Timing) Scaled(by int64) Timing {
	s := func(d time.Duration) time.Duration { return max(d/time.Duration(by), time.Millisecond) }
	u := t
	u.PollEach = t.PollEach / time.Duration(by)
	u.PollMin, u.PollMax, u.LagStamped, u.LagUnstamped = s(t.PollMin), s(t.PollMax), s(t.LagStamped), s(t.LagUnstamped)
	u.Unfenced, u.Audit = s(t.Unfenced), s(t.Audit)
	u.Gone, u.BackoffMin, u.BackoffMax, u.GateMin, u.GateMax, u.Room = s(t.Gone), s(t.BackoffMin), s(t.BackoffMax), s(t.GateMin), s(t.GateMax), s(t.Room)
	u.Cut, u.Late, u.faster = s(t.Cut), s(t.Late), max(t.faster, 1)*by
	u.Look = max(s(t.Look), 50*time.Millisecond)
	u.Refetch = nil
	for _, d := range t.Refetch {
		u.Refetch = append(u.Refetch, s(d))
	}
	return u
}

// lag is how far two reads that see no job have to be apart.
func (t Timing) lag(provider time.Duration, stamped bool) time.Duration {
	lag := max(t.LagStamped, t.scaled(provider))
	if !stamped {
		lag = max(lag, t.LagUnstamped)
	}
	return lag
}

// scaled is a provider's own figure in a timing that is faster than life.
func (t Timing) scaled(provider time.Duration) time.Duration {
	return provider / time.Duration(max(t.faster, 1))
}

// Check says what is wrong with a timing.
func (t Timing) Check() error {
	if t.Create >= t.Lease {
		return fmt.Errorf("a create call may take %s, which is not inside the lease of %s", t.Create, t.Lease)
	}
	return nil
}

// jitter is a random part of a duration.
func (e *Engine) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Duration(e.Random.Int64N(int64(d)))
}

// nonce is a new segment's.
func (e *Engine) nonce() assay.Nonce {
	e.mu.Lock()
	defer e.mu.Unlock()
	var random [7]byte
	for i := range random {
		random[i] = byte(e.Random.UintN(256))
	}
	return assay.NonceFrom(random)
}

// backoff is how long to wait after the n-th failure in a row: full jitter under a doubling roof, and not less than the
// provider asked for.
func (e *Engine) backoff(n int64, asked time.Duration) time.Duration {
	roof := e.Timing.BackoffMin << min(n, 20)
	if roof <= 0 || roof > e.Timing.BackoffMax {
		roof = e.Timing.BackoffMax
	}
	return max(e.Timing.BackoffMin/2+e.jitter(roof), asked)
}

// pollJob is how long to wait before the next look at the segment's job, given how many jobs are looked at from here.
func (w *work) pollJob(age time.Duration) time.Duration {
	now := w.Clock.Now()
	w.mu.Lock()
	if w.open == nil {
		w.open = map[int64]time.Time{}
	}
	w.open[w.g.No] = now
	w.prune(now)
	every := time.Duration(len(w.open)) * w.Timing.PollEach
	w.mu.Unlock()
	wait := max(w.poll(age), every+w.jitter(every/5))
	w.mu.Lock()
	w.open[w.g.No] = now.Add(wait)
	w.mu.Unlock()
	return wait
}

// prune forgets jobs that another process has looked at when it was time: they are others' to count.
func (e *Engine) prune(now time.Time) {
	if now.Sub(e.pruned) < e.Timing.PollMax {
		return
	}
	e.pruned = now
	for no, next := range e.open {
		if now.Sub(next) > e.Timing.PollMax {
			delete(e.open, no)
		}
	}
}

// unpoll forgets a job that is not looked at any more: it has ended, or waits for a person.
func (e *Engine) unpoll(segment int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, segment)
}

// poll is how long to wait between looks at a job of this age: a tenth of it, within bounds, and a little more.
func (e *Engine) poll(age time.Duration) time.Duration {
	d := min(max(age/10, e.Timing.PollMin), e.Timing.PollMax)
	return d + e.jitter(d/5)
}
