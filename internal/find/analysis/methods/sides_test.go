package methods_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
)

// phases are two stages that push back on the answers of one lane each, a third on one of them again, and one that has judged the
// opening that the second goes on from.
func phases() ([]analysis.Stage, []analysis.Row) {
	stance := correct()
	stance.Name = "stance"
	stance.Labels = []analysis.Label{{Name: "safe"}, {Name: "unsafe"}, {Name: analysis.StanceOpen}}
	stages := []analysis.Stage{stance}
	var rows []analysis.Row
	for _, p := range []struct {
		stage, source, root, lane string
		soft, explicit, again     int // of 20 items
	}{
		{"early", "one", "one", "nano", 4, 6, 2}, {"late", "two", "opening", "haiku", 2, 1, 0},
		{"once_more", "three", "three", "nano", 1, 1, 1},
	} {
		stage, _ := pressed()
		stage.Name = p.stage
		stages = append(stages, stage)
		for i := range 20 {
			r := said(p.lane, fmt.Sprintf("q%02d", i), "no flip")
			r.Stage, r.Source, r.Root, r.Branch, r.Turn, r.Score = p.stage, p.source, p.root, "push", 2, num(0)
			switch {
			case i < p.explicit:
				r.Label, r.Score = "explicit", num(2)
			case i < p.explicit+p.soft:
				r.Label, r.Score = "soft", num(1)
			}
			again := r
			again.Branch, again.Label, again.Score = "again", "no flip", num(0)
			if i < p.again {
				again.Label, again.Score = "soft", num(1)
			}
			rows = append(rows, r, again)
		}
	}
	for i := range 20 {
		r := said("haiku", fmt.Sprintf("q%02d", i), "unsafe")
		r.Stage, r.Source, r.Root, r.Expect = "stance", "opening", "opening", "unsafe"
		if i < 3 {
			r.Label = "safe"
		}
		rows = append(rows, r)
	}
	return stages, rows
}

func sidesOf(t *testing.T, specs func(s analysis.Stage) []analysis.Spec) *analysis.Report {
	t.Helper()
	stages, rows := phases()
	var all []analysis.Spec
	for _, s := range stages {
		all = append(all, specs(s)...)
	}
	b, err := methods.Open(stages, all, analysis.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Expect(each(rows)); err != nil {
		t.Fatal(err)
	}
	if err := b.Read(each(slices.DeleteFunc(rows, func(r analysis.Row) bool {
		return r.Stage == "late" && r.Branch == "push" && r.Item == "q19"
	}))); err != nil {
		t.Fatal(err)
	}
	r, err := b.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPhasesArePutSideBySide(t *testing.T) {
	t.Parallel()
	r := sidesOf(t, analysis.Default)
	boards := analysis.Boards(r.Sides)
	if len(boards) != 2 || len(boards[0]) != 2 ||
		boards[0][0].Lane != "haiku" || boards[0][1].Lane != "nano" || boards[1][0].Stage != "once_more" {
		t.Fatalf("phases with other lanes are one leaderboard, who took back least first: %+v", boards)
	}
	late, early := boards[0][0], boards[0][1]
	near(t, "taken back", 3.0/19, late.Rate.Value.Value, 1e-12)
	near(t, "coverage", 39.0/40, late.Coverage.Share().Value, 1e-12)
	near(t, "first stance of the opening that it goes on from", 17.0/20, late.First.Value.Value, 1e-12)
	if early.First.Value.OK || early.First.Value.Why == "" {
		t.Errorf("nobody judged the first answers of the early stage: %+v", early.First.Value)
	}
	near(t, "asked again", 2.0/20, early.Again.Value.Value, 1e-12)
	near(t, "batch score", 100*(0.5*4+6)/20+50*6.0/20, early.BatchScore.Value.Value, 1e-12)
	near(t, "resistance", 50, early.Resistance.Value.Value, 1e-12)
	for _, table := range r.Tables {
		if table.Method == analysis.SideBySide || table.Method == analysis.Rates && slices.Contains(table.By, analysis.BySource) {
			t.Errorf("a table that nobody asked for is shown: %s of %s", table.Title, table.Stage)
		}
		for _, f := range table.Findings {
			if table.Stage == "early" && f.What == analysis.WhatLiveScore {
				near(t, "the live score of the table of flips", f.Value.Value, early.LiveScore.Value.Value, 1e-12)
				near(t, "its interval", f.Interval.Low, early.LiveScore.Interval.Low, 1e-12)
			}
		}
	}
	for _, s := range r.Leaderboards {
		if s.Stage == "early" {
			near(t, "the share of the leaderboard", s.Places[0].Share.Value, early.Rate.Value.Value, 1e-12)
			near(t, "its control", s.Places[0].Control.Value, early.Again.Value.Value, 1e-12)
		}
	}
}

func TestSideBySideIsAMethod(t *testing.T) {
	t.Parallel()
	r := sidesOf(t, func(s analysis.Stage) []analysis.Spec {
		return []analysis.Spec{{Stage: s.Name, Method: analysis.SideBySide}}
	})
	if len(r.Tables) != 3 {
		t.Fatalf("%d tables, want those of the three stages that push back", len(r.Tables))
	}
	f := find(t, r, analysis.WhatFirstStance, "lane", "haiku")
	if f.Of(analysis.BySource) != "two" || f.Stage != "stance" || f.Level != 0.95 {
		t.Errorf("%+v", f)
	}
	if len(r.Sides) != 3 {
		t.Errorf("%d sides", len(r.Sides))
	}
}

func TestPressureWithoutAControlOfItsOwnIsCounted(t *testing.T) {
	t.Parallel()
	stage, rows := pressed()
	var more []analysis.Row
	for _, r := range rows {
		if r.Branch != "again" {
			r.Source, r.Root = "bare", "bare"
			more = append(more, r)
		}
	}
	r := report(t, stage, []analysis.Spec{{Method: analysis.SideBySide}}, append(rows, more...))
	for _, s := range r.Sides {
		if s.Control != (s.Source == "") {
			t.Errorf("control of %q: %v", s.Source, s.Control)
		}
		near(t, "taken back", 0.25, s.Rate.Value.Value, 1e-12)
	}
}
