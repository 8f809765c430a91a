package stats

import (
	"slices"
	"sort"
)

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

// newGraph is the graph of all pairs that occur in the cells, filled with them.
func newGraph(items int, cells []cell) *graph {
	g := &graph{items: items, start: make([]int32, items+1), at: make([]int32, len(cells))}
	where := make([]int32, items*items) // first 1 for a pair that met, then where it stands
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

// components are the groups inside which everybody can be reached from everybody along arcs with a positive count
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

// feasible reports whether strengths exist such that every item exceeds each neighbour by at least the gap that stands at
// the arc (minus infinity: no demand). They do unless some cycle of demands adds up to more than nothing.
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
