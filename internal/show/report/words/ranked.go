package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
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

// domain returns the ends of the axis on which a board draws a ranking; false: there is nothing to draw.
func (r *ranked) domain() (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, q := range r.Places {
		if q.Value.OK && plot.Finite(q.Value.Value) {
			low, high, ok = min(low, q.Value.Value), max(high, q.Value.Value), true
		}
		if b := q.Interval; q.Value.OK && b.OK && plot.Finite(b.Low) && plot.Finite(b.High) {
			low, high = min(low, b.Low), max(high, b.High)
		}
	}
	if r.Unit == analysis.Share && r.What != analysis.WhatExcess {
		low, high = min(low, 0), max(high, 1)
	}
	return low, high, ok && high-low > 1e-9
}

// draw places the value and its interval on a line from the lowest to the highest of all.
func (c *BoardCell) draw(r *ranked, p analysis.Place) {
	low, high, ok := r.domain()
	if !ok || !plot.Finite(p.Value.Value) {
		return
	}
	place := func(x float64) float64 { return math.Round(1000*(x-low)/(high-low)) / 10 }
	c.Drawn, c.At = true, place(p.Value.Value)
	if b := p.Interval; b.OK && plot.Finite(b.Low) && plot.Finite(b.High) {
		c.Whisker, c.From, c.Wide = true, place(b.Low), math.Round(10*(place(b.High)-place(b.Low)))/10
	}
}

// Tick is a mark of an axis, in parts of a hundred.
type Tick struct {
	At    float64
	Text  string
	Minor bool // left out where there is little room
}

// boardTicks is about how many marks the axis of a board has.
const boardTicks = 4

// boardAxis returns the marks of the axis on which a board draws a ranking.
func (r *ranked) boardAxis() []Tick {
	low, high, ok := r.domain()
	if !ok {
		return nil
	}
	unit := r.Unit
	if r.What == analysis.WhatExcess {
		unit = analysis.Gap
	}
	var out []Tick
	list, step := plot.Ticks(low, high, boardTicks)
	for i, v := range list {
		out = append(out, Tick{math.Round(1000*(v-low)/(high-low)) / 10, plot.TickText(unit, v, step), i%2 == 1})
	}
	return out
}

// quality draws what lanes cost against how good a ranking finds them; nil: fewer than two lanes have both.
func (d document) quality(r *ranked) *plot.Figure {
	if r.Field != analysis.ByLane || len(r.Unmet) > 1 {
		return nil
	}
	p := plot.Scatter{Title: "Quality against cost", Up: r.axis(), Unit: r.Unit, Better: plot.More, Narrow: true}
	if r.Less {
		p.Better = plot.Less
	}
	switch {
	case r.What == analysis.WhatExcess:
		p.Unit = analysis.Gap
	case r.Unit == analysis.Share:
		p.Low, p.High = new(float64), new(1.0)
	}
	for _, i := range r.order {
		if cost, ok := d.perThousand(r.Places[i].Name); ok {
			q := r.Places[i]
			p.Points = append(p.Points, plot.ScatterPoint{Name: q.Name, Cost: cost, Value: q.Value.Value, Between: q.Interval, N: q.N})
		}
	}
	if len(p.Points) < 2 {
		return nil
	}
	f := p.Figure()
	if left := len(r.order) - len(p.Points); left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s not drawn: the price is unknown", assay.Count(left, "lane")))
	}
	return f
}

// axis returns what the values of a ranking are, with their unit.
func (r *ranked) axis() string {
	switch {
	case r.What == analysis.WhatStrength:
		return "strength (log-odds)"
	case r.What == analysis.WhatExcess:
		return "giving in under push-back (points over the re-ask)"
	case r.What == analysis.WhatMean:
		return "mean score"
	}
	return "share " + r.measure() + " (%)"
}
