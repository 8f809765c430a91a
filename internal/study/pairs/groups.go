package pairs

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
)

// grouped is the field on which items meet within their groups only: each group is a field of its own, and their rows follow each other.
type grouped struct {
	groups [][]int64 // items by their places, ascending
	fields []*items
	starts []int64 // by group: the rows before it; last of all, all rows
}

func newGrouped(d Design) *grouped {
	g := &grouped{groups: d.Groups, starts: []int64{0}}
	n := make([]int64, len(d.Groups))
	if d.Pick == Sample {
		n = dealt(d.Groups, d.N)
	}
	for i, members := range d.Groups {
		own := Design{Slots: int64(len(members)), Pick: d.Pick, N: d.N, Seed: seeded(d.Seed, streamGroups, uint64(i))}
		if d.Pick == Sample {
			own.N = n[i]
		}
		f := newItems(own)
		g.fields = append(g.fields, f)
		g.starts = append(g.starts, g.starts[i]+f.rows())
	}
	return g
}

func (g *grouped) rows() int64 { return g.starts[len(g.groups)] }

func (g *grouped) at(row int64) meeting {
	i := sort.Search(len(g.groups), func(i int) bool { return g.starts[i+1] > row })
	m := g.fields[i].at(row - g.starts[i])
	m.low, m.high = g.groups[i][m.low], g.groups[i][m.high]
	return m
}

func (g *grouped) on(slot int64) iter.Seq2[int64, meeting] {
	return func(yield func(int64, meeting) bool) {
		for row := range g.rows() {
			if slot != 0 || !yield(row, g.at(row)) {
				return
			}
		}
	}
}

// dealt returns how many of n pairs each group gets: such that every item of all groups meets equally many others, as far as its group has
// as many. More pairs in all are never fewer for a group.
func dealt(groups [][]int64, n int64) []int64 {
	out := make([]int64, len(groups))
	// The k-th pair of a group, from 0, comes at (k+1/2)/items: up to a time, each group has had its share.
	until := func(t float64) (sum int64) {
		for i, g := range groups {
			out[i] = min(int64(math.Floor(t*float64(len(g))+0.5)), choose2(int64(len(g))))
			sum += out[i]
		}
		return sum
	}
	low, high := 0.0, 1.0
	for _, g := range groups {
		high = max(high, float64(len(g)))
	}
	if until(high) <= n {
		return out // all there are
	}
	for range 100 {
		if middle := (low + high) / 2; until(middle) <= n {
			low = middle
		} else {
			high = middle
		}
	}
	left := n - until(low)
	next := make([]int, len(groups))
	for i := range next {
		next[i] = i
	}
	slices.SortStableFunc(next, func(a, b int) int {
		return cmp.Compare((float64(out[a])+0.5)/float64(len(groups[a])), (float64(out[b])+0.5)/float64(len(groups[b])))
	})
	for _, i := range next {
		if left > 0 && out[i] < choose2(int64(len(groups[i]))) {
			out[i]++
			left--
		}
	}
	return out
}
