package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// NoMaximum is the error of a fit whose likelihood has no finite, unique maximum: there is no estimate to print.
type NoMaximum struct {
	Why string
	// Components are the groups of items that can be ranked inside, when the wins leave the items in several: between
	// two groups all wins go one way, or nothing was compared.
	Components [][]int
}

// Error returns the reason why there is no estimate.
func (e *NoMaximum) Error() string { return "no finite estimate of strengths: " + e.Why }

// Components returns the groups of items inside which strengths can be estimated, each ascending: everybody can be
// reached from everybody along wins, a tie counting both ways. One group means that all items can be ranked together.
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

// gaps returns the demands that the results make on strengths, should the likelihood not fall along the ray.
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

// equalities returns the demands under which an order effect is a mere difference of strengths.
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

// graph is who won how often against whom, by item, a tie worth half a win to both. Its shape is made once; its counts
// can be filled again for every resample.
type graph struct {
	items     int
	start     []int32 // neighbours of i are at start[i] up to start[i+1]
	other     []int32 // the neighbour
	back      []int32 // where the neighbour holds i
	won, lost []float64
	at        []int32 // where the first item of a cell holds the second
}

// newGraph returns the graph of all pairs that occur in the cells, filled with them.
func newGraph(items int, cells []cell) *graph {
	g := &graph{items: items, start: make([]int32, items+1), at: make([]int32, len(cells))}
	where := make([]int32, items*items) // first 1 for a pair that met, then its index
	for _, c := range cells {
		where[int(c.i)*items+int(c.j)], where[int(c.j)*items+int(c.i)] = 1, 1
	}
	g.other = make([]int32, 0, min(2*len(cells), items*items))
	for i := range items {
		for j, met := range where[i*items : (i+1)*items] {
			if met > 0 {
				where[i*items+j] = int32(len(g.other))
				g.other = append(g.other, int32(j))
			}
		}
		g.start[i+1] = int32(len(g.other))
	}
	g.back = make([]int32, len(g.other))
	for i := range items {
		for k := g.start[i]; k < g.start[i+1]; k++ {
			g.back[k] = where[int(g.other[k])*items+i]
		}
	}
	for k, c := range cells {
		g.at[k] = where[int(c.i)*items+int(c.j)]
	}
	g.won, g.lost = make([]float64, len(g.other)), make([]float64, len(g.other))
	g.fill(cells)
	return g
}

func arc(from, to int32) uint64 { return uint64(from)<<32 | uint64(to) }

// fill replaces the counts by those of the same cells with other numbers in them.
func (g *graph) fill(cells []cell) {
	clear(g.won)
	for k, c := range cells {
		half := c.tie / 2
		g.won[g.at[k]] += c.first + half
		g.won[g.back[g.at[k]]] += c.second + half
	}
	for k := range g.lost {
		g.lost[k] = g.won[g.back[k]]
	}
}

// strong reports whether everybody can be reached from everybody along wins.
func (g *graph) strong() bool { return g.reachesAll(g.won) && g.reachesAll(g.lost) }

// reachesAll walks from item 0 along arcs with a positive count.
func (g *graph) reachesAll(count []float64) bool {
	seen := make([]bool, g.items)
	seen[0] = true
	queue, found := []int32{0}, 1
	for len(queue) > 0 && found < g.items {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for k := g.start[i]; k < g.start[i+1]; k++ {
			if j := g.other[k]; count[k] > 0 && !seen[j] {
				seen[j] = true
				found++
				queue = append(queue, j)
			}
		}
	}
	return found == g.items
}

// components returns the groups inside which everybody can be reached from everybody along arcs with a positive count
// (Tarjan's algorithm with its own stack), each ascending, in the order of their first members.
func (g *graph) components(count []float64) [][]int {
	const unseen = -1
	depth, low := make([]int32, g.items), make([]int32, g.items)
	for i := range depth {
		depth[i] = unseen
	}
	placed, next := make([]bool, g.items), slices.Clone(g.start[:g.items])
	var groups [][]int
	var path, open []int32
	clock := int32(0)
	for root := range int32(g.items) {
		if depth[root] != unseen {
			continue
		}
		for path = append(path[:0], root); len(path) > 0; {
			i := path[len(path)-1]
			if depth[i] == unseen {
				depth[i], low[i] = clock, clock
				clock++
				open = append(open, i)
			}
			if k := next[i]; k < g.start[i+1] {
				next[i]++
				switch j := g.other[k]; {
				case count[k] <= 0 || placed[j]:
				case depth[j] == unseen:
					path = append(path, j)
				default:
					low[i] = min(low[i], depth[j])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				low[up] = min(low[up], low[i])
			}
			if low[i] == depth[i] {
				at := slices.Index(open, i)
				groups = append(groups, take(open[at:], placed))
				open = open[:at]
			}
		}
	}
	sort.Slice(groups, func(i, j int) bool { return groups[i][0] < groups[j][0] })
	return groups
}

// take closes a component.
func take(members []int32, placed []bool) []int {
	group := make([]int, len(members))
	for k, i := range members {
		placed[i] = true
		group[k] = int(i)
	}
	slices.Sort(group)
	return group
}

// feasible reports whether strengths exist such that every item exceeds each neighbour by at least the gap that is
// given at the arc (minus infinity: no demand). They do unless some cycle of demands adds up to more than nothing.
func (g *graph) feasible(gap []float64) bool {
	for k := range gap { // nearly always two items contradict each other already
		if gap[k]+gap[g.back[k]] > 0 {
			return false
		}
	}
	strength := make([]float64, g.items)
	for range g.items {
		moved := false
		for i := range g.items {
			for k := g.start[i]; k < g.start[i+1]; k++ {
				if need := strength[g.other[k]] + gap[k]; need > strength[i] {
					strength[i], moved = need, true
				}
			}
		}
		if !moved {
			return true
		}
	}
	return false
}
