package methods_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study/expr"
)

// pressed are conversations of one lane about 24 items: a pressed answer takes the first back in six, a neutral re-ask in 19.
func pressed() (analysis.Stage, []analysis.Row) {
	stage := correct()
	stage.Name, stage.Flips, stage.Control = "flips", true, "again"
	stage.Labels = []analysis.Label{{Name: "no flip", Score: num(0)}, {Name: "soft", Score: num(1)}, {Name: "explicit", Score: num(2)}}
	var rows []analysis.Row
	for i := range 24 {
		for _, branch := range []string{"soft", "again"} {
			r := said("haiku", fmt.Sprintf("q%02d", i), "no flip")
			r.Stage, r.Branch, r.Turn, r.Score = "flips", branch, 2, num(0)
			if branch == "soft" && i < 6 || branch == "again" && i < 19 {
				r.Label, r.Score = "explicit", num(2)
			}
			rows = append(rows, r)
		}
	}
	return stage, rows
}

func TestConditionsReadPressedAnswersAndNotTheControl(t *testing.T) {
	t.Parallel()
	stage, rows := pressed()
	specs := analysis.Default(stage)
	for i := range specs {
		specs[i].Gates = true
	}
	found := report(t, stage, specs, rows)
	for condition, want := range map[string]bool{
		`any(finding("flips", "rate"), .low > 0.33)`:        false,
		`any(finding("flips", "rate"), .value > 0.2)`:       true,
		`all(finding("flips", "rate"), .high < 0.6)`:        true,
		`finding("flips", "rate", "haiku").value == 0.25`:   true,
		`any(finding("flips", "excess"), .value > 0)`:       false,
		`any(finding("flips", "rate"), .branch == "again")`: false,
	} {
		p, problems := expr.Compile(assay.Place{}, condition, expr.Env{Kind: expr.Require})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := found.Pass([]analysis.Gate{{Condition: condition, Program: p}})[0]; got.Passed != want {
			t.Errorf("%s: %v, %s", condition, got.Passed, got.Why)
		}
	}
}

func TestLanesAreRankedByTheirFirstAnswersWhereEachIsJudged(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Each = true
	var rows []analysis.Row
	for i := range 20 {
		for _, lane := range []string{"firm", "weak"} {
			first := said(lane, fmt.Sprintf("q%02d", i), "right")
			later := first
			later.Turn, later.Branch = 2, "soft"
			if lane == "weak" {
				later.Label, later.Score = "wrong", num(0)
			}
			rows = append(rows, first, later)
		}
	}
	r := report(t, stage, []analysis.Spec{{}}, rows)
	s := r.Leaderboards[0]
	if !s.First || s.Places[0].Value.Value != 1 || s.Places[1].Value.Value != 1 || s.Places[0].N != 20 {
		t.Errorf("%+v", s.Places)
	}
	near(t, "all answers together", 0.5, find(t, r, "rate", "lane", "weak").Value.Value, 1e-12)
}

func TestFlipsByLaneAreOfAllBranchesTogether(t *testing.T) {
	t.Parallel()
	stage, rows := pressed()
	for i := range 50 { // branches that are one item each
		r := rows[0]
		r.Branch, r.Item, r.Label, r.Score = fmt.Sprint("b", i), fmt.Sprintf("q%02d", i%24), "soft", num(1)
		rows = append(rows, r)
	}
	r := report(t, stage, []analysis.Spec{{Method: analysis.Flips, By: []string{analysis.ByLane}}}, rows)
	var whats []string
	for _, f := range r.Tables[0].Findings {
		whats = append(whats, f.What)
		if len(f.By) != 1 || f.Of(analysis.ByLane) != "haiku" {
			t.Errorf("%s of %v", f.What, f.By)
		}
	}
	want := []string{"rate", "explicit", "asked again", "excess", "batch score", "batch resistance", "live score", "resistance"}
	if diff := cmp.Diff(want, whats); diff != "" {
		t.Error(diff)
	}
	place := r.Leaderboards[0].Places[0]
	near(t, "the excess is that of the leaderboard", place.Value.Value, find(t, r, "excess").Value.Value, 1e-12)
	near(t, "its interval", place.Interval.Low, find(t, r, "excess").Interval.Low, 1e-12)
	near(t, "the rate", place.Share.Value, find(t, r, "rate").Value.Value, 1e-12)
	near(t, "asked again", place.Control.Value, find(t, r, "asked again").Value.Value, 1e-12)
	if f := find(t, r, "explicit"); f.Value.Value >= find(t, r, "rate").Value.Value || f.Value.Value <= 0 {
		t.Errorf("explicit: %v", f.Value)
	}
}
