package methods_test

import (
	"math"
	"strings"
	"testing"

	"assay/internal/find/analysis"
)

// bouts are comparisons of two items of one group: how often the first won, and how often it lost, shown first every second time.
func bouts(topic, judge, a, b string, won, lost int) []analysis.Row {
	var rows []analysis.Row
	for i := range won + lost {
		r := met(a, b, "", "a")
		if i >= won {
			r.Label = "b"
		}
		if i%2 == 1 {
			r.Lane, r.Other, r.Label = b, a, map[string]string{"a": "b", "b": "a"}[r.Label]
		}
		r.Judge, r.Cluster, r.Fields = judge, a+b+string(rune('0'+i)), map[string]string{"topic": topic}
		rows = append(rows, r)
	}
	return rows
}

func TestGroupsThatNeverMetAreRankedApart(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Items, stage.Within, stage.Judges = true, "topic", []string{"x", "y"}
	var rows []analysis.Row
	for _, b := range []struct {
		topic, judge, a, b string
		won, lost          int
	}{
		{"cats", "x", "c1", "c2", 6, 2}, {"dogs", "x", "d1", "d2", 2, 6},
		{"cats", "y", "c1", "c2", 4, 8}, {"dogs", "y", "d1", "d2", 10, 2},
	} {
		rows = append(rows, bouts(b.topic, b.judge, b.a, b.b, b.won, b.lost)...)
	}
	// Of two items, strengths are half the log odds of the wins, up and down; shares are counted.
	all := report(t, stage, []analysis.Spec{{}, {Method: analysis.WinRate}, {Method: analysis.Elo}}, rows)
	near(t, "cats", math.Log(10.0/10)/2, find(t, all, "strength", "item", "c1", "topic", "cats").Value.Value, 1e-6)
	near(t, "dogs", math.Log(12.0/8)/2, find(t, all, "strength", "item", "d1", "topic", "dogs").Value.Value, 1e-6)
	near(t, "share of dogs", 12.0/20, find(t, all, "win rate", "item", "d1", "topic", "dogs").Value.Value, 1e-9)
	find(t, all, "elo", "item", "c2", "topic", "cats")
	for _, s := range all.Leaderboards {
		if len(s.Places) != 2 || len(s.By) != 1 || s.By[0].Field != "topic" {
			t.Errorf("%d places together, of %v", len(s.Places), s.By)
		}
	}
	each := report(t, stage, []analysis.Spec{{By: []string{"judge"}}, {Method: analysis.Ranking, By: []string{"judge"}}}, rows)
	for _, c := range []struct {
		judge, topic, item string
		odds               float64
	}{{"x", "cats", "c1", 3}, {"x", "dogs", "d2", 3}, {"y", "cats", "c2", 2}, {"y", "dogs", "d1", 5}} {
		for _, table := range each.Tables {
			got := math.NaN()
			for _, f := range table.Findings {
				if f.What == "strength" && f.Of("item") == c.item && f.Of("judge") == c.judge && f.Of("topic") == c.topic {
					got = f.Value.Value
				}
			}
			near(t, c.judge+c.topic, math.Log(c.odds)/2, got, 1e-6)
		}
	}
}

func TestNumbersOfGroupsThatNeverMetAreSaidNotToCompare(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Items = true
	rows := append(bouts("", "judge", "a", "b", 3, 2), bouts("", "judge", "c", "d", 1, 4)...)
	specs := func() []analysis.Spec {
		return []analysis.Spec{{}, {Method: analysis.Elo}, {Method: analysis.WinRate}}
	}
	r := report(t, stage, specs(), rows)
	if f := find(t, r, "strength", "item", "a"); f.Value.OK || !strings.Contains(f.Value.Why, "a b | c d") {
		t.Errorf("one ranking of what never met: %+v", f.Value)
	}
	for _, table := range r.Tables[1:] {
		if !strings.Contains(strings.Join(table.Notes, "\n"), "the items fall into 2 groups that never met") {
			t.Errorf("%s: %v", table.Title, table.Notes)
		}
	}
	for _, table := range report(t, stage, specs(), append(rows, bouts("", "judge", "b", "c", 1, 1)...)).Tables {
		if strings.Contains(strings.Join(table.Notes, "\n"), "never met") {
			t.Errorf("%s: %v", table.Title, table.Notes)
		}
	}
}
