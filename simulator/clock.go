package simulator

import (
	"sync"
	"time"
)

// Clock is where the time comes from.
type Clock interface {
	Now() time.Time
}

// Manual is a clock that moves only by Advance.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual starts a manual clock.
func NewManual(start time.Time) *Manual { return &Manual{now: start} }

// Now is the time the clock was last moved to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock on.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// movable is a clock that can be pushed ahead of the one beneath it.
type movable struct {
	base  Clock
	mu    sync.Mutex
	ahead time.Duration
}

func (m *movable) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.base.Now().Add(m.ahead).UTC()
}

func (m *movable) advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += d
}
