package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// dealt are comparisons of lanes in which the first of each two wins so many of a hundred.
func dealt(wins map[[2]string]int) []analysis.Row {
	var rows []analysis.Row
	for two, won := range wins {
		for i := range 100 {
			first, second, label := two[0], two[1], "b"
			if i < won {
				label = "a"
			}
			if i%2 == 1 { // shown the other way round
				first, second, label = second, first, map[string]string{"a": "b", "b": "a"}[label]
			}
			rows = append(rows, met(first, second, fmt.Sprintf("%02d", (i*37)%100), label))
		}
	}
	return rows
}

func TestCirclesAndMisfitsAreNamed(t *testing.T) {
	t.Parallel()
	// Paper, scissors and stone beat each other in a circle; well loses to all three.
	r := report(t, arena(), []analysis.Spec{{Method: analysis.BradleyT}}, dealt(map[[2]string]int{
		{"paper", "stone"}: 80, {"stone", "scissors"}: 78, {"scissors", "paper"}: 75, {"paper", "well"}: 70, {"stone", "well"}: 70,
		{"scissors", "well"}: 70,
	}))
	f := find(t, r, analysis.WhatCircles)
	if f.Value.Value != 0.25 || f.Counts[0].N != 1 || f.Counts[1].N != 4 {
		t.Errorf("%+v", f)
	}
	f = find(t, r, analysis.WhatCircle)
	if name := f.Of(analysis.ByCircle); name != "paper > stone > scissors > paper" || math.Abs(f.Value.Value-0.75) > 1e-9 || !f.P.OK ||
		f.P.Value > 1e-4 || len(f.Notes) > 0 {
		t.Errorf("%s: %+v", name, f)
	}
	misfits := 0
	for _, f := range r.Tables[0].Findings {
		if f.What != analysis.WhatMisfit {
			continue
		}
		misfits++
		// all three are about equally strong
		if f.Of(analysis.ByLane) == "paper" && f.Of(analysis.ByAgainst) == "stone" && math.Abs(f.Value.Value-0.3) > 0.05 {
			t.Errorf("%+v", f.Value)
		}
	}
	if d := find(t, r, analysis.WhatDeviance); misfits != 3 || !d.P.OK || d.P.Value > 1e-6 {
		t.Errorf("%d misfits, deviance %+v", misfits, d)
	}
}

func TestStrengthsThatFitHaveNoMisfits(t *testing.T) {
	t.Parallel()
	r := report(t, arena(), []analysis.Spec{{Method: analysis.BradleyT}},
		dealt(map[[2]string]int{{"a", "b"}: 60, {"b", "c"}: 60, {"a", "c"}: 69}))
	if d := find(t, r, analysis.WhatDeviance); !d.P.OK || d.P.Value < 0.05 {
		t.Errorf("deviance %+v", d)
	}
	if !strings.Contains(strings.Join(r.Tables[0].Notes, "; "), "no pair departs from its strengths") {
		t.Errorf("%q", r.Tables[0].Notes)
	}
	if f := find(t, r, analysis.WhatCircles); f.Value.Value != 0 {
		t.Errorf("%+v", f)
	}
	two := report(t, arena(), []analysis.Spec{{Method: analysis.BradleyT}}, dealt(map[[2]string]int{{"a", "b"}: 60}))
	if d := find(t, two, analysis.WhatDeviance); d.P.OK {
		t.Errorf("two always fit: %+v", d)
	}
	for _, f := range two.Tables[0].Findings {
		if f.What == analysis.WhatCircles || f.What == analysis.WhatMisfit {
			t.Errorf("two lanes have %+v", f)
		}
	}
}

func TestPlacesHaveRanksAndChances(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 4))
	var rows []analysis.Row
	for i := range 200 {
		for lane, rate := range map[string]float64{"good": 0.9, "fair": 0.87, "bad": 0.3} {
			label := "wrong"
			if rng.Float64() < rate {
				label = "right"
			}
			rows = append(rows, said(lane, fmt.Sprint(i), label))
		}
	}
	r := report(t, correct(), []analysis.Spec{{Method: analysis.Rates}}, rows)
	sum := 0.0
	ranks := map[string]stats.RankInterval{}
	for _, lane := range []string{"good", "fair", "bad"} {
		f := find(t, r, analysis.WhatRate, "lane", lane)
		if !f.Best.OK || f.Rank == nil {
			t.Fatalf("%s: %+v", lane, f)
		}
		sum, ranks[lane] = sum+f.Best.Value, *f.Rank
	}
	near(t, "all chances", 1, sum, 1e-9)
	if bad := find(t, r, analysis.WhatRate, "lane", "bad"); bad.Best.Value > 0.001 ||
		ranks["bad"] != (stats.RankInterval{Rank: 3, Best: 3, Worst: 3}) || ranks["good"].Worst != 2 {
		t.Errorf("%+v, %+v", bad.Best, ranks)
	}
	// Two that cannot be told from each other by their answers share the chance; where nothing varies, it is even.
	var same []analysis.Row
	for i := range 30 {
		same = append(same, said("a", fmt.Sprint(i), "right"), said("b", fmt.Sprint(i), "right"))
	}
	for _, lane := range []string{"a", "b"} {
		if f := find(t, report(t, correct(), []analysis.Spec{{Method: analysis.Rates}}, same), analysis.WhatRate, "lane",
			lane); f.Best.OK && f.Best.Value != 0.5 {
			t.Errorf("%s of two that are all right: %+v", lane, f.Best)
		}
	}
}

// Where pairs of lanes share more or fewer items, chances are as wide as the fewest allow: with Student's t of 4 − 1, not of 60 − 1.
func TestChancesAreAsWideAsTheFewestItemsAllow(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 60 {
		for lane, wrong := range map[string]bool{"a": i%3 == 0, "b": i%3 == 1 || i%20 == 0, "c": i == 2} {
			if lane == "c" && i > 3 {
				continue
			}
			rows = append(rows, said(lane, fmt.Sprintf("q%02d", i), map[bool]string{true: "wrong", false: "right"}[wrong]))
		}
	}
	s := report(t, correct(), []analysis.Spec{{Method: analysis.Rates}}, rows).Leaderboards[0]
	var values []float64
	for _, p := range s.Places {
		values = append(values, p.Value.Value)
	}
	errors := map[[2]int]stats.Number{}
	counts := map[int]int{}
	for _, c := range s.Tests {
		errors[[2]int{c.First, c.Second}], errors[[2]int{c.Second, c.First}] = c.SE, c.SE
		counts[c.Clusters]++
	}
	if counts[4] != 2 || counts[60] != 1 {
		t.Fatalf("pairs by clusters: %v", counts)
	}
	between := func(i, j int) stats.Number { return errors[[2]int{i, j}] }
	want, sharp := stats.BestChances(values, between, 4, 10_000, 1), stats.BestChances(values, between, 60, 10_000, 1)
	for i, p := range s.Places {
		near(t, "chance of "+p.Name, want[i].Value, p.Best.Value, 0)
		if !p.Best.OK || want[i] == sharp[i] {
			t.Errorf("%s: %+v, with most clusters %+v", p.Name, p.Best, sharp[i])
		}
	}
}

func TestAJudgeThatDisagreesIsNamed(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Judges = []string{"one", "two", "odd"}
	rng := rand.New(rand.NewPCG(1, 6))
	var rows []analysis.Row
	agree := map[string]float64{}
	for i := range 200 {
		right := rng.Float64() < 0.5
		said := map[string]string{}
		for judge, errs := range map[string]float64{"one": 0.05, "two": 0.05, "odd": 0.4} {
			label := map[bool]string{true: "right", false: "wrong"}[right != (rng.Float64() < errs)]
			r := verdictOn("a", fmt.Sprint(i), label)
			r.Judge = judge
			rows = append(rows, r)
			said[judge] = label
		}
		for _, two := range [][2]string{{"one", "two"}, {"one", "odd"}, {"two", "odd"}} {
			if said[two[0]] == said[two[1]] {
				agree[two[0]] += 0.5 / 200
				agree[two[1]] += 0.5 / 200
			}
		}
	}
	r := report(t, stage, []analysis.Spec{{Method: analysis.Agreement}}, rows)
	for judge, want := range agree {
		near(t, judge, want, find(t, r, analysis.WhatWith, "judge", judge).Value.Value, 1e-9)
	}
	notes := strings.Join(r.Tables[0].Notes, "; ")
	if !strings.Contains(notes, "judge odd disagrees with the others: ") || strings.Contains(notes, "judge one disagrees") {
		t.Errorf("%q", notes)
	}
}

func verdictOn(lane, item, label string) analysis.Row {
	r := said(lane, item, label)
	r.State = assay.VerdictValid
	return r
}
