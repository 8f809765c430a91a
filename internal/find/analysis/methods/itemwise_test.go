package methods_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
)

// gotten holds the results of four lanes on six items; - is no verdict.
var gotten = map[string]string{
	"all right": "1111", "all wrong": "0000", "sorts": "1100", "against": "0011", "one best": "1000", "gap": "1-00",
}

func itemRows() []analysis.Row {
	var rows []analysis.Row
	for item, row := range gotten {
		for l, c := range row {
			if c != '-' {
				r := said(fmt.Sprint("lane", l), item, map[rune]string{'1': "right", '0': "wrong"}[c])
				r.Template = map[bool]string{true: "early", false: "late"}[item < "b"]
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// byHand returns the discrimination of an item, and the share of pairs it separates, from the table above.
func byHand(table map[string]string, item string) (separates, discrimination float64) {
	var own, rest []float64
	for l, c := range table[item] {
		if c == '-' {
			continue
		}
		sum, n := 0.0, 0.0
		for other, row := range table {
			if other != item && row[l] != '-' {
				sum, n = sum+float64(row[l]-'0'), n+1
			}
		}
		own, rest = append(own, float64(c-'0')), append(rest, sum/n)
	}
	pairs, apart := 0.0, 0.0
	for i := range own {
		for j := range own[:i] {
			if pairs++; own[i] != own[j] {
				apart++
			}
		}
	}
	return apart / pairs, productMoment(own, rest)
}

func TestItemsThatTellNothingApartAreNamed(t *testing.T) {
	t.Parallel()
	spec := []analysis.Spec{{Method: analysis.Items}}
	r := report(t, correct(), spec, itemRows())
	for item := range gotten {
		separates, discrimination := byHand(gotten, item)
		near(t, "separates: "+item, separates, find(t, r, analysis.WhatSeparates, "item", item).Value.Value, 1e-12)
		f := find(t, r, analysis.WhatDiscrimination, "item", item)
		if f.Value.OK != (separates > 0) || f.Value.OK && math.Abs(f.Value.Value-discrimination) > 1e-12 {
			t.Errorf("discrimination of %s: %+v, want %g", item, f.Value, discrimination)
		}
	}
	f := find(t, r, analysis.WhatTelling)
	if diff := cmp.Diff([]analysis.Counted{{Name: "telling", N: 4}, {Name: "alike", N: 2}, {Name: "against", N: 1}}, f.Counts); diff != "" {
		t.Error(diff)
	}
	near(t, "telling", 4./6, f.Value.Value, 1e-12)

	// By another field, an item is held against those of its group alone.
	spec = []analysis.Spec{{Method: analysis.Items, By: []string{analysis.ByLane, analysis.ByTemplate}}}
	early := map[string]string{}
	for item, row := range gotten {
		if item < "b" {
			early[item] = row
		}
	}
	_, want := byHand(early, "against")
	got := find(t, report(t, correct(), spec, itemRows()), analysis.WhatDiscrimination, "item", "against", "template", "early")
	if math.IsNaN(want) != !got.Value.OK { // the others of its group are all alike
		t.Errorf("%+v, want %g", got.Value, want)
	}
}

func TestItemsOfFewLanesHaveNoDiscrimination(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]analysis.Row{
		"two lanes": {said("a", "x", "right"), said("b", "x", "wrong"), said("a", "y", "right"), said("b", "y", "right")},
		"one item":  {said("a", "x", "right"), said("b", "x", "wrong"), said("c", "x", "wrong")},
		"one lane":  {said("a", "x", "right"), said("a", "y", "wrong")},
		"all alike": {said("a", "x", "right"), said("b", "x", "right"), said("c", "x", "right"), said("a", "y", "right"),
			said("b", "y", "right"), said("c", "y", "right")},
	} {
		r := report(t, correct(), []analysis.Spec{{Method: analysis.Items}}, rows)
		for _, f := range r.Tables[0].Findings {
			if f.What == analysis.WhatDiscrimination && (f.Value.OK || f.Value.Why == "") || math.IsNaN(f.Value.Value) {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	if f := find(t, report(t, correct(), []analysis.Spec{{Method: analysis.Items}}, []analysis.Row{said("a", "x", "right")}),
		analysis.WhatTelling); f.Value.OK {
		t.Errorf("one lane: %+v", f.Value)
	}
	// Of comparisons, what a lane won on an item: a beats b and c on x, and ties on y.
	var rows []analysis.Row
	for _, x := range []struct{ a, b, label string }{{"a", "b", "a"}, {"c", "a", "b"}, {"b", "c", "a"}} {
		rows = append(rows, met(x.a, x.b, "x", x.label), met(x.a, x.b, "y", "tie"), met(x.a, x.b, "z", x.label))
	}
	r := report(t, arena(), []analysis.Spec{{Method: analysis.Items}}, rows)
	near(t, "x", 1, find(t, r, analysis.WhatSeparates, "item", "x").Value.Value, 0)
	near(t, "y", 0, find(t, r, analysis.WhatSeparates, "item", "y").Value.Value, 0)
	near(t, "x and the others", 1, find(t, r, analysis.WhatDiscrimination, "item", "x").Value.Value, 1e-12)
}

// Items on which lanes are alike make their differences smaller: no note may claim that differences are the same
// without them.
func TestItemsThatAreAlikeMakeDifferencesSmaller(t *testing.T) {
	t.Parallel()
	rows := func(alike int) (out []analysis.Row) {
		for i := range 5 + alike {
			second := "right"
			if i < 2 {
				second = "wrong"
			}
			first := "right"
			if i == 4 {
				first = "wrong"
			}
			out = append(out, said("a", fmt.Sprint(i), first), said("b", fmt.Sprint(i), second))
		}
		return out
	}
	difference := func(alike int) float64 {
		s := report(t, correct(), []analysis.Spec{{}}, rows(alike)).Leaderboards[0]
		return s.Tests[0].Difference.Value
	}
	near(t, "without five more that are alike", 2*difference(5), difference(0), 1e-12)
	want := []string{
		"an item on which all lanes got the same favours no lane; without such items rates and differences are no longer " +
			"those of all items",
		"7 of 10 items tell no two lanes apart: they make differences on the same items smaller",
	}
	got := report(t, correct(), []analysis.Spec{{Method: analysis.Items}}, rows(5)).Tables[0].Notes
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
