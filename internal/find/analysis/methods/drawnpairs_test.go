package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// meetings is a study in which every two lanes are compared on every item, by a judge that adds something to each, and by people on
// the items that were drawn.
type meetings struct {
	items, drawn int
	good, lean   []float64 // of lanes: how good they are, and what the judge adds
	both         bool      // the judge sees both orders
	declared     bool      // labels come with their probabilities, in place of a draw
}

// truth returns the share of its comparisons that a lane would win by people, on endless items.
func (m meetings) truth(lane int) float64 {
	sum := 0.0
	for other, g := range m.good {
		if other != lane {
			sum += stats.NormalBelow((m.good[lane] - g) / 1.5)
		}
	}
	return sum / float64(len(m.good)-1)
}

func (m meetings) lanes() (out []string) {
	for i := range m.good {
		out = append(out, fmt.Sprint("lane", i))
	}
	return out
}

// rows returns the verdicts of the judge, what people would say of every pair, and by item how often the first of two wins.
func (m meetings) rows(r *rand.Rand) (rows []analysis.Row, people map[string][]analysis.Row, items []analysis.Judgeable) {
	lanes, people := m.lanes(), map[string][]analysis.Row{}
	label := func(gain float64) string {
		if gain > 0 {
			return "a"
		}
		return "b"
	}
	for i := range m.items {
		item, quality, won, n := fmt.Sprintf("q%03d", i), make([]float64, len(lanes)), 0.0, 0.0
		for k := range lanes {
			quality[k] = m.good[k] + r.NormFloat64()
		}
		for b := range lanes {
			for a := range b {
				gain := quality[a] - quality[b]
				people[item] = append(people[item], by("human:anna", met(lanes[a], lanes[b], item, label(gain+0.5*r.NormFloat64()))))
				for _, sign := range []float64{1, -1} {
					seen := gain + m.lean[a] - m.lean[b] + r.NormFloat64()
					row := met(lanes[a], lanes[b], item, label(seen))
					if sign < 0 {
						row = met(lanes[b], lanes[a], item, label(-seen))
					}
					if sign > 0 || m.both {
						rows, n = append(rows, row), n+1
						won += map[bool]float64{true: 1}[seen > 0]
					}
				}
			}
		}
		items = append(items, analysis.Judgeable{Item: item, Mean: won / n, Places: 1})
	}
	return rows, people, items
}

func (m meetings) report(t *testing.T, seed uint64) *analysis.Report {
	t.Helper()
	rows, said, items := m.rows(rand.New(rand.NewPCG(35, seed)))
	draw := &analysis.Draw{Seed: seed, Lanes: m.lanes()}
	draw.Add(items, 0)
	var people []analysis.Row
	for _, item := range draw.Order()[:m.drawn] {
		of := draw.Drawn(item)
		for _, row := range said[item] {
			if row.Drawn = !m.declared; m.declared {
				row.Probability = float64(m.drawn) / float64(m.items)
			}
			if slices.Contains(of, row.Lane) && slices.Contains(of, row.Other) {
				people = append(people, row)
			}
		}
	}
	stage := arena()
	stage.Judges, stage.Validated, stage.People = []string{"judge"}, false, []string{"human:anna"}
	if stage.Draw = draw; m.declared {
		stage.Draw = nil
	}
	specs := []analysis.Spec{{Method: analysis.Ranking}, {Method: analysis.Validity}}
	return judgedAgainst(t, stage, specs, people, append(rows, people...))
}

// TestSharesOfWinsAreCorrectedByDrawnPairs: the first two of four lanes are as good as each other, and the judge leans to the first.
func TestSharesOfWinsAreCorrectedByDrawnPairs(t *testing.T) {
	t.Parallel()
	study := meetings{items: 200, drawn: 60, good: []float64{.3, .3, 0, -.3}, lean: []float64{.5, 0, 0, 0}}
	const studies = 60
	var values, differences, held, apart, alone, corrected, named int
	for seed := range uint64(studies) {
		study.both = seed%2 == 0
		b := board(t, study.report(t, seed))
		if b.What != analysis.WhatWin || b.Unit != analysis.Share || b.Checked.Labels != 360 {
			t.Fatalf("ranked by %s in %s with %d labels", b.What, b.Unit, b.Checked.Labels)
		}
		for i, p := range b.Places {
			values++
			if p.Interval.Contains(study.truth(i)) {
				held++
			}
		}
		for _, d := range b.Tests {
			differences++
			if d.Interval.Contains(study.truth(d.First) - study.truth(d.Second)) {
				apart++
			}
		}
		if told, _ := b.Apart(); told[[2]int{0, 1}] {
			corrected++
		}
		if b.Checked.State == checked.FavoursLanes {
			named++
		}
		unlabelled := study
		unlabelled.drawn = 0
		judged := board(t, unlabelled.report(t, seed))
		if told, _ := judged.Apart(); told[[2]int{0, 1}] {
			alone++
		}
	}
	if held < values*94/100 || apart < differences*94/100 {
		t.Errorf("%d of %d intervals of values hold, %d of %d of differences", held, values, apart, differences)
	}
	if alone < studies*3/4 || corrected > studies/10 || named < studies*3/4 {
		t.Errorf("of %d studies the judge alone tells equal lanes apart in %d, corrected shares in %d; that it favours is named in %d",
			studies, alone, corrected, named)
	}
}

// TestSharesByPeopleAreThemselvesWhereTheyLabelledAll: with labels on every pair the corrected share is what people said.
func TestSharesByPeopleAreThemselvesWhereTheyLabelledAll(t *testing.T) {
	t.Parallel()
	for _, declared := range []bool{false, true} {
		study := meetings{items: 60, drawn: 60, good: []float64{.6, 0, -.2}, lean: []float64{0, .4, 0}, declared: declared}
		r := study.report(t, 7)
		b := board(t, r)
		_, said, _ := study.rows(rand.New(rand.NewPCG(35, 7)))
		for _, p := range b.Places {
			won, n := 0.0, 0.0
			for _, rows := range said {
				for _, row := range rows {
					if row.Lane == p.Name || row.Other == p.Name {
						if n++; row.Label == "a" == (row.Lane == p.Name) {
							won++
						}
					}
				}
			}
			if math.Abs(p.Value.Value-won/n) > 1e-9 {
				t.Errorf("declared %v: %s has %v, people say %v", declared, p.Name, p.Value, won/n)
			}
			if f := find(t, r, analysis.WhatTrueWins, analysis.ByLane, p.Name); f.Value != p.Value || f.Unit != analysis.Share {
				t.Errorf("declared %v: %s has %v in the table", declared, p.Name, f)
			}
			if math.Abs(p.Judge.Value-p.Value.Value) < 1e-9 {
				t.Errorf("%s: the judge says the same", p.Name)
			}
		}
	}
}

// TestFourOfManyLanesAreComparedOnAnItem: of six lanes four are drawn for each item, and the shares are those among all.
func TestFourOfManyLanesAreComparedOnAnItem(t *testing.T) {
	t.Parallel()
	study := meetings{items: 150, drawn: 60, good: []float64{.8, .4, 0, 0, -.4, -.8}, lean: []float64{0, 0, .6, 0, 0, 0}}
	held, n, sum := 0, 0, 0.0
	for seed := range uint64(20) {
		for i, p := range board(t, study.report(t, seed)).Places {
			if n++; p.Interval.Contains(study.truth(i)) {
				held++
			}
			if i == 2 {
				sum += p.Value.Value
			}
		}
	}
	if held < n*94/100 || math.Abs(sum/20-study.truth(2)) > 0.02 {
		t.Errorf("%d of %d hold; the one that is favoured has %.3f, in truth %.3f", held, n, sum/20, study.truth(2))
	}
}
