package ratelimit

import "time"

// Caps are the limits that a study sets for live requests. Zero means no cap.
type Caps struct {
	Rate        float64       // requests a second
	Tokens      float64       // tokens a second
	Concurrency int           // requests in flight
	Pause       time.Duration // between two requests
}

// Every returns how far apart two requests have to be; 0: there is no cap. It is a little more than the rate asks for: what is late
// by less than grace then still keeps within the rate over ten seconds.
func (c Caps) Every() time.Duration {
	every := c.Pause
	if c.Rate > 0 {
		every = max(every, time.Duration(float64(time.Second)/(c.Rate*margin)))
	}
	return every
}

// grace is how long a slot is good: a moment that was missed by more is gone.
const grace = 200 * time.Millisecond

// Slots are moments at which a request may go, leased ahead from a cap that is shared.
type Slots struct{ leases []lease }

type lease struct {
	at    time.Time // the next moment
	every time.Duration
	left  int
}

// Add takes a lease of n moments, the first one at a time, the others so far apart.
func (s *Slots) Add(first time.Time, every time.Duration, n int) {
	s.leases = append(s.leases, lease{first, every, n})
}

// Wait returns how long until the next moment; false: there is none, more have to be leased.
func (s *Slots) Wait(now time.Time) (time.Duration, bool) {
	s.prune(now)
	if len(s.leases) == 0 {
		return 0, false
	}
	return max(s.leases[0].at.Sub(now), 0), true
}

// Take uses the next moment.
func (s *Slots) Take() {
	if len(s.leases) == 0 {
		return
	}
	l := &s.leases[0]
	l.at = l.at.Add(l.every)
	l.left--
}

// prune drops moments that are gone.
func (s *Slots) prune(now time.Time) {
	for len(s.leases) > 0 {
		l := &s.leases[0]
		if late := now.Sub(l.at) - grace; late > 0 && l.every > 0 && l.left > 0 {
			n := min(int(late/l.every)+1, l.left)
			l.left -= n
			l.at = l.at.Add(time.Duration(n) * l.every)
		}
		if l.left > 0 {
			return
		}
		s.leases = s.leases[1:]
	}
	s.leases = nil
}

// TokenBudget holds tokens that were leased from a cap that is shared.
type TokenBudget struct {
	from time.Time // not before
	left float64
}

// Add takes a lease of so many tokens that may be spent from a moment on.
func (p *TokenBudget) Add(from time.Time, tokens float64) {
	p.from = later(p.from, from)
	p.left += tokens
}

// Wait returns how long until so many tokens may be spent; with missing > 0 that many have to be leased first.
func (p *TokenBudget) Wait(now time.Time, tokens float64) (wait time.Duration, missing float64) {
	if missing := tokens - p.left; missing > 0 {
		return 0, missing
	}
	return max(p.from.Sub(now), 0), 0
}

// Spend takes tokens out, or puts back those that were not needed.
func (p *TokenBudget) Spend(tokens float64) { p.left -= tokens }
