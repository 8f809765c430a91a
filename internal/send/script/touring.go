package script

import (
	"context"
	"encoding/json"
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

// tour is a compare stage that buys its pairs in rounds. What the first round buys follows from the study. After each round one look is
// written into the ledger: what was found, and what the next round buys, or why there is none. A tour is those looks and nothing else, so
// that every process that reads them asks the same, and nothing is decided twice. It is safe for concurrent use.
type tour struct {
	plan     adaptive.Plan
	schedule *pairs.Counted
	names    []string // contestants, by number
	budget   study.Amount
	base     *pairs.Schedule // the pairs that were all planned at once, where more are bought to settle some; nil: all are bought in rounds
	real     []bool          // with base: slots that are asked about

	mu     sync.RWMutex
	more   map[int64][]pairs.Pair // with base: meetings that were bought besides, by slot; never changed, only replaced
	looks  []store.Look
	bought []int                  // by pair; never changed, only replaced
	starts map[int64][]pairs.Pair // of items: meetings by the one that is shown first
}

func newTour(a *study.Adaptive, names []string, slots int64) (*tour, error) {
	p, c, err := plan.Rounds(a, int64(len(names)), slots)
	if err != nil {
		return nil, err
	}
	t := &tour{plan: p, schedule: c, names: names, budget: a.Budget}
	progress, err := t.progress(nil)
	if err != nil {
		return nil, err
	}
	t.bought = progress.Bought
	return t, nil
}

// tourOf returns the tour of a stage; nil: it has none, or all its pairs were planned at once and none was bought besides.
func tourOf(rec stage) *tour {
	t := anyTour(rec)
	if t != nil && t.base != nil {
		if looks, _ := t.done(); looks == 0 {
			return nil
		}
	}
	return t
}

func anyTour(rec stage) *tour {
	switch rec := rec.(type) {
	case *laneContest:
		return rec.tour
	case *itemContest:
		return rec.tour
	}
	return nil
}

// on walks over the meetings on a slot that were bought so far.
func (t *tour) on(slot int64) iter.Seq[pairs.Pair] {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.schedule.On(slot, t.bought)
}

// from lists the meetings so far in which an item, by number, is shown first.
func (t *tour) from(first int64) []pairs.Pair {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.starts == nil {
		t.starts = map[int64][]pairs.Pair{}
		for p := range t.schedule.On(0, t.bought) {
			t.starts[p.First] = append(t.starts[p.First], p)
		}
	}
	return t.starts[first]
}

// done returns how many looks there were, and why there is no further round; empty: there is one.
func (t *tour) done() (looks int, stop store.Stop) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := len(t.looks); n > 0 {
		return n, t.looks[n-1].Stop
	}
	return 0, store.StopNone
}

// progress goes through some looks again.
func (t *tour) progress(looks []store.Look) (*adaptive.Progress, error) {
	g, err := adaptive.Begin(t.plan)
	if err != nil {
		return nil, err
	}
	if t.base == nil {
		g.Buy(g.First())
	}
	for _, l := range looks {
		var found lookFound
		if err := json.Unmarshal([]byte(l.Found), &found); err != nil {
			return nil, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
		claims, given, err := t.numbered(&found)
		if err != nil {
			return nil, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
		g.Recall(claims, given, found.Narrow)
		next, err := t.nextOf(l)
		if err != nil {
			return nil, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
		g.Buy(next)
	}
	return g, nil
}

// take adds a look that stands in the ledger. One that is known already changes nothing.
func (t *tour) take(l store.Look) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Number <= len(t.looks) {
		return nil
	}
	if l.Number != len(t.looks)+1 {
		return fmt.Errorf("stage %s: look %d comes after look %d", l.Stage, l.Number, len(t.looks))
	}
	looks := append(slices.Clip(t.looks), l)
	g, err := t.progress(looks)
	if err != nil {
		return err
	}
	t.looks, t.bought, t.starts = looks, g.Bought, nil
	if t.base != nil {
		t.more = t.besides(g.Bought)
	}
	return nil
}

// recallLooks takes in the looks of the run that this process does not know.
func (s *Script) recallLooks(ctx context.Context) error {
	tours := map[string]*tour{}
	for name, rec := range s.stages {
		if t := anyTour(rec); t != nil {
			tours[name] = t
		}
	}
	if len(tours) == 0 {
		return nil
	}
	for l, err := range s.Reader.Looks(ctx, s.run.No) {
		if err != nil {
			return err
		}
		if t, ok := tours[l.Stage]; ok {
			if err := t.take(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookFound is what a look found, as it is kept.
type lookFound struct {
	Valid     int            `json:"valid"`           // verdicts
	Again     int            `json:"again,omitempty"` // verdicts that are not valid, and might be if they were asked for again
	Strengths []lookStrength `json:"strengths,omitempty"`
	Claims    []LookClaim    `json:"claims,omitempty"`   // new ones
	Given     [][2]string    `json:"given_up,omitempty"` // all pairs that are given up by now
	Narrow    bool           `json:"narrow,omitempty"`   // all strengths are as certain as the goal wants
	Settle    *Settle        `json:"settle,omitempty"`   // what the next round buys was a person's wish
	Beyond    bool           `json:"beyond,omitempty"`   // a look beyond the plan
}

type lookStrength struct {
	Name     string  `json:"name"`
	Strength float64 `json:"strength"`
	SE       float64 `json:"se"`
}

// LookClaim is a difference that a look has shown.
type LookClaim struct {
	Better string  `json:"better"`
	Worse  string  `json:"worse"`
	P      float64 `json:"p"`
	Level  float64 `json:"level"` // that P stays below
	Open   int     `json:"open"`  // pairs that were not known then
}

// lookNext is how often two contestants meet in the next round.
type lookNext struct {
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n"`
}

func (t *tour) number(name string) (int, error) {
	if i := slices.Index(t.names, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("no contestant is called %q", name)
}

// pair returns the number of a pair.
func (t *tour) pair(first, second string) (int, error) {
	i, err := t.number(first)
	if err != nil {
		return 0, err
	}
	j, err := t.number(second)
	if err != nil || i == j {
		return 0, fmt.Errorf("no pair is called %q and %q", first, second)
	}
	i, j = min(i, j), max(i, j)
	return i*(2*len(t.names)-i-1)/2 + j - i - 1, nil
}

func (t *tour) numbered(f *lookFound) (claims []adaptive.Claim, given []int, err error) {
	for _, c := range f.Claims {
		better, err := t.number(c.Better)
		if err != nil {
			return nil, nil, err
		}
		worse, err := t.number(c.Worse)
		if err != nil {
			return nil, nil, err
		}
		claims = append(claims, adaptive.Claim{Better: better, Worse: worse, P: c.P, Level: c.Level, Open: c.Open})
	}
	for _, p := range f.Given {
		k, err := t.pair(p[0], p[1])
		if err != nil {
			return nil, nil, err
		}
		given = append(given, k)
	}
	return claims, given, nil
}

// nextOf returns what a look has bought for the next round, by pair.
func (t *tour) nextOf(l store.Look) ([]int, error) {
	out := make([]int, len(t.names)*(len(t.names)-1)/2)
	if l.Next == "" {
		return out, nil
	}
	var next []lookNext
	if err := json.Unmarshal([]byte(l.Next), &next); err != nil {
		return nil, err
	}
	for _, n := range next {
		k, err := t.pair(n.First, n.Second)
		if err != nil {
			return nil, err
		}
		out[k] += n.N
	}
	return out, nil
}

// ClaimsOf returns the differences that a look has newly shown, and whether it was one beyond the plan.
func ClaimsOf(l store.Look) (claims []LookClaim, beyond bool, err error) {
	var found lookFound
	if err := json.Unmarshal([]byte(l.Found), &found); err != nil {
		return nil, false, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
	}
	return found.Claims, found.Beyond, nil
}
