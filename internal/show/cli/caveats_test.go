package cli

import (
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
)

func TestWeakPointsNameCommandsThatCanBeTyped(t *testing.T) {
	t.Parallel()
	ranking := func(machines bool, cover analysis.Coverage) analysis.Leaderboard {
		return analysis.Leaderboard{
			Stage: "correct", Verb: analysis.Judged, Field: analysis.ByLane, What: analysis.WhatRate, Unit: analysis.Share, Level: 0.95,
			Clusters: 12, Machines: machines, Coverage: cover, Judges: []string{"judge"}, Kin: []string{"a"},
			Places: []analysis.Place{{Name: "a", Value: stats.Known(0.5)}, {Name: "b", Value: stats.Known(0.25)}},
			Tests: []analysis.Contrast{{First: 0, Second: 1, Difference: stats.Known(0.25), SE: stats.Known(0.2), P: stats.Known(0.3),
				Clusters: 12}},
		}
	}
	noon := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	tried := map[string]bool{}
	for _, closed := range []time.Time{{}, noon} {
		d := &report.Document{
			Run: "abcdefghij", Created: noon, Closed: closed, Where: " --home h",
			Rerun: report.Rerun{Command: "assay run study.yaml --rehearse", File: "study.yaml"},
			Lanes: []report.Lane{{Name: "a", Endings: map[assay.Ending]int64{assay.Expired: 1, assay.Rejected: 1}, Open: 2}},
			Report: &analysis.Report{Leaderboards: []analysis.Leaderboard{
				ranking(true, analysis.Coverage{Planned: 10, Valid: 5, Malformed: 5}),
				ranking(true, analysis.Coverage{Planned: 10, Valid: 5, Missing: 5}),
				ranking(false, analysis.Coverage{Planned: 10, Valid: 5, Missing: 5}),
			}},
		}
		if closed.IsZero() {
			d.Standing = report.Standing{State: "interrupted", Next: []string{"assay resume abcdefghij"}}
		}
		for _, c := range words.Summarise(d).Caveats {
			if !strings.HasSuffix(c.Command, " --home h") {
				t.Errorf("%q does not say which home", c.Command)
			}
			found := source{kind: ".go", text: "`" + c.Command + "`"}.commands()
			if len(found) != 1 {
				t.Fatalf("%q: %+v", c.Command, found)
			}
			if err := typed(found[0]); err != nil {
				t.Errorf("%s: %v", c.Command, err)
			}
			tried[strings.Fields(c.Command)[1]] = true
		}
	}
	for _, verb := range []string{"resume", "retry", "errors", "label", "run"} {
		if !tried[verb] {
			t.Errorf("no weak point says assay %s: %v", verb, tried)
		}
	}
}
