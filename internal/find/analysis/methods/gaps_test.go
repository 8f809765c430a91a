package methods_test

import (
	"fmt"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// rated returns a rubric that gives scores and no labels.
func rated() analysis.Stage {
	return analysis.Stage{Name: "rated", Verb: analysis.Judged, Low: num(0), High: num(1), Judges: []string{"judge"}, Validated: true}
}

func scored(lane, item string, score float64) analysis.Row {
	return analysis.Row{Stage: "rated", Judge: "judge", Lane: lane, Item: item, Turn: 1, Draw: 1, State: assay.VerdictValid,
		Score: num(score)}
}

// TestALaneWithoutAnyScoreIsShown has a lane all of whose verdicts are malformed: it has a row without a number, and the
// table is not complete.
func TestALaneWithoutAnyScoreIsShown(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 60 {
		item := fmt.Sprint(i)
		rows = append(rows, scored("a", item, float64(i%5)/4), scored("b", item, float64(i%3)/4))
		if i < 2 {
			rows = append(rows, in(assay.VerdictMalformed, scored("c", item, 1)))
		}
	}
	r := report(t, rated(), []analysis.Spec{{}}, rows)
	if c := find(t, r, "mean", "lane", "c"); c.Value.OK || c.Interval.OK || c.Coverage.Malformed != 2 {
		t.Errorf("%+v", c)
	}
	if !r.Tables[0].Incomplete() || !r.Incomplete() {
		t.Error("complete, though a lane has no verdict")
	}
	if places := r.Leaderboards[0].Places; len(places) != 3 {
		t.Errorf("%d places", len(places))
	}
}

// TestTheFamilyOfTestsIsThePlannedOne takes the verdicts of one lane away: the others are not told apart more easily.
func TestTheFamilyOfTestsIsThePlannedOne(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 30 {
		item, second := fmt.Sprint(i), "right"
		if i < 6 { // exact McNemar of 6 against 0: p = 0.031, of three tests 0.094
			second = "wrong"
		}
		rows = append(rows, said("a", item, "right"), said("b", item, second), in(assay.VerdictFailed, said("c", item, "")))
	}
	s := report(t, correct(), []analysis.Spec{{}}, rows).Leaderboards[0]
	apart, tested := s.Apart()
	if len(s.Tests) != 3 || !tested || len(apart) > 0 {
		t.Errorf("%d tests, told apart: %v", len(s.Tests), apart)
	}
}

// TestRoundingIsNoCertainty has two clusters whose means differ by floating point alone.
func TestRoundingIsNoCertainty(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for c, values := range [][]float64{{0.1, 0.2, 0.3}, {0.3, 0.2, 0.1}} {
		for i, x := range values {
			one, two := scored("a", fmt.Sprint(c, i), x), scored("b", fmt.Sprint(c, i), x/3)
			one.Cluster, two.Cluster = fmt.Sprint(c), fmt.Sprint(c)
			rows = append(rows, one, two)
		}
	}
	r := report(t, rated(), []analysis.Spec{{}}, rows)
	for _, f := range []analysis.Finding{find(t, r, "mean", "lane", "a"), find(t, r, "difference")} {
		if f.SE.OK || f.Interval.OK || f.P.OK {
			t.Errorf("%s %v: error %v, %v, p %v", f.What, f.Value, f.SE, f.Interval, f.P)
		}
	}
	if apart, tested := r.Leaderboards[0].Apart(); tested || len(apart) > 0 {
		t.Error("told apart by rounding")
	}
}
