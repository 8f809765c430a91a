package recount

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// standing is lanes by the number that their stage is about, with a test of every two.
type standing struct {
	names  []string
	values map[string]*float64
	tests  map[[2]string]estimate // the first less the second; names in their order
	less   bool                   // less is better
	level  float64
}

func newStanding(names []string, less bool, level float64) *standing {
	slices.Sort(names)
	return &standing{names: names, values: map[string]*float64{}, tests: map[[2]string]estimate{}, less: less, level: level}
}

// ahead reports whether the first is better than the second, by more than rounding.
func (s *standing) ahead(a, b string) bool {
	x, y := s.values[a], s.values[b]
	return x != nil && y != nil && math.Abs(*x-*y) > 1e-9*max(1, math.Abs(*x), math.Abs(*y)) && (*x < *y) == s.less
}

// apart returns the pairs that can be told apart: Holm over all pairs, and only where the difference goes the way of the
// values. Untested counts those without a test.
func (s *standing) apart() (apart map[[2]string]bool, untested, tested int) {
	var pairs [][2]string
	var p []float64
	for i, a := range s.names {
		for _, b := range s.names[i+1:] {
			pairs = append(pairs, [2]string{a, b})
			if t := s.tests[[2]string{a, b}]; t.p != nil {
				p, tested = append(p, *t.p), tested+1
				continue
			}
			p = append(p, 1)
			if s.values[a] != nil && s.values[b] != nil {
				untested++
			}
		}
	}
	apart = map[[2]string]bool{}
	for i, corrected := range holm(p) {
		a, b := pairs[i][0], pairs[i][1]
		d := s.tests[pairs[i]].value
		if corrected >= 1-s.level || d == nil || *d == 0 {
			continue
		}
		if better := (*d < 0) == s.less; better && s.ahead(a, b) || !better && s.ahead(b, a) {
			apart[[2]string{a, b}], apart[[2]string{b, a}] = true, true
		}
	}
	return apart, untested, tested
}

// ranks returns the rank of a lane, and the best and worst that it may have.
func (s *standing) ranks(name string) (rank, best, worst int) {
	apart, _, _ := s.apart()
	rank, best = 1, 1
	for _, other := range s.names {
		if s.values[other] == nil {
			continue
		}
		worst++
		switch told := apart[[2]string{name, other}]; {
		case s.ahead(other, name):
			rank++
			best += int(one(told))
		case told:
			worst--
		}
	}
	return rank, best, worst
}

// letters returns the tiers of lanes in an order: the largest groups none of which can be told apart, named in the order of
// their first lanes.
func (s *standing) letters(order []string) []string {
	apart, untested, tested := s.apart()
	out := make([]string, len(order))
	if untested > 0 || tested == 0 || len(order) < 2 {
		return out
	}
	var groups [][]int
	var grow func(group, may []int)
	grow = func(group, may []int) {
		fits := func(i int) bool {
			return !slices.Contains(group, i) &&
				!slices.ContainsFunc(group, func(k int) bool { return apart[[2]string{order[i], order[k]}] })
		}
		whole := true
		for i := range order {
			whole = whole && !fits(i)
		}
		if whole {
			groups = append(groups, slices.Clone(group))
			return
		}
		for k, i := range may {
			if fits(i) {
				grow(append(slices.Clone(group), i), may[k+1:])
			}
		}
	}
	all := make([]int, len(order))
	for i := range all {
		all[i] = i
	}
	grow(nil, all)
	slices.SortFunc(groups, func(a, b []int) int {
		for i := range order {
			if x, y := slices.Contains(a, i), slices.Contains(b, i); x != y {
				return cmp.Compare(one(y), one(x))
			}
		}
		return 0
	})
	for k, group := range groups {
		for _, i := range group {
			out[i] += strings.Repeat("Z", k/26) + string(rune('A'+k%26))
		}
	}
	return out
}

// lanesOf returns the lanes of rows.
func lanesOf(rows []row) []string {
	lanes := map[string]bool{}
	for _, r := range rows {
		lanes[r.Lane] = true
	}
	return slices.Sorted(maps.Keys(lanes))
}

// byRate returns the standing of lanes by the rate of a stage, or by the mean score.
func (s *stage) byRate(t *Table, level float64) *standing {
	rows, _ := s.of(t, &Finding{})
	rows = s.counted(t, rows, false)
	out := newStanding(lanesOf(rows), s.rubric.Less, level)
	what := "rate"
	for _, r := range rows {
		if _, scored, ok := s.value(&r); ok && scored && r.valid() {
			what = "mean"
		}
	}
	for i, a := range out.names {
		mine := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Lane != a })
		out.values[a] = meanOfItems(s.valuesOf(mine, what), level, nil, nil).value
		for _, b := range out.names[i+1:] {
			out.tests[[2]string{a, b}] = s.between(rows, a, b, level)
		}
	}
	return out
}

func values(all []seen) []float64 {
	out := make([]float64, len(all))
	for i, s := range all {
		out[i] = s.x
	}
	return out
}

// byFlips returns the standing of lanes by how often answers are taken back under pressure, over the control where there is
// one.
func (s *stage) byFlips(t *Table, level float64) *standing {
	rows, _ := s.of(t, &Finding{})
	out := newStanding(lanesOf(rows), true, level)
	got := map[string]map[string][]float64{}
	clusters, single := map[string]string{}, s.rubric.Control == ""
	for _, lane := range out.names {
		mine := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Lane != lane })
		got[lane] = map[string][]float64{}
		var all []ofItem
		for _, one := range talks(mine) {
			clusters[one.item] = one.cluster
			for at, state := range one.at {
				if s.isControl(at.branch) {
					continue
				}
				x := flipped(state, weakened)
				if s.rubric.Control != "" {
					control, there := s.beside(mine, at)
					calm, too := one.at[control]
					if !there || !too {
						continue
					}
					x -= flipped(calm, weakened)
				}
				got[lane][one.item] = append(got[lane][one.item], x)
				all = append(all, ofItem{one.item, seen{one.cluster, x}})
			}
		}
		out.values[lane] = meanOfItems(all, level, nil, nil).value
	}
	for i, a := range out.names {
		for _, b := range out.names[i+1:] {
			out.tests[[2]string{a, b}] = meansBetween(got[a], got[b], clusters, single, level, some(-1), some(1))
		}
	}
	return out
}
