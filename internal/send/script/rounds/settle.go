package rounds

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"

	"assay/internal/keep/store"
	"assay/internal/study/adaptive"
	"assay/internal/study/pairs"
)

// Settle is an order to tell two lanes apart that a stage could not.
type Settle struct {
	Stage  string `json:"-"`
	First  string `json:"first"`
	Second string `json:"second"`
	N      int    `json:"n"`                // comparisons to buy
	Budget string `json:"budget,omitempty"` // the most they are to cost, as it was typed
}

// same reports whether two orders are about the same, whatever they buy.
func (s Settle) same(o Settle) bool {
	return s.Budget == o.Budget && (s.First == o.First && s.Second == o.Second || s.First == o.Second && s.Second == o.First)
}

// Settled is how far two lanes are told apart.
type Settled struct {
	Under  bool // what was bought for them, or for two others, is under way
	Bought bool // the same was bought before, and looked at
	Known  bool // the two are told apart by a claim
	Left   int  // comparisons that the two have not had
}

// Settled returns how far two lanes are told apart.
func (r *Rounds) Settled(s Settle) (Settled, error) {
	var out Settled
	r.mu.RLock()
	looks, bought := r.looks, r.bought
	r.mu.RUnlock()
	g, k, err := r.of(looks, s)
	if err != nil {
		return out, err
	}
	out.Known, out.Left = r.known(g, k), r.plan.Most-bought[k]
	if r.base != nil {
		out.Left = r.left(k) - bought[k]
	}
	for i, l := range looks {
		found, err := foundBy(l)
		if err != nil {
			return out, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, err)
		}
		last := i == len(looks)-1
		out.Under = last && l.Stop == store.StopNone
		out.Bought = out.Bought || !last && found.Settle != nil && found.Settle.same(s)
	}
	return out, nil
}

// of returns the progress after some looks, and the number of the pair that is to be settled.
func (r *Rounds) of(looks []store.Look, s Settle) (*adaptive.Progress, int, error) {
	k, err := pair(r.names, s.First, s.Second)
	if err != nil {
		return nil, 0, fmt.Errorf("stage %s: %w", s.Stage, err)
	}
	g, err := r.progress(looks)
	return g, k, err
}

func (r *Rounds) known(g *adaptive.Progress, pair int) bool {
	p := adaptive.Pairs(len(r.names))[pair]
	return g.Claims.Known(p[0], p[1])
}

// Buy returns the look that buys comparisons of two lanes. Of a stage whose pairs were all planned at once it is the first look, which
// claims what the stage has shown so far; of one with rounds it claims nothing.
func (r *Rounds) Buy(f Found, s Settle) (store.Look, error) {
	looks := r.taken()
	g, k, err := r.of(looks, s)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Stage: s.Stage, Number: len(looks) + 1, Planned: r.plan.Rounds, Bought: r.total(g)}
	found := lookFound{Valid: f.Valid, Again: f.Again, Settle: &s}
	if look := r.aligned(f); r.base != nil && len(looks) == 0 && look != nil {
		out.Level = r.plan.Alpha
		found.claim(r.names, g.Beyond(look, out.Level))
	}
	next := make([]int, len(g.Bought))
	next[k] = s.N
	if out.Next, err = nextText(r.names, next); err != nil {
		return out, err
	}
	out.Found, err = found.text()
	return out, err
}

// total returns how many comparisons were bought, those that were planned at once included.
func (r *Rounds) total(g *adaptive.Progress) int {
	n := g.Spent()
	for slot := range r.asked {
		if r.asked[slot] {
			for range r.base.On(int64(slot)) {
				n++
			}
		}
	}
	return n
}

// beyond makes the look after what was bought to settle two lanes, at a level of its own.
func (r *Rounds) beyond(f Found, looks []store.Look, s Settle) (store.Look, error) {
	g, k, err := r.of(looks, s)
	if err != nil {
		return store.Look{}, err
	}
	out := store.Look{Number: len(looks) + 1, Planned: r.plan.Rounds, Level: r.beyondLevel(), Bought: r.total(g), Stop: store.StopBought}
	found := lookFound{Valid: f.Valid, Again: f.Again, Beyond: true}
	if look := r.aligned(f); look != nil {
		found.claim(r.names, g.Beyond(look, out.Level))
		found.measure(r.names, look)
	}
	if r.known(g, k) {
		out.Stop = store.StopSettled
	}
	out.Found, err = found.text()
	return out, err
}

// beyondLevel returns the error that a look beyond the plan may spend.
func (r *Rounds) beyondLevel() float64 {
	if r.base != nil {
		return r.plan.Alpha / adaptive.Rounds
	}
	return r.plan.Alpha / float64(r.plan.Rounds)
}

// free returns the meetings of a pair that were not planned, in the order in which they are bought.
func (r *Rounds) free(pair int) []pairs.Pair {
	type lapped struct {
		lap int64
		p   pairs.Pair
	}
	var all []lapped
	for lap, p := range r.unplanned(pair) {
		all = append(all, lapped{lap, p})
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(cmp.Compare(all[i].lap, all[j].lap), cmp.Compare(all[i].p.Slot, all[j].p.Slot)) < 0
	})
	out := make([]pairs.Pair, len(all))
	for i, l := range all {
		out[i] = l.p
	}
	return out
}

// left counts the meetings of a pair that were not planned. All pairs are counted at once: planned meetings are many, and two of a
// pair, one each way round, can be on every slot that is asked about.
func (r *Rounds) left(pair int) int {
	r.counting.Do(func() {
		n := len(r.names)
		planned := make([]int, n*n)
		var has [][2]int64 // of one slot: few
		slots := 0
		for slot := range r.asked {
			if !r.asked[slot] {
				continue
			}
			slots++
			has = has[:0]
			for p := range r.base.On(int64(slot)) {
				if two := [2]int64{p.First, p.Second}; !slices.Contains(has, two) {
					has = append(has, two)
					planned[min(p.First, p.Second)*int64(n)+max(p.First, p.Second)]++
				}
			}
		}
		for _, two := range adaptive.Pairs(n) {
			r.open = append(r.open, 2*slots-planned[two[0]*n+two[1]])
		}
	})
	return r.open[pair]
}

// unplanned yields the meetings of a pair that were not planned, each after the lap in which it is bought.
func (r *Rounds) unplanned(pair int) iter.Seq2[int64, pairs.Pair] {
	return func(yield func(int64, pairs.Pair) bool) {
		counts := make([]int, len(r.schedule.Order()))
		counts[pair] = r.schedule.Most()
		var has [][2]int64 // of one slot: few
		for slot := range r.asked {
			if !r.asked[slot] {
				continue
			}
			has = has[:0]
			for p := range r.base.On(int64(slot)) {
				has = append(has, [2]int64{p.First, p.Second})
			}
			for p := range r.schedule.On(int64(slot), counts) {
				if slices.Contains(has, [2]int64{p.First, p.Second}) {
					continue
				}
				lap := p.Row / int64(len(counts))
				if p.Again {
					lap += int64(len(r.asked))
				}
				if slices.Contains(has, [2]int64{p.Second, p.First}) { // it was asked the other way round: others come first
					lap += int64(len(r.asked))
				}
				if !yield(lap, p) {
					return
				}
			}
		}
	}
}

// besides returns the meetings that were bought, by slot.
func (r *Rounds) besides(bought []int) map[int64][]pairs.Pair {
	out := map[int64][]pairs.Pair{}
	for k, n := range bought {
		if n == 0 {
			continue
		}
		free := r.free(k)
		for _, p := range free[:min(n, len(free))] {
			out[p.Slot] = append(out[p.Slot], p)
		}
	}
	return out
}
