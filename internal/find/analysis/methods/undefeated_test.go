package methods_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// essays are ten texts of which each two meet in both orders, so often: the better one wins all but every seventh
// comparison, and the best one all.
func essays(times int) []analysis.Row {
	var rows []analysis.Row
	n := 0
	for i := range 10 {
		for j := range i {
			for k := range 2 * times {
				n++
				a, b, label := fmt.Sprintf("S%02d", j), fmt.Sprintf("S%02d", i), "a"
				if j > 0 && n%7 == 0 {
					label = "b"
				}
				if k%2 == 1 {
					a, b, label = b, a, map[string]string{"a": "b", "b": "a"}[label]
				}
				r := met(a, b, fmt.Sprintf("S%02d|S%02d", j, i), label)
				r.Judge = fmt.Sprintf("judge%d", k/2)
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func TestOneTextThatWinsAllDoesNotEmptyARanking(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Items = true
	r := report(t, stage, []analysis.Spec{{}}, essays(3))
	s := r.Leaderboards[0]
	apart, tested := s.Apart()
	if s.What != analysis.WhatStrength || s.Penalised != "S00 won all of its comparisons" || !tested || !apart[[2]int{0, 9}] {
		t.Errorf("%s, penalised %q, best and worst apart: %v", s.What, s.Penalised, apart[[2]int{0, 9}])
	}
	best := find(t, r, "strength", "item", "S00")
	if !best.Value.OK || !best.Interval.OK || !strings.Contains(best.Method, "Firth") {
		t.Errorf("%v %v by %s", best.Value, best.Interval, best.Method)
	}
	if notes := strings.Join(r.Tables[0].Notes, "\n"); !strings.Contains(notes, "They are drawn together after Firth") {
		t.Error(notes)
	}
	// A quote is of pairs of the stage: one more of them adds what one had on average.
	c := s.Tests[0]
	if want := 1 / (c.SE.Value * c.SE.Value * 45); s.Clusters != 45 || !stats.Between(want-1e-9, want+1e-9).Contains(c.Information.Value) {
		t.Errorf("%d pairs, information %v, want %g", s.Clusters, c.Information, want)
	}
}
