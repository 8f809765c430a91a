package methods_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
)

func TestOneTableHasTheBiasOfEachJudge(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 30 {
		item := fmt.Sprintf("q%02d", i)
		for _, judge := range []string{"first", "fair"} {
			one, two := met("x", "y", item, "a"), met("y", "x", item, "a")
			if judge == "fair" {
				two.Label = "b"
			}
			one.Judge, two.Judge = judge, judge
			rows = append(rows, one, two)
		}
	}
	stage := arena()
	stage.Judges = []string{"first", "fair"}
	r := report(t, stage, []analysis.Spec{{Method: analysis.JudgeBias}}, rows)
	for judge, want := range map[string]float64{"first": 1, "fair": 0.5} {
		f := find(t, r, analysis.WhatFirst, analysis.ByJudge, judge)
		biased := slices.Contains(f.Notes, "biased: show each pair both ways (order: both)")
		if f.Value.Value != want || biased != (judge == "first") || !f.Interval.OK {
			t.Errorf("%s: %+v", judge, f)
		}
		near(t, "consistency of "+judge, 2-2*want, find(t, r, analysis.WhatConsistency, analysis.ByJudge, judge).Value.Value, 1e-12)
	}
	if f := find(t, r, analysis.WhatRepeats, analysis.ByJudge, "fair"); f.Value.OK {
		t.Errorf("no one was asked twice: %+v", f)
	}
}

func TestRepeatNoiseIsHowOftenAJudgeContradictsItself(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Decided = true
	var rows []analysis.Row
	for i := range 20 { // of two votes a quarter differs
		for vote := range 2 {
			r := said("one", fmt.Sprint("q", i), "right")
			if r.Vote = vote; vote == 1 && i%4 == 0 {
				r.Label = "wrong"
			}
			rows = append(rows, r)
		}
	}
	f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.JudgeBias}}, rows), analysis.WhatRepeats)
	near(t, "repeat noise", 0.25, f.Value.Value, 1e-12)
	if math.IsNaN(f.SE.Value) || !f.Interval.Contains(0.25) || f.N != 20 {
		t.Errorf("%+v", f)
	}
}

func TestJudgeBiasTakesNoGroups(t *testing.T) {
	t.Parallel()
	if _, err := methods.Open([]analysis.Stage{correct()}, []analysis.Spec{{Stage: "correct", Method: analysis.JudgeBias,
		By: []string{"topic"}}}, analysis.Options{}); err == nil {
		t.Error("judge-bias has groups of its own, and takes no others")
	}
}

// TestAJudgeThatIsSurerThanItIsRight: it is right in 85 of 100, and tells another share.
func TestAJudgeThatIsSurerThanItIsRight(t *testing.T) {
	t.Parallel()
	right := [2]float64{0.85, 0.85}
	for k, sure := range []*float64{nil, num(0.85), num(1), num(0.85), num(1)} {
		study := labelled{items: 400, drawn: 60, right: 0.7, sens: right, spec: right, sure: sure, weighed: k > 2,
			specs: []analysis.Spec{{Method: analysis.JudgeBias}}}
		r := study.report(t, 1)
		var found []analysis.Finding
		for _, f := range r.Tables[0].Findings {
			if f.What == analysis.WhatConfidence {
				found = append(found, f)
			}
		}
		if sure == nil {
			if len(found) > 0 {
				t.Errorf("no judge told how sure it is: %+v", found)
			}
			continue
		}
		if len(found) != 1 || found[0].N != 120 || !found[0].Interval.Contains(*sure-0.85) {
			t.Fatalf("sure of %g: %+v", *sure, found)
		}
		biased := slices.Contains(found[0].Notes, "biased: do not choose or weigh verdicts by the judge's confidence")
		if biased != (*sure == 1) {
			t.Errorf("sure of %g: %+v", *sure, found[0])
		}
	}
}
