package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/plot"
)

// ranked is a leaderboard in order, with its tests corrected for there being many.
type ranked struct {
	*analysis.Leaderboard
	order  []int // places with a value, the best first
	tested bool  // differences were tested
	apart  map[[2]int]bool
	known  map[[2]int]bool // pairs whose test has a p-value
	tiers  [][]int         // groups of each of order; nil: none
}

// rank orders a leaderboard and corrects its tests (Holm, over all pairs). A pair without a p-value is neither apart nor
// alike: it is not known, and where there is one there are no tiers, because a shared letter would mean that the two
// were tested.
func rank(s *analysis.Leaderboard) *ranked {
	r := &ranked{Leaderboard: s, known: map[[2]int]bool{}}
	for _, i := range s.Order() {
		if s.Places[i].Value.OK {
			r.order = append(r.order, i)
		}
	}
	for _, t := range s.Tests {
		if t.P.OK {
			r.known[[2]int{t.First, t.Second}], r.known[[2]int{t.Second, t.First}] = true, true
		}
	}
	if r.apart, r.tested = s.Apart(); !r.tested {
		return r
	}
	if untested, _ := r.untested(); untested > 0 {
		return r
	}
	if tiers, ok := stats.Letters(len(r.order), func(i, j int) bool { return r.apart[[2]int{r.order[i], r.order[j]}] }); ok {
		r.tiers = tiers
	}
	return r
}

// differ reports whether two places can be told apart.
func (r *ranked) differ(a, b int) bool { return r.apart[[2]int{a, b}] }

// untested counts the pairs of places with a value whose difference could not be tested, of all such pairs.
func (r *ranked) untested() (n, all int) {
	for k, i := range r.order {
		for _, j := range r.order[:k] {
			if all++; !r.known[[2]int{i, j}] {
				n++
			}
		}
	}
	return n, all
}

// unknown returns the places of which it is not known whether they differ from the best.
func (r *ranked) unknown() []int {
	var out []int
	for _, i := range r.order[min(1, len(r.order)):] {
		if !r.known[[2]int{r.order[0], i}] {
			out = append(out, i)
		}
	}
	return out
}

// top returns the best and the places that were tested and cannot be told apart from it, the best first; clique: nor
// from each other.
func (r *ranked) top() (places []int, clique bool) {
	clique = true
	for _, i := range r.order {
		if i != r.order[0] && (r.differ(r.order[0], i) || !r.known[[2]int{r.order[0], i}]) {
			continue
		}
		for _, k := range places {
			clique = clique && !r.differ(k, i) && r.known[[2]int{k, i}]
		}
		places = append(places, i)
	}
	return places, clique
}

// tier returns the letters of the k-th place; empty: there are none.
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

// label returns the stage, and the group where there are several.
func (r *ranked) label() string {
	text := r.Stage
	for _, v := range r.By {
		text += ", " + v.Field + " " + v.Value
	}
	return text
}

// shownOf returns the number shown for a place: of comparisons the share won, which is easier to grasp than a
// strength.
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

// leader returns the primary leaderboard, else the first that ranks anything, else the first.
func leader(all []*ranked) *ranked {
	for _, yes := range []func(*ranked) bool{
		func(r *ranked) bool { return r.Primary && len(r.order) > 0 },
		func(r *ranked) bool { return r.Primary },
		func(r *ranked) bool { return len(r.order) > 0 },
	} {
		for _, r := range all {
			if yes(r) {
				return r
			}
		}
	}
	return all[0]
}

// others returns all but the first.
func others(lead *ranked, all []*ranked) []*ranked {
	return slices.DeleteFunc(slices.Clone(all), func(r *ranked) bool { return r == lead })
}

// wins reports whether places are shown by the share of comparisons that they won.
func (r *ranked) wins() bool { return r.What == analysis.WhatStrength || r.What == analysis.WhatWin }

// Join is how a bracket runs through a row: brackets join what cannot be told apart.
type Join string

// The parts of a bracket.
const (
	JoinNone  Join = ""
	JoinFirst Join = "first"
	JoinIn    Join = "in"
	JoinGap   Join = "gap" // between rows that it joins, and not about this one
	JoinLast  Join = "last"
)

// maxBrackets is how many brackets stand side by side; more would not be read, and ranks tell the same.
const maxBrackets = 8

// brackets returns for each place in order how brackets run through its row, side by side; nil: there are none, or too many.
func (r *ranked) brackets() [][]Join {
	groups := map[int][]int{}
	last := -1
	for k, own := range r.tiers {
		for _, g := range own {
			groups[g] = append(groups[g], k)
			last = max(last, g)
		}
	}
	out := make([][]Join, len(r.tiers))
	var ends []int // of the columns
	for g := 0; g <= last; g++ {
		rows := groups[g]
		if len(rows) < 2 {
			continue
		}
		column := 0
		for column < len(ends) && ends[column]+1 >= rows[0] { // a row lies between two brackets of a column
			column++
		}
		if column == maxBrackets {
			return nil
		}
		if column == len(ends) {
			ends = append(ends, 0)
			for k := range out {
				out[k] = append(out[k], JoinNone)
			}
		}
		ends[column] = rows[len(rows)-1]
		for k := rows[0]; k <= rows[len(rows)-1]; k++ {
			out[k][column] = JoinGap
		}
		for _, k := range rows {
			out[k][column] = JoinIn
		}
		out[rows[0]][column], out[rows[len(rows)-1]][column] = JoinFirst, JoinLast
	}
	return out
}

// rankText returns the ranks that the k-th place may have: how many are shown to be better, and how many to be worse.
func (r *ranked) rankText(k int) string {
	if p := r.Places[r.order[k]]; p.Rank != nil {
		return ranksOf(p.Rank)
	}
	if r.tiers == nil {
		return plot.NoneText
	}
	at := stats.RankInterval{Best: 1, Worst: len(r.order)}
	for j, i := range r.order {
		switch {
		case !r.differ(r.order[k], i):
		case j < k:
			at.Best++
		case j > k:
			at.Worst--
		}
	}
	if at.Best == at.Worst {
		return strconv.Itoa(at.Best)
	}
	return ranksOf(&at)
}

// ranksOf returns the ranks that a place may have.
func ranksOf(r *stats.RankInterval) string {
	switch {
	case r == nil:
		return plot.NoneText
	case r.Best == r.Worst:
		return strconv.Itoa(r.Best)
	}
	return fmt.Sprintf("%d–%d", r.Best, r.Worst)
}
