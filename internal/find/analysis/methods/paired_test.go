package methods_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/find/analysis"
)

func TestManyLanesAreHeldAgainstTheBestOfThem(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for l := range 12 {
		for i := range 20 {
			label := "wrong"
			if i < l || l == 6 {
				label = "right"
			}
			rows = append(rows, said(fmt.Sprintf("lane%02d", l), fmt.Sprint(i), label))
		}
	}
	r := report(t, correct(), []analysis.Spec{{}}, rows)
	n := 0
	for _, f := range r.Tables[1].Findings {
		if f.Of("lane") != "lane06" || f.Of("against") == "lane06" || f.Value.Value < 0 {
			t.Errorf("%v: %v", f.By, f.Value)
		}
		n++
	}
	if n != 11 || !slices.ContainsFunc(r.Tables[1].Notes, func(s string) bool { return strings.Contains(s, "the best one, lane06,") }) {
		t.Errorf("%d differences; %q", n, r.Tables[1].Notes)
	}
}

func TestAnIntervalThatDisagreesWithItsTestSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		only int // items that the first lane alone has right, of 12
		says bool
	}{{5, true}, {2, false}, {9, false}} { // exact McNemar: 0.0625, 0.5, 0.004
		var rows []analysis.Row
		for i := range 12 {
			second := "right"
			if i < c.only {
				second = "wrong"
			}
			rows = append(rows, said("a", fmt.Sprint(i), "right"), said("b", fmt.Sprint(i), second))
		}
		f := find(t, report(t, correct(), []analysis.Spec{{Primary: true}}, rows), "difference")
		without := f.Interval.Low > 0
		if noted := slices.ContainsFunc(f.Notes, func(s string) bool { return strings.Contains(s, "the test decides") }); noted !=
			(without != (f.P.Value < 0.05)) || noted != c.says {
			t.Errorf("%d of 12: %v, p %g, notes %q", c.only, f.Interval, f.P.Value, f.Notes)
		}
		if c.says && !strings.Contains(f.Words, "the interval is not adjusted") {
			t.Error(f.Words)
		}
	}
}
