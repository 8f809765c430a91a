package engine

import (
	"cmp"
	"sync"
	"time"

	"assay/internal/assay"
)

// Waits draws the random part of waits, and nonces. It is safe for concurrent use.
type Waits struct {
	from *Config
	mu   sync.Mutex // of the random numbers
}

// NewWaits draws from the random numbers of a configuration.
func NewWaits(from *Config) *Waits { return &Waits{from: from} }

// Jitter returns a random part of a duration.
func (w *Waits) Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.from.Random.Int64N(int64(d)))
}

// Nonce returns that of a new segment.
func (w *Waits) Nonce() assay.Nonce {
	w.mu.Lock()
	defer w.mu.Unlock()
	var random [7]byte
	for i := range random {
		random[i] = byte(w.from.Random.UintN(256))
	}
	return assay.NonceFrom(random)
}

// Backoff returns how long to wait after the n-th failure in a row: full jitter under a doubling roof, and not less than the
// provider asked for.
func (w *Waits) Backoff(n int64, asked time.Duration) time.Duration {
	t := &w.from.Timing
	roof := t.BackoffMin << min(n, 20)
	if roof <= 0 || roof > t.BackoffMax {
		roof = t.BackoffMax
	}
	return max(t.BackoffMin/2+w.Jitter(roof), asked)
}

// Poll returns how long to wait between polls of a job of this age: at first as long as it is old, later a tenth of it, within bounds,
// and a little more.
func (w *Waits) Poll(age time.Duration) time.Duration {
	t := &w.from.Timing
	young := min(max(age, cmp.Or(t.PollFirst, t.PollMin)), t.PollMin)
	d := min(max(age/10, young), t.PollMax)
	return d + w.Jitter(d/5)
}
