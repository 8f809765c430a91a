package answers

import (
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// maxPaired is how many lanes are all compared with each other; beyond, the one that did best is compared with each.
const maxPaired = 10

// differences returns the table of all differences; nil where there are no two lanes.
func (s *rates) differences() (*analysis.Table, error) {
	p := s.pairing
	if p.Lanes.Len() < 2 {
		return nil, nil
	}
	t := &analysis.Table{Title: "differences between lanes", By: append([]string{analysis.ByLane, analysis.ByAgainst}, p.Groups.Fields...),
		Coverage: s.groups.Totals()}
	lanes := p.Lanes.Sorted()
	for _, g := range p.Groups.Sorted() {
		two := everyTwo(lanes)
		if len(lanes) > maxPaired {
			two = bestAndEach(g.Data, lanes)
			t.Note("more than %d lanes: the best one, %s, against each; it was chosen by these numbers", maxPaired, p.Lanes.Text(two[0][0]))
		}
		for _, ab := range two {
			a, b := ab[0], ab[1]
			f, err := p.Difference(g.Data, a, b)
			if err != nil {
				return nil, err
			}
			f.By = append([]analysis.Value{{Field: analysis.ByLane, Value: p.Lanes.Text(a)},
				{Field: analysis.ByAgainst, Value: p.Lanes.Text(b)}}, g.By(p.Groups.Fields)...)
			f.Coverage = s.coverageOf(g.By(p.Groups.Fields), p.Lanes.Text(a), p.Lanes.Text(b))
			t.Findings = append(t.Findings, f.Finding)
		}
	}
	return t, nil
}

// everyTwo returns all pairs of lanes.
func everyTwo(lanes []uint32) [][2]uint32 {
	var out [][2]uint32
	for i, a := range lanes {
		for _, b := range lanes[i+1:] {
			out = append(out, [2]uint32{a, b})
		}
	}
	return out
}

// bestAndEach pairs the lane with the highest mean with each other one.
func bestAndEach(d *gather.LaneItems, lanes []uint32) [][2]uint32 {
	best, most := lanes[0], math.Inf(-1)
	for _, l := range lanes {
		if int(l) >= len(d.Sums) || d.Sums[l].Items.Len() == 0 {
			continue
		}
		var t stats.Total
		for k := range d.Sums[l].Items.Len() {
			t.Add(d.Sums[l].Mean(k))
		}
		if mean := t.Sum / float64(t.N); mean > most {
			best, most = l, mean
		}
	}
	var out [][2]uint32
	for _, l := range lanes {
		if l != best {
			out = append(out, [2]uint32{best, l})
		}
	}
	return out
}

// coverageOf adds up the coverage of two lanes.
func (s *rates) coverageOf(rest []analysis.Value, lanes ...string) analysis.Coverage {
	var c analysis.Coverage
	for _, g := range s.groups.Index {
		same := true
		for _, v := range g.By(s.Spec.By) {
			same = same && (v.Field == analysis.ByLane && slices.Contains(lanes, v.Value) ||
				v.Field != analysis.ByLane && slices.Contains(rest, v))
		}
		if same {
			c = c.Plus(g.Cover.WithMissing())
		}
	}
	return c
}

// leaderboard ranks lanes by the rates or means of a table, on the same items.
func (s *rates) leaderboard(t *analysis.Table) error {
	p := s.pairing
	if !s.Spec.RanksLanes(s.Stage) {
		return nil
	}
	out := analysis.Leaderboard{Field: analysis.ByLane, What: analysis.WhatRate, Unit: analysis.Share, Labels: s.yes,
		Less: s.Stage.LessIsBetter(), Flips: s.Stage.Flips, First: s.Stage.Each}
	if s.scored && !p.Rated {
		out.What, out.Unit = analysis.WhatMean, analysis.Score
	}
	for i := range t.Findings {
		if f := &t.Findings[i]; f.What == out.What {
			out.Places = append(out.Places,
				analysis.Place{Name: f.Of(analysis.ByLane), Value: f.Value, SE: f.SE, Interval: f.Interval, N: f.N, Coverage: f.Coverage})
		}
	}
	if len(out.Places) == 0 {
		return nil
	}
	var err error
	for _, g := range p.Groups.Sorted() { // there is one, or none where nothing is valid
		err = p.Contrasts(&out, func(a, b uint32) (gather.Difference, error) { return p.Difference(g.Data, a, b) })
	}
	out.Verb = s.Stage.Verb
	if two, uneven := out.Uneven(); uneven {
		t.Note("%s and %s do not have the same items: these values differ by more than on those that both have",
			out.Places[two.First].Name, out.Places[two.Second].Name)
	}
	t.Leaderboards = append(t.Leaderboards, out)
	return err
}
