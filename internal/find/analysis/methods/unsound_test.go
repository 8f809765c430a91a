package methods_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/study/adaptive"
)

// mostly are comparisons of two lanes, each item in both orders, of which one loses a single comparison.
func mostly(items int) []analysis.Row {
	var rows []analysis.Row
	for i := range items {
		item := fmt.Sprintf("q%02d", i)
		label := "a"
		if i == 0 {
			label = "b"
		}
		rows = append(rows, met("one", "two", item, label), met("two", "one", item, "b"))
	}
	return rows
}

// TestStrengthsWithoutErrorsTellNothingApart: where many resamples have no estimate, the spread of the others is too
// small. Then exact tests decide, and what is not settled has a quote all the same.
func TestStrengthsWithoutErrorsTellNothingApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		items int
		apart bool
	}{{4, false}, {6, false}, {9, true}} {
		rows := mostly(c.items)
		s := report(t, arena(), []analysis.Spec{{}}, rows).Leaderboards[0]
		if s.What != analysis.WhatStrength || s.Places[0].Interval.OK || s.Test != analysis.ExactSigns {
			t.Fatalf("%d items: %+v", c.items, s)
		}
		_, _, p := signTest(rows, "one", "two")
		near(t, "p", p, s.Tests[0].P.Value, 1e-12)
		if apart, tested := s.Apart(); !tested || apart[[2]int{0, 1}] != c.apart || c.apart != (p < 0.05) {
			t.Errorf("%d items: apart %v, p %g", c.items, apart, p)
		}
		q, ok := s.Quote(0, 1)
		if ok == c.apart {
			t.Fatalf("%d items: a quote %v", c.items, ok)
		}
		if n, sensible := q.Needed(0.8); ok && (!sensible || n < float64(adaptive.Least-2*c.items)) {
			t.Errorf("%d items: %g more comparisons, and no claim is made of fewer than %d", c.items, n, adaptive.Least)
		}
		if !slices.ContainsFunc(report(t, arena(), []analysis.Spec{{}}, rows).Tables[0].Notes, func(n string) bool {
			return n == "strengths have no errors: every two are tested by an exact sign test over the clusters in which they met"
		}) {
			t.Error("no note says so")
		}
	}
}
