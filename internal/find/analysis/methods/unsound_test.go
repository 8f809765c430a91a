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
// small. Then exact tests decide.
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
		if _, ok := s.Quote(0, 1); ok {
			t.Errorf("%d items: a quote from fewer than 10", c.items)
		}
		if !slices.ContainsFunc(report(t, arena(), []analysis.Spec{{}}, rows).Tables[0].Notes, func(n string) bool {
			return n == "strengths have no errors: every two are tested by an exact sign test over the clusters in which they met"
		}) {
			t.Error("no note says so")
		}
	}
}

// TestAQuoteOfComparisonsRestsOnTenItems: strengths have no errors, since one lane hardly won. Two that met on ten items
// have a quote all the same; those that met on fewer have none.
func TestAQuoteOfComparisonsRestsOnTenItems(t *testing.T) {
	t.Parallel()
	for _, items := range []int{9, 10} {
		rows := mostly(4)
		for i := range items {
			label := "a"
			if i%2 == 0 {
				label = "b"
			}
			rows = append(rows, met("one", "three", fmt.Sprintf("q%02d", i), label))
		}
		s := report(t, arena(), []analysis.Spec{{}}, rows).Leaderboards[0]
		at := func(name string) int {
			return slices.IndexFunc(s.Places, func(p analysis.Place) bool { return p.Name == name })
		}
		if s.Test != analysis.ExactSigns {
			t.Fatalf("%+v", s)
		}
		q, ok := s.Quote(at("one"), at("three"))
		if ok != (items == 10) {
			t.Fatalf("%d items: a quote %v", items, ok)
		}
		if n, sensible := q.Needed(0.8); ok && (!sensible || n < float64(adaptive.Least-items)) {
			t.Errorf("%g more comparisons, and no claim is made of fewer than %d", n, adaptive.Least)
		}
		if _, ok := s.Quote(at("one"), at("two")); ok {
			t.Error("a quote from 4 items")
		}
	}
}
