package report

import (
	"cmp"
	"slices"
	"strings"

	"assay/analysis"
	"assay/stats"
)

// ranked is a standing in order, with its tests corrected for there being many.
type ranked struct {
	*analysis.Standing
	order  []int // places with a value, the best first
	tested bool  // differences were tested
	apart  map[[2]int]bool
	tiers  [][]int // groups of each of order; nil: none
}

// rank orders a standing and corrects its tests (Holm, over all pairs). A test without a p-value counts as one that shows nothing.
func rank(s *analysis.Standing) *ranked {
	r := &ranked{Standing: s, apart: map[[2]int]bool{}}
	for i, p := range s.Places {
		if p.Value.OK {
			r.order = append(r.order, i)
		}
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return r.better(a, b) })
	p := make([]float64, len(s.Tests))
	for k, t := range s.Tests {
		p[k] = 1
		if t.P.OK {
			p[k], r.tested = t.P.Value, true
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil || !r.tested {
		r.tested = false
		return r
	}
	for k, t := range s.Tests {
		if adjusted[k] < 1-s.Level && r.agrees(t) {
			r.apart[[2]int{t.First, t.Second}], r.apart[[2]int{t.Second, t.First}] = true, true
		}
	}
	if tiers, ok := stats.Letters(len(r.order), func(i, j int) bool { return r.apart[[2]int{r.order[i], r.order[j]}] }); ok {
		r.tiers = tiers
	}
	return r
}

// better orders two places: the one with the better value first.
func (r *ranked) better(a, b int) int {
	x, y := r.Places[a].Value.Value, r.Places[b].Value.Value
	if r.Less {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(y, x)
}

// agrees reports whether a difference on the items that both have goes the way of the values: else it is not said.
func (r *ranked) agrees(t analysis.Contrast) bool {
	order := r.better(t.First, t.Second)
	ahead := t.Difference.Value > 0 != r.Less
	return t.Difference.OK && t.Difference.Value != 0 && order != 0 && ahead == (order < 0)
}

// differ reports whether two places can be told apart.
func (r *ranked) differ(a, b int) bool { return r.apart[[2]int{a, b}] }

// top are the places that cannot be told apart from the best, the best first; clique: nor from each other.
func (r *ranked) top() (places []int, clique bool) {
	clique = true
	for _, i := range r.order {
		if r.differ(r.order[0], i) {
			continue
		}
		for _, k := range places {
			clique = clique && !r.differ(k, i)
		}
		places = append(places, i)
	}
	return places, clique
}

// tier is the letters of the place that stands k-th; empty: there are none.
func (r *ranked) tier(k int) string {
	if r.tiers == nil {
		return ""
	}
	var b strings.Builder
	for _, g := range r.tiers[k] {
		for ; g >= 26; g -= 26 {
			b.WriteByte('Z')
		}
		b.WriteByte(byte('A' + g))
	}
	return b.String()
}

// label is the stage, and the group where there are several.
func (r *ranked) label() string {
	text := r.Stage
	for _, v := range r.By {
		text += ", " + v.Field + " " + v.Value
	}
	return text
}

// shownOf is the number that is said of a place: of comparisons the share won, which is easier to grasp than a strength.
func (r *ranked) shownOf(place int) float64 {
	p := r.Places[place]
	if r.What == analysis.WhatStrength && p.Share.OK {
		return p.Share.Value
	}
	return p.Value.Value
}

// median is the typical error of a difference; false where none is known.
func (r *ranked) medianError() (float64, bool) {
	var all []float64
	for _, t := range r.Tests {
		if t.SE.OK && t.SE.Value > 0 {
			all = append(all, t.SE.Value)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}
