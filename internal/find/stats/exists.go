package stats

import (
	"fmt"
	"math"
)

// NoMaximum is the error of a fit whose likelihood has no finite, unique maximum: there is no estimate to print.
type NoMaximum struct {
	Why string
	// Components are the groups of items that can be ranked inside, when the wins leave the items in several: between
	// two groups all wins go one way, or nothing was compared.
	Components [][]int
}

// Error says why there is no estimate.
func (e *NoMaximum) Error() string { return "no finite estimate of strengths: " + e.Why }

// Components are the groups of items inside which strengths can be estimated, each ascending: everybody can be reached
// from everybody along wins, a tie counting both ways. One group means that all items can be ranked together.
func Components(t *Tally) [][]int {
	g := newGraph(t.items, t.unordered())
	return g.components(g.won)
}

// exists finds out, before any iteration, whether the likelihood has a finite and unique maximum. A direction in which
// it never falls would be a ray of strengths, order effect and tie parameter that no single result contradicts; the
// estimate exists unless there is one.
func (g *graph) exists(cells []cell, o BTOptions) error {
	if o.Ridge > 0 || o.Firth {
		return g.penalizedExists(cells, o)
	}
	if !g.strong() {
		groups := g.components(g.won)
		return &NoMaximum{
			Why: fmt.Sprintf("the wins leave %d items in %d groups that never beat each other both ways",
				g.items, len(groups)),
			Components: groups,
		}
	}
	if o.Ties == Davidson {
		if err := outcomesSeen(cells, needTies); err != nil {
			return err
		}
		if g.feasible(g.gaps(cells, ray{tie: 1})) {
			return &NoMaximum{Why: "the ties can be explained by an ever larger tie parameter"}
		}
	}
	if o.Order {
		for _, d := range []float64{1, -1} {
			if g.feasible(g.gaps(cells, ray{order: d})) {
				return &NoMaximum{Why: "the order effect cannot be separated from the strengths"}
			}
			if o.Ties == Davidson && g.feasible(g.gaps(cells, ray{order: 2 * d, tie: 1})) {
				return &NoMaximum{Why: "the order effect and the ties can be explained by ever larger parameters"}
			}
		}
	}
	return nil
}

// penalizedExists is the same for penalised strengths, which are finite whenever they are comparable at all.
func (g *graph) penalizedExists(cells []cell, o BTOptions) error {
	met := make([]float64, len(g.won))
	for k := range met {
		met[k] = g.won[k] + g.lost[k]
	}
	if !g.reachesAll(met) {
		groups := g.components(met)
		return &NoMaximum{
			Why:        fmt.Sprintf("%d items in %d groups that were never compared", g.items, len(groups)),
			Components: groups,
		}
	}
	if o.Firth {
		if o.Order && g.feasible(g.equalities(cells)) {
			return &NoMaximum{Why: "the order effect cannot be separated from the strengths"}
		}
		return nil
	}
	switch { // the penalty bounds strengths only
	case o.Order && o.Ties == Davidson:
		return outcomesSeen(cells, needBothSides|needTies)
	case o.Order:
		return outcomesSeen(cells, needBothSides)
	case o.Ties == Davidson:
		return outcomesSeen(cells, needTies)
	}
	return nil
}

// need is a set of results that must have been seen.
type need uint8

const (
	needTies      need = 1 << iota // a tie and a decision
	needBothSides                  // a win in both positions
)

// outcomesSeen checks that the data hold results of all needed kinds.
func outcomesSeen(cells []cell, needed need) error {
	var first, second, tie float64
	for _, c := range cells {
		first, second, tie = first+c.first, second+c.second, tie+c.tie
	}
	switch {
	case needed&needTies != 0 && tie == 0:
		return &NoMaximum{Why: "a tie parameter was asked for and there is no tie"}
	case needed&needTies != 0 && first+second == 0:
		return &NoMaximum{Why: "every comparison is a tie"}
	case needed == needBothSides && (first+tie == 0 || second+tie == 0),
		needed&needBothSides != 0 && needed&needTies != 0 && (first == 0 || second == 0):
		return &NoMaximum{Why: "one position won every decided comparison"}
	}
	return nil
}

// ray is a direction of the parameters beside the strengths.
type ray struct{ order, tie float64 }

// gaps are the demands that the results make on strengths, should the likelihood not fall along the ray.
func (g *graph) gaps(cells []cell, r ray) []float64 {
	gap := make([]float64, len(g.other))
	for k := range gap {
		gap[k] = math.Inf(-1)
	}
	demand := func(at int32, least float64) { gap[at] = max(gap[at], least) }
	for k, c := range cells {
		forth, back := g.at[k], g.back[g.at[k]]
		if c.first > 0 {
			demand(forth, 2*r.tie-r.order)
		}
		if c.second > 0 {
			demand(back, 2*r.tie+r.order)
		}
		if c.tie > 0 {
			demand(forth, -2*r.tie-r.order)
			demand(back, -2*r.tie+r.order)
		}
	}
	return gap
}

// equalities are the demands under which an order effect is a mere difference of strengths.
func (g *graph) equalities(cells []cell) []float64 {
	gap := make([]float64, len(g.other))
	for k := range gap {
		gap[k] = math.Inf(-1)
	}
	for k, c := range cells {
		if c.n() > 0 {
			forth, back := g.at[k], g.back[g.at[k]]
			gap[forth], gap[back] = max(gap[forth], -1), max(gap[back], 1)
		}
	}
	return gap
}
