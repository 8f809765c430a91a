package engine

import (
	"context"
	"fmt"
	"time"
)

// Clock is the time and the waiting for it.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock returns the real time.
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
	PollFirst    time.Duration   // before the first look at a job; 0: as PollMin
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
	Busy         time.Duration // between looks of a driver at what others hold, or beside work that goes on
	Idle         time.Duration // the longest sleep of a driver: orders, or a clock that is set back, are noticed soon

	faster int64 // how many times faster than the providers' own figures; 0: as they are
}

// DefaultTiming returns the product's.
func DefaultTiming() Timing {
	return Timing{
		Lease: 2 * time.Minute, Create: 75 * time.Second,
		PollFirst: 3 * time.Second, PollMin: 15 * time.Second, PollMax: 5 * time.Minute, PollEach: 250 * time.Millisecond,
		LagStamped: time.Minute, LagUnstamped: 10 * time.Minute, Unfenced: 3 * time.Hour, Audit: time.Hour,
		Refetch: []time.Duration{5 * time.Minute, 20 * time.Minute, 35 * time.Minute},
		Gone:    time.Hour, BackoffMin: 2 * time.Second, BackoffMax: 5 * time.Minute,
		GateMin: 5 * time.Minute, GateMax: time.Hour, Room: 24 * time.Hour, Cut: 30 * time.Minute, Late: 6 * time.Hour,
		Ask: 15 * time.Minute, Call: time.Minute, Stall: 2 * time.Minute, Look: time.Second,
		Linger: 25 * time.Millisecond, Busy: time.Second, Idle: 5 * time.Second,
	}
}

// Scaled returns the same timing, so many times faster. The lease is not scaled, nor what bounds a call: they are about processes
// and networks, not about how long providers take.
func (t Timing) Scaled(by int64) Timing {
	s := func(d time.Duration) time.Duration { return max(d/time.Duration(by), time.Millisecond) }
	u := t
	u.PollEach = t.PollEach / time.Duration(by)
	u.PollFirst, u.PollMin, u.PollMax = s(t.PollFirst), s(t.PollMin), s(t.PollMax)
	u.LagStamped, u.LagUnstamped = s(t.LagStamped), s(t.LagUnstamped)
	u.Unfenced, u.Audit = s(t.Unfenced), s(t.Audit)
	u.Gone, u.BackoffMin, u.BackoffMax, u.GateMin, u.GateMax, u.Room = s(t.Gone), s(t.BackoffMin), s(t.BackoffMax), s(t.GateMin),
		s(t.GateMax), s(t.Room)
	u.Cut, u.Late, u.faster = s(t.Cut), s(t.Late), max(t.faster, 1)*by
	u.Look = max(s(t.Look), 50*time.Millisecond)
	u.Refetch = nil
	for _, d := range t.Refetch {
		u.Refetch = append(u.Refetch, s(d))
	}
	return u
}

// Lag returns how far two reads that see no job have to be apart.
func (t Timing) Lag(provider time.Duration, stamped bool) time.Duration {
	lag := max(t.LagStamped, t.Own(provider))
	if !stamped {
		lag = max(lag, t.LagUnstamped)
	}
	return lag
}

// Own returns a provider's own figure in a timing that is faster than life.
func (t Timing) Own(provider time.Duration) time.Duration {
	return provider / time.Duration(max(t.faster, 1))
}

// Check returns what is wrong with a timing.
func (t Timing) Check() error {
	if t.Create >= t.Lease {
		return fmt.Errorf("a create call may take %s, which is not inside the lease of %s", t.Create, t.Lease)
	}
	return nil
}

// Elapsed returns how long it is from one moment to another. A machine that sleeps stops the one clock, and one that is set
// stops the other: the longer time is the truer one.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// MostAway is how long a ledger that cannot be reached is waited for.
const MostAway = 15 * time.Minute
