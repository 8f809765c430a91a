// Package rounds holds what a compare stage buys in rounds: which pairs have met so far, what a look at them decides, and
// what the next round buys.
package rounds

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/pairs"
	"assay/internal/study/plan"
)

// Rounds is the state of a compare stage that buys its pairs in rounds. What the first round buys follows from the study. After each
// round one look is written into the ledger: what was found, and what the next round buys, or why there is none. The looks are the whole
// state, so that every process that reads them asks the same, and nothing is decided twice. It is safe for concurrent use.
type Rounds struct {
	plan     adaptive.Plan
	schedule *pairs.Counted
	names    []string // contestants, by number
	budget   study.Amount
	base     *pairs.Schedule // the pairs that were all planned at once, where more are bought to settle some; nil: all are bought in rounds
	asked    []bool          // with base: slots that are asked about
	counting sync.Once
	open     []int // with base, once it is counted: by pair, the meetings that were not planned

	mu     sync.RWMutex
	more   map[int64][]pairs.Pair // with base: meetings that were bought besides, by slot; never changed, only replaced
	looks  []store.Look
	bought []int                  // by pair; never changed, only replaced
	starts map[int64][]pairs.Pair // of items: meetings by the one that is shown first
}

// New returns the rounds of contestants that meet on so many slots, before the first look.
func New(a *study.Adaptive, names []string, slots int64) (*Rounds, error) {
	p, c, err := plan.Rounds(a, int64(len(names)), slots)
	if err != nil {
		return nil, err
	}
	r := &Rounds{plan: p, schedule: c, names: names, budget: a.Budget}
	progress, err := r.progress(nil)
	if err != nil {
		return nil, err
	}
	r.bought = progress.Bought
	return r, nil
}

// maxBeside bounds the contestants of a stage for which more comparisons can be bought.
const maxBeside = 100

// Beside returns the rounds of a stage whose pairs were all planned at once, so that more can be bought for it. Asked lists the slots
// that are asked about. It returns nil where nothing can be bought.
func Beside(base *pairs.Schedule, asked []bool, names []string, seed int64) (*Rounds, error) {
	n := int64(len(names))
	if n < 2 || n > maxBeside || len(asked) == 0 {
		return nil, nil
	}
	c, err := pairs.NewCounted(n, int64(len(asked)), uint64(seed))
	if err != nil {
		return nil, err
	}
	p := adaptive.Plan{Lanes: int(n), Rounds: 1, Budget: 1, Most: c.Most(), Alpha: adaptive.Alpha, Order: c.Order()}
	return &Rounds{plan: p, schedule: c, names: names, base: base, asked: asked, bought: make([]int, len(c.Order()))}, p.Check()
}

// Budget returns what the study allows the rounds to cost.
func (r *Rounds) Budget() study.Amount { return r.budget }

// On walks over the meetings on a slot so far.
func (r *Rounds) On(slot int64) iter.Seq[pairs.Pair] {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.base == nil {
		return r.schedule.On(slot, r.bought)
	}
	more := r.more[slot]
	return func(yield func(pairs.Pair) bool) {
		for p := range r.base.On(slot) {
			if !yield(p) {
				return
			}
		}
		for _, p := range more {
			if !yield(p) {
				return
			}
		}
	}
}

// From lists the meetings so far in which an item, by number, is shown first.
func (r *Rounds) From(first int64) []pairs.Pair {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starts == nil {
		r.starts = map[int64][]pairs.Pair{}
		for p := range r.schedule.On(0, r.bought) {
			r.starts[p.First] = append(r.starts[p.First], p)
		}
	}
	return r.starts[first]
}

// Begun reports whether the stage buys rounds: by its study, or because comparisons were bought besides those that were planned.
func (r *Rounds) Begun() bool {
	looks, _ := r.Done()
	return r.base == nil || looks > 0
}

// Done returns how many looks there were, and why there is no further round; empty: there is one.
func (r *Rounds) Done() (looks int, stop store.Stop) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n := len(r.looks); n > 0 {
		return n, r.looks[n-1].Stop
	}
	return 0, store.StopNone
}

// Take adds a look of the ledger. One that is known already changes nothing.
func (r *Rounds) Take(l store.Look) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.Number <= len(r.looks) {
		return nil
	}
	if l.Number != len(r.looks)+1 {
		return fmt.Errorf("stage %s: look %d comes after look %d", l.Stage, l.Number, len(r.looks))
	}
	looks := append(slices.Clip(r.looks), l)
	g, err := r.progress(looks)
	if err != nil {
		return err
	}
	r.looks, r.bought, r.starts = looks, g.Bought, nil
	if r.base != nil {
		r.more = r.besides(g.Bought)
	}
	return nil
}

// taken returns the looks so far.
func (r *Rounds) taken() []store.Look {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.looks
}

// progress goes through some looks again.
func (r *Rounds) progress(looks []store.Look) (*adaptive.Progress, error) {
	g, err := adaptive.Begin(r.plan)
	if err != nil {
		return nil, err
	}
	if r.base == nil {
		g.Buy(g.First())
	}
	for _, l := range looks {
		if err := r.recall(g, l); err != nil {
			return nil, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
	}
	return g, nil
}

func (r *Rounds) recall(g *adaptive.Progress, l store.Look) error {
	f, err := foundBy(l)
	if err != nil {
		return err
	}
	claims, given, err := f.numbered(r.names)
	if err != nil {
		return err
	}
	g.Recall(claims, given, f.Narrow)
	next, err := nextOf(l, r.names)
	if err != nil {
		return err
	}
	g.Buy(next)
	return nil
}
