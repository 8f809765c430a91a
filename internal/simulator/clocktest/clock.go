// Package clocktest has a clock for tests that move the simulator's time themselves.
package clocktest

import (
	"sync"
	"time"
)

// Clock is a clock that moves only by Advance.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// New starts a clock.
func New(start time.Time) *Clock { return &Clock{now: start} }

// Now returns the time the clock was last moved to.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
