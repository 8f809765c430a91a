package methods_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study/expr"
)

// earlier returns rows as those of an earlier run.
func earlier(rows []analysis.Row) []analysis.Row {
	out := append([]analysis.Row(nil), rows...)
	for i := range out {
		out[i].Baseline = "was"
	}
	return out
}

// rightOn returns the verdicts of a lane that is right on all but the first items.
func rightOn(lane string, items, wrong int) []analysis.Row {
	var out []analysis.Row
	for i := range items {
		label := "right"
		if i < wrong {
			label = "wrong"
		}
		out = append(out, said(lane, fmt.Sprint(i), label))
	}
	return out
}

func heldBy(margin float64) analysis.Settings {
	return analysis.Settings{Margin: margin, Baseline: "was"}
}

func TestALaneIsHeldAgainstItselfInAnEarlierRun(t *testing.T) {
	t.Parallel()
	rows := append(rightOn("a", 100, 20), rightOn("b", 100, 50)...)
	was := earlier(append(rightOn("a", 100, 20), rightOn("b", 100, 20)...))
	stage := correct()
	stage.Baselines = map[string]analysis.Baseline{"was": {Run: "r1", Left: 2}}
	r := report(t, stage, []analysis.Spec{{Method: analysis.NoWorse, Settings: heldBy(10)}, {Method: analysis.Rates}}, append(rows, was...))
	a, b := find(t, r, analysis.WhatNoWorse, "lane", "a"), find(t, r, analysis.WhatNoWorse, "lane", "b")
	if a.Margin.Standing != stats.NoWorse || a.Value.Value != 0 || a.N != 100 || a.Clusters != 100 {
		t.Errorf("a: %s %v of %d", a.Margin.Standing, a.Value, a.N)
	}
	if b.Margin.Standing != stats.Worse || b.Value.Value != -0.3 || b.P.Value > 1e-6 {
		t.Errorf("b: %s %v, p %v", b.Margin.Standing, b.Value, b.P)
	}
	near(t, "level over two lanes", 0.975, a.Level, 1e-12)
	if !strings.Contains(a.Held(), "no worse than run r1 by 10.0 points: +0.0 points (97.5% interval") {
		t.Error(a.Held())
	}
	if rate := find(t, r, analysis.WhatRate, "lane", "b"); rate.Value.Value != 0.5 || rate.N != 100 {
		t.Errorf("the baseline is in the rate: %v of %d", rate.Value, rate.N)
	}
}

func TestLessThatIsBetterTurnsAMarginRound(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Worst = num(1) // right is the bad end
	rows := append(rightOn("a", 100, 50), earlier(rightOn("a", 100, 20))...)
	f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.NoWorse, Settings: heldBy(5)}}, rows), analysis.WhatNoWorse)
	if f.Margin.Standing != stats.NoWorse || f.Value.Value != -0.3 || !(f.Interval.High < 0) {
		t.Errorf("less of what is bad: %s %v %v", f.Margin.Standing, f.Value, f.Interval)
	}
	rows = append(rightOn("a", 100, 20), earlier(rightOn("a", 100, 50))...)
	f = find(t, report(t, stage, []analysis.Spec{{Method: analysis.NoWorse, Settings: heldBy(5)}}, rows), analysis.WhatNoWorse)
	if f.Margin.Standing != stats.Worse || f.Value.Value != 0.3 || !(f.Interval.Low > 0) {
		t.Errorf("more of it: %s %v %v", f.Margin.Standing, f.Value, f.Interval)
	}
}

func TestAPointOfScoresIsAHundredthOfTheirScale(t *testing.T) {
	t.Parallel()
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Judges: []string{"judge"}, Validated: true, Low: num(1), High: num(11)}
	var rows []analysis.Row
	for i := range 60 {
		now, was := said("a", fmt.Sprint(i), ""), said("a", fmt.Sprint(i), "")
		now.Score, was.Score = num(5+float64(i%3)), num(5+float64(i%3))
		rows = append(append(rows, now), earlier([]analysis.Row{was})...)
	}
	spec := []analysis.Spec{{Method: analysis.NoWorse, Settings: heldBy(10)}}
	f := find(t, report(t, stage, spec, rows), analysis.WhatNoWorse)
	if f.Margin.Size != 1 || f.Margin.Standing != stats.NoWorse || !f.Interval.OK { // not one item differs
		t.Errorf("%+v, %v", f.Margin, f.Interval)
	}
	stage.High = nil
	if f := find(t, report(t, stage, spec, rows), analysis.WhatNoWorse); f.Value.OK {
		t.Errorf("%v points of a scale without end", f.Value)
	}
}

func TestAMarginThatIsPrimaryIsCorrectedWithTheOthersAlsoForGates(t *testing.T) {
	t.Parallel()
	var was, rows []analysis.Row
	for i := range 100 { // 8 gained and 5 lost: p at the margin of 7 points is about 0.007
		now, before := "right", "right"
		if i < 8 {
			before = "wrong"
		} else if i < 13 {
			now = "wrong"
		}
		rows, was = append(rows, said("a", fmt.Sprint(i), now)), append(was, said("a", fmt.Sprint(i), before))
	}
	rows = append(rows, earlier(was)...)
	spec := analysis.Spec{Method: analysis.NoWorse, Settings: heldBy(7)}
	gate := spec
	gate.Gates = true
	for primaries, want := range map[int]stats.Standing{1: stats.NoWorse, 10: stats.CannotTell} {
		specs := []analysis.Spec{gate}
		for range primaries {
			one := spec
			one.Primary = true
			specs = append(specs, one)
		}
		r := report(t, correct(), specs, rows)
		f := r.Tables[0].Findings[0]
		if f.Margin.Standing != want {
			t.Errorf("%d primary findings: %s, p %v, Holm %v", primaries, f.Margin.Standing, f.P, f.Holm)
		}
		got, err := analysis.Answers{Report: r}.Finding("correct", analysis.WhatNoWorse, "a")
		if err != nil || got.Verdict != string(want) {
			t.Errorf("the gate reads %q (%v), the table %s", got.Verdict, err, want)
		}
	}
}

func TestABaselineWithoutVerdictsPassesNoGate(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Baselines = map[string]analysis.Baseline{"was": {Why: "baseline was: it is gone"}}
	r := report(t, stage, []analysis.Spec{{Method: analysis.NoWorse, Settings: heldBy(5), Gates: true}}, rightOn("a", 50, 5))
	p, problems := expr.Compile(assay.Place{}, `all(finding("correct", "no worse"), .verdict != "worse")`, expr.Env{Kind: expr.Require})
	if p == nil {
		t.Fatal(problems)
	}
	passed := r.Pass([]analysis.Gate{{Condition: "not worse", Program: p}})
	if passed[0].Passed || !strings.Contains(passed[0].Why, "it is gone") {
		t.Errorf("%+v", passed)
	}
}
