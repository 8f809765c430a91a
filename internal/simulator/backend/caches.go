package backend

import (
	"sync"
	"time"

	"assay/internal/simulator/dice"
)

// warmth holds the live prompt caches: the last few thousand prefixes, each for some minutes.
type warmth struct {
	mu    sync.Mutex
	until map[uint64]time.Time
	order []uint64
	next  int
}

const (
	warmPrefixes = 4096
	warmTime     = 5 * time.Minute
)

func newWarmth() *warmth { return &warmth{until: map[uint64]time.Time{}} }

// known reports for one call whether a prefix is held, and holds it from then on.
func (w *warmth) known(account string, now time.Time) func(uint64) bool {
	return func(h uint64) bool {
		h = dice.Hash(h, account)
		w.mu.Lock()
		defer w.mu.Unlock()
		until, ok := w.until[h]
		switch {
		case ok:
		case len(w.order) < warmPrefixes:
			w.order = append(w.order, h)
		default:
			delete(w.until, w.order[w.next])
			w.order[w.next] = h
			w.next = (w.next + 1) % warmPrefixes
		}
		w.until[h] = now.Add(warmTime)
		return ok && now.Before(until)
	}
}
