package simulator

import (
	"sync"
	"time"
)

// Clock is where the time comes from.
type Clock interface {
	Now() time.Time
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
