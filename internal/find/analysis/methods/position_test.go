package methods_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/internal/find/analysis"
)

func TestAJudgeThatLooksAtThePositionIsNamed(t *testing.T) {
	t.Parallel()
	var both, one, fair []analysis.Row
	for i := range 30 {
		item := fmt.Sprintf("q%02d", i)
		both = append(both, met("x", "y", item, "a"), met("y", "x", item, "a"))
		label := "a"
		if i%5 == 0 {
			label = "b"
		}
		one = append(one, met("x", "y", item, label))
		fair = append(fair, met("x", "y", item, label), met("y", "x", item, map[string]string{"a": "b", "b": "a"}[label]))
	}
	p := report(t, arena(), []analysis.Spec{{}}, both).Leaderboards[0].Position
	if !p.Biased() || p.First.Value != 1 || p.Same.Value != 0 || p.OneOrder {
		t.Errorf("the first always wins: %+v", p)
	}
	if p := report(t, arena(), []analysis.Spec{{}}, one).Leaderboards[0].Position; !p.Biased() || !p.OneOrder || p.Same.OK {
		t.Errorf("in one order: %+v", p)
	}
	if p := report(t, arena(), []analysis.Spec{{}}, fair).Leaderboards[0].Position; p.Biased() ||
		p.Same.Value != 1 || p.First.Value != 0.5 {
		t.Errorf("a fair judge: %+v", p)
	}
	few := append(slices.Clone(both[:4]), met("x", "y", "q02", "b"), met("y", "x", "q02", "b"), met("x", "y", "q03", "a"),
		met("y", "x", "q03", "b"))
	if p := report(t, arena(), []analysis.Spec{{}}, few).Leaderboards[0].Position; p.Biased() || p.Same.Value != 0.25 {
		t.Errorf("of four pairs, three whose orders disagree may be chance: %+v", p)
	}
	var turned []analysis.Row // by the place, in every second item by the other one
	for i := range 30 {
		item, label := fmt.Sprintf("q%02d", i), []string{"a", "b"}[i%2]
		turned = append(turned, met("x", "y", item, label), met("y", "x", item, label))
	}
	if p := report(t, arena(), []analysis.Spec{{}}, turned).Leaderboards[0].Position; !p.Decides() || p.First.Value != 0.5 {
		t.Errorf("the place decides, now one, now the other: %+v", p)
	}
}

// TestDirectionsGoByNamesAsText has lanes 9 and 10, which sort by size in tables and as text in the ledger's directions:
// "10" comes first in both.
func TestDirectionsGoByNamesAsText(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 20 {
		item := fmt.Sprintf("q%02d", i)
		rows = append(rows, met("10", "9", item, "a"), met("9", "10", item, "b")) // 10 always wins
	}
	r := report(t, arena(), []analysis.Spec{{Method: analysis.Consistency}}, rows)
	if forward := find(t, r, analysis.WhatFirstMain); rows[0].Field(analysis.ByDirection) != "forward" || forward.Value.Value != 1 {
		t.Errorf("forward order: %v", forward.Value)
	}
	if reverse := find(t, r, analysis.WhatFirstBack); reverse.Value.Value != 0 {
		t.Errorf("reverse order: %v", reverse.Value)
	}
}

// TestJudgesAreGroupedByTheirSettings has two models judge: one by the position alone.
func TestJudgesAreGroupedByTheirSettings(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 20 {
		for judge, model := range map[string]string{"j1": "fair", "j2": "first"} {
			for _, r := range []analysis.Row{met("x", "y", fmt.Sprint(i), "a"), met("y", "x", fmt.Sprint(i), "b")} {
				if r.Judge, r.JudgeAsked = judge, (&analysis.LaneSetting{Model: model}); model == "first" {
					r.Label = "a"
				}
				rows = append(rows, r)
			}
		}
	}
	r := report(t, arena(), []analysis.Spec{{Method: analysis.Consistency, By: []string{"judge.model"}}}, rows)
	for model, want := range map[string]float64{"fair": 1, "first": 0} {
		if f := find(t, r, analysis.WhatConsistency, "judge.model", model); f.Value.Value != want {
			t.Errorf("%s: %v", model, f.Value)
		}
	}
	stage := arena()
	for _, s := range []analysis.Spec{{Method: analysis.Consistency, By: []string{"model"}}, {Method: analysis.Position,
		By: []string{"lane.thinking"}}, {Method: analysis.Consistency, By: []string{"direction"}}} {
		if _, err := s.Filled(&stage); err == nil {
			t.Errorf("%s by %v is not refused", s.Method, s.By)
		}
	}
}
