package db

import (
	"math"
	"sync"
	"time"
)

// steady holds the ledger's clock against this process's own monotonic one. A database that comes back on another host, or a machine
// whose clock is set, ends all leases at once or lets them last for ever: for as long as one of them may still be believed in, this
// process takes nothing over.
type steady struct {
	mu      sync.Mutex
	ledger  time.Time // the ledger's time at the last look
	own     time.Time // this process's
	blur    time.Duration
	stepped time.Time // when they were last found apart, by our own clock; zero: never
}

// mostDrift is how far two clocks may move apart between two looks without one of them having been set.
const mostDrift = 5 * time.Second

// look compares the two clocks with the last look, or the first time with each other. Blur is how long the look took.
func (s *steady) look(ledger, own time.Time, blur time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	apart := ledger.Sub(own.Round(0))
	if !s.own.IsZero() {
		apart = ledger.Sub(s.ledger) - own.Sub(s.own)
	}
	if apart.Abs() > mostDrift+blur+s.blur {
		s.stepped = own
	}
	s.ledger, s.own, s.blur = ledger, own, blur
}

// since returns how long the clocks have gone together by our own, as far as is known.
func (s *steady) since(own time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stepped.IsZero() {
		return math.MaxInt64
	}
	return own.Sub(s.stepped)
}

// Steady reports whether the ledger's clock has gone as this process's monotonic one for so long, as far as is known: what ended by
// it has ended. A transaction that reads the clock looks.
func (s *DB) Steady(long time.Duration) bool { return s.clocks.since(s.own()) >= long }
