package methods_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
)

// judgedAgainst reads gold first, then all rows.
func judgedAgainst(t *testing.T, stage analysis.Stage, specs []analysis.Spec, gold, rows []analysis.Row) *analysis.Report {
	t.Helper()
	return reportAfter(t, stage, specs, rows, func(b *methods.Analyzer) error { return b.Gold(each(gold)) })
}

func by(judge string, r analysis.Row) analysis.Row {
	r.Judge = judge
	return r
}

// verdictsOf are n answers of one lane, of which the judge calls yes right.
func verdictsOf(lane string, n, yes int) []analysis.Row {
	var out []analysis.Row
	for i := range n {
		label := "wrong"
		if i < yes {
			label = "right"
		}
		out = append(out, said(lane, fmt.Sprint("q", i), label))
	}
	return out
}

func TestAJudgeIsHeldAgainstAFileOfGold(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.Gold = false, true
	rows := verdictsOf("one", 100, 50)
	var gold []analysis.Row
	for i := range 100 { // of 50 right ones 40 are, of 50 wrong ones 45 are not
		label := "wrong"
		if i < 40 || i >= 95 {
			label = "right"
		}
		gold = append(gold, by(analysis.GoldJudge, said("one", fmt.Sprint("q", i), label)))
	}
	specs := append(analysis.Default(stage), analysis.Spec{Method: analysis.Rates, By: []string{analysis.ByJudge}})
	r := judgedAgainst(t, stage, specs, gold, rows)
	got := map[string]float64{}
	for _, what := range []string{analysis.WhatSensitivity, analysis.WhatSpecificity, analysis.WhatAccuracy} {
		f := find(t, r, what)
		got[what] = f.Value.Value
		if !f.Interval.OK || f.Method == "" {
			t.Errorf("%s: %+v", what, f)
		}
	}
	want := map[string]float64{"sensitivity": 40.0 / 45, "specificity": 45.0 / 55, "accuracy": 0.85}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	for _, table := range r.Tables {
		if table.Unvalidated {
			t.Errorf("%s: unchecked, in spite of gold on all answers", table.Title)
		}
		if len(table.Confusions) > 0 {
			if d := cmp.Diff([]analysis.Confusion{{Judge: "judge", Labels: []string{"right", "wrong"}, Counts: [][]int{{40, 5}, {10, 45}}}},
				table.Confusions); d != "" {
				t.Error(d)
			}
		}
	}
}

func TestWithoutGoldEveryTableSaysThatTheJudgeIsNotValidated(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.Gold = false, true
	// Gold about answers that no one judged validates nothing.
	gold := []analysis.Row{by(analysis.GoldJudge, said("one", "elsewhere", "right"))}
	r := judgedAgainst(t, stage, analysis.Default(stage), gold, verdictsOf("one", 10, 5))
	for _, table := range r.Tables {
		if !table.Unvalidated || !slices.Contains(table.AllNotes(), "judge unchecked") {
			t.Errorf("%s does not say so", table.Title)
		}
	}
}

func TestWhatPeopleSayServesAsGoldByTheMajority(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.People = false, []string{"human:anna", "human:zoe"}
	rows := verdictsOf("one", 1000, 900)
	var people []analysis.Row
	for i := range 90 { // of the 900 that it calls right, 9 of 90 are wrong
		label := "right"
		if i < 9 {
			label = "wrong"
		}
		people = append(people, by("human:anna", said("one", fmt.Sprint("q", i), label)))
	}
	for i := range 50 { // of the 100 flagged ones, 40 of 50 are wrong
		label := "wrong"
		if i < 10 {
			label = "right"
		}
		people = append(people, by("human:anna", said("one", fmt.Sprint("q", 900+i), label)))
	}
	people = append(people, by("human:zoe", said("one", "q0", "wrong")), by("human:zoe", said("one", "q20", "wrong"))) // they differ on q20
	r := judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))
	sens, spec := find(t, r, analysis.WhatSensitivity), find(t, r, analysis.WhatSpecificity)
	// without q20, and among the labelled alone: of 90 that are right 80 are called so, of 49 that are wrong 40
	if d := cmp.Diff([]float64{80.0 / 90, 40.0 / 49}, []float64{sens.Value.Value, spec.Value.Value},
		cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("sensitivity and specificity:\n%s", d)
	}
	pooled := find(t, r, analysis.WhatRate, analysis.ByLane, "one", analysis.ByJudge, "")
	if pooled.N != 1000 {
		t.Errorf("the rate rests on %d verdicts: people's are not added to the judge's", pooled.N)
	}
	own := find(t, r, analysis.WhatRate, analysis.ByLane, "one", analysis.ByJudge, "human:anna")
	if own.N != 140 || own.Primary {
		t.Errorf("anna's own rate rests on %d", own.N)
	}
}

func TestAJudgeWhoseLabelsAreNoYesOrNoHasNoSensitivity(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.People, stage.Weighed = false, []string{"human:anna"}, true
	people := []analysis.Row{by("human:anna", said("one", "q1", "right")), by("human:anna", said("one", "q2", "wrong"))}
	r := judgedAgainst(t, stage, []analysis.Spec{{Method: analysis.Validity}}, people, append(verdictsOf("one", 10, 9), people...))
	for _, what := range []string{analysis.WhatSensitivity, analysis.WhatSpecificity} {
		f := find(t, r, what)
		if f.Value.OK || f.Interval.OK || !strings.Contains(f.Value.Why, "no label counts as yes or no") {
			t.Errorf("%s: %+v, %+v", what, f.Value, f.Interval)
		}
	}
}

func TestPairsAreHeldAgainstPeopleWhicheverWayRoundTheyWereShown(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Validated, stage.People = false, []string{"human:anna"}
	rows := []analysis.Row{met("one", "two", "q1", "a"), met("two", "one", "q2", "a"), met("one", "two", "q3", "tie")}
	people := []analysis.Row{
		by("human:anna", met("two", "one", "q1", "b")), by("human:anna", met("one", "two", "q2", "a")),
		by("human:anna", met("two", "one", "q3", "tie")),
	}
	r := judgedAgainst(t, stage, []analysis.Spec{{Method: analysis.Validity}}, people, append(rows, people...))
	f := find(t, r, analysis.WhatAccuracy)
	if f.N != 3 || f.Value.Value < 0.66 || f.Value.Value > 0.67 {
		t.Errorf("accuracy %v of %d, want 2 of 3", f.Value, f.N)
	}
}

func TestVerdictsThatAreNotHeldAgainstGoldAreCounted(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Gold = true
	rows := verdictsOf("one", 10, 5)
	for _, r := range verdictsOf("one", 10, 9) {
		r.Prompt = "other"
		rows = append(rows, r)
	}
	var gold []analysis.Row
	for i := range 10 {
		gold = append(gold, by(analysis.GoldJudge, said("one", fmt.Sprint("q", i), "right")))
	}
	r := judgedAgainst(t, stage, []analysis.Spec{{Method: analysis.Validity}}, gold, rows)
	want := "of a judge with several prompts the first verdict on an answer counts: 10 verdicts not held against gold"
	if f := find(t, r, "accuracy"); f.N != 10 || !slices.Contains(r.Tables[0].Notes, want) {
		t.Errorf("accuracy of %d; %q", f.N, r.Tables[0].Notes)
	}
}
