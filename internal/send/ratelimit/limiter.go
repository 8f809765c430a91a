// Package ratelimit decides when the next live request may be sent.
//
// Everything in it is a value that takes the clock as an argument: a Limiter learns from replies how much a provider takes
// of one model, Slots and a TokenBudget hold what was leased from a cap that several processes share.
package ratelimit

import (
	"math"
	"time"
)

// Limiter finds out how many requests at a time, and how many in a second, a provider takes of one model. It grows while
// answers flow, backs off when the provider is busy, slow or names a time to wait, and spreads what by the provider's
// headers is left over the time until there is more. Its zero value works.
type Limiter struct {
	Most int           // most requests in flight; 0: DefaultMost
	Back time.Duration // the first wait after a busy reply that names none; 0: a second

	width  float64 // how many in flight are worth trying; 0: not begun
	steady bool    // it grew too far once: from then on it grows slowly
	flying int
	tokens float64 // expected of those in flight
	epoch  int     // how often it backed off: replies to what was sent before the last time are ignored
	closed time.Time
	rowed  int // busy replies in a row

	windows [4]window
	learned learned
	speed   speed
}

// DefaultMost is how many requests are in flight at most if no cap is set.
const DefaultMost = 256

// firstWidth is how many requests are tried at first.
const firstWidth = 8

// Release is the wait of a request that may go when another one comes back.
const Release = time.Duration(-1)

// Load is the number of tokens that one request is expected to use of the limits.
type Load struct{ Input, Output float64 }

// Ticket is a request in flight.
type Ticket struct {
	sent  time.Time
	load  Load
	epoch int
	full  bool // at least half as many were in flight as were worth trying
}

// Wait returns how long a request has to wait: 0, it may go now; Release, until another one comes back.
func (l *Limiter) Wait(now time.Time, load Load) time.Duration {
	if l.flying >= l.Width() {
		return Release
	}
	wait := max(l.closed.Sub(now), l.learned.wait(now), 0)
	for i := range l.windows {
		wait = max(wait, l.windows[i].wait(now, share(i, load)))
	}
	return wait
}

// Send notes that a request goes now.
func (l *Limiter) Send(now time.Time, load Load) Ticket {
	l.flying++
	l.tokens += load.Input + load.Output
	l.learned.sent(now)
	for i := range l.windows {
		l.windows[i].sent(now, share(i, load))
	}
	return Ticket{sent: now, load: load, epoch: l.epoch, full: 2*l.flying >= l.Width()}
}

// Closed returns until when the provider is left alone after it refused.
func (l *Limiter) Closed() time.Time { return l.closed }

// Width returns how many requests may be in flight now.
func (l *Limiter) Width() int {
	most := float64(l.Most)
	if most <= 0 {
		most = DefaultMost
	}
	if l.width == 0 {
		return int(min(firstWidth, most))
	}
	return int(max(1, min(l.width, most)))
}

// Kind classifies a reply by what it means for the provider's limits.
type Kind int

// The kinds of replies.
const (
	Answered  Kind = iota // it took the request, whatever came of it
	Throttled             // too many requests or tokens: 429
	Busy                  // overloaded, broken or not reached
	Unrelated             // it has nothing to do with the limits
)

// Reply is the reply to a request.
type Reply struct {
	Kind       Kind
	RetryAfter time.Duration // how long the provider asks us to stay away; 0: it does not
	Hints      Hints
}

// Done notes that a request came back.
func (l *Limiter) Done(now time.Time, t Ticket, r Reply) {
	l.flying--
	l.tokens -= t.load.Input + t.load.Output
	for i, h := range r.Hints.list() {
		if h.Known {
			l.windows[i].hinted(now, h, l.away(i))
		}
	}
	switch r.Kind {
	case Answered:
		l.answered(now, t)
	case Throttled, Busy:
		if r.Kind == Throttled {
			l.learned.refused(t.sent)
		}
		l.backOff(now, t, r)
	}
	if r.RetryAfter > 0 {
		l.closed = later(l.closed, now.Add(r.RetryAfter))
	}
}

// away returns what those in flight are expected to take out of a window.
func (l *Limiter) away(i int) float64 {
	if i == requests {
		return float64(l.flying)
	}
	return l.tokens
}

func (l *Limiter) answered(now time.Time, t Ticket) {
	if l.width == 0 {
		l.width = firstWidth
	}
	if t.sent.After(l.closed) {
		l.rowed = 0
	}
	l.learned.answered(now)
	if l.speed.slow(now.Sub(t.sent), l.width) {
		l.steady, l.width = true, max(1, l.width*0.9)
		return
	}
	if !t.full {
		return
	}
	step := 1.0
	if l.steady {
		step = 1 / l.width
	}
	most := float64(l.Most)
	if most <= 0 {
		most = DefaultMost
	}
	l.width = min(l.width+step, most)
}

// backOff makes room, once for all that went out before.
func (l *Limiter) backOff(now time.Time, t Ticket, r Reply) {
	if t.epoch != l.epoch {
		return
	}
	l.epoch++
	l.rowed++
	l.width, l.steady = max(1, float64(l.Width())*0.7), true
	if r.Kind == Throttled && !l.spent(r.Hints, t.load) {
		l.learned.learn(now, r.RetryAfter, l.rowed == 1)
	}
	if r.RetryAfter == 0 {
		back := l.Back
		if back <= 0 {
			back = time.Second
		}
		l.closed = later(l.closed, now.Add(min(back<<min(l.rowed-1, 6), time.Minute)))
	}
}

// spent reports whether the headers of a refusal explain it: then nothing else is learned from it. What
// a request takes is only guessed, so a limit that is nearly used up explains it, too.
func (l *Limiter) spent(h Hints, load Load) bool {
	for i, w := range h.list() {
		if w.Known && float64(w.Remaining) < max(2*share(i, load), float64(w.Limit)/20, 1) {
			return true
		}
	}
	return false
}

// speed separates slow replies from the usual ones.
type speed struct {
	usual float64 // the best mean seen, in seconds
	mean  float64
	n     int
	quiet int // replies until a slow mean may count again
}

// slow notes how long a reply took, and reports whether replies have become slow: three times the usual, and a quarter of
// a second more.
func (s *speed) slow(took time.Duration, width float64) bool {
	x := took.Seconds()
	if s.n++; s.n == 1 {
		s.mean = x
	}
	s.mean += (x - s.mean) / 16
	if s.n < 32 {
		return false
	}
	if s.usual == 0 || s.mean < s.usual {
		s.usual = s.mean
	}
	s.usual *= 1.0005 // what is usual may change
	if s.quiet > 0 {
		s.quiet--
		return false
	}
	if s.mean > 3*s.usual && s.mean > s.usual+0.25 {
		s.quiet = int(math.Ceil(width)) + 16
		return true
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
