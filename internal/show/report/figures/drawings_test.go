package figures

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/plot/plottest"
)

func TestManyLanesByManyTopicsAreAMap(t *testing.T) {
	t.Parallel()
	table := analysis.Table{Method: analysis.Rates}
	for i := range 8 {
		for k := range 9 {
			table.Findings = append(table.Findings, analysis.Finding{
				What: analysis.WhatRate, Unit: analysis.Share, Value: stats.Known(float64(i*k) / 72),
				By: []analysis.Value{{Field: "lane", Value: fmt.Sprint("lane ", i)}, {Field: "topic", Value: fmt.Sprint("topic ", k)}},
			})
		}
	}
	drawn := Of(&table, report.Links{})
	if len(drawn) != 1 {
		t.Fatalf("%d drawn", len(drawn))
	}
	plottest.Inside(t, drawn[0].Scene)
	if !plottest.Has(drawn[0].Scene, "cell q5") || !plottest.Has(drawn[0].Scene, "cell q0") {
		t.Error("the map has no dark or no light square")
	}
}

func TestADotThatRestsOnTooLittleIsHollow(t *testing.T) {
	t.Parallel()
	f := analysis.Finding{What: analysis.WhatRate, Unit: analysis.Share, Value: stats.Known(0.5),
		By: []analysis.Value{{Field: "lane", Value: "x"}}}
	for valid, want := range map[int]bool{94: true, 95: false} {
		f.Coverage = analysis.Coverage{Planned: 100, Valid: valid}
		fig := Of(&analysis.Table{Method: analysis.Rates, Findings: []analysis.Finding{f}}, report.Links{})[0]
		if got := plottest.Has(fig.Scene, "hollow"); got != want || got != (len(fig.Notes) > 0) {
			t.Errorf("%d of 100: hollow %t, notes %q", valid, got, fig.Notes)
		}
	}
}

func TestSegmentsThatOverlapStandUnderEachOther(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	at := func(from, to int) report.Segment {
		return report.Segment{State: "settled", Created: start.Add(time.Duration(from) * time.Minute),
			Settled: start.Add(time.Duration(to) * time.Minute)}
	}
	tr := track{segments: []report.Segment{at(0, 10), at(5, 20), at(10, 15), at(12, 30)}}
	tr.pack(start.Add(time.Hour))
	if diff := cmp.Diff([]int{0, 1, 0, 2}, tr.line); diff != "" || tr.lines != 3 {
		t.Errorf("%d lines\n%s", tr.lines, diff)
	}
}

func TestOtherPlotsHoldWhateverTheyAreGiven(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	names := make([]string, 80)
	cells := make([][]plot.HeatCell, 80)
	for i := range names {
		names[i], cells[i] = fmt.Sprintf("lane %d", i), make([]plot.HeatCell, 80)
	}
	segments := []report.Segment{
		{No: 1, Stage: "a", Lane: "x", State: "settled", Created: start, Launched: start, Ended: start, Settled: start},
		{No: 2, Stage: "a", Lane: "y", State: "planned", Created: start},
		{No: 3, Stage: "b", Lane: "y", State: "failed", Created: start.Add(time.Hour)},
		{No: 4, Stage: "b", Lane: "y", State: "launched", Created: start.Add(time.Hour), Launched: start.Add(2 * time.Hour),
			Cost: assay.Cost{Unknown: 3}},
	}
	panel := plot.Panel{Name: "lane", Curves: []plot.Curve{{Name: "pressure",
		Points: []plot.CurvePoint{{Level: 1, Value: stats.Known(0)}, {Level: 3, Value: stats.Undefined("no")}}}}}
	for name, f := range map[string]*plot.Figure{
		"scatter of one": plot.Scatter{Title: "s", Points: []plot.ScatterPoint{{Name: "x", Cost: 0, Value: 0}}}.Figure(),
		"scatter of unlike": plot.Scatter{Title: "s", Better: plot.More, Points: []plot.ScatterPoint{{Name: "x", Cost: 1e-6, Value: -3},
			{Name: strings.Repeat("y", 200), Cost: 100, Value: 9, Between: stats.Between(-1e3, 1e3)}}}.Figure(),
		"heat map of eighty":   plot.Heat{Title: "h", Rows: names, Columns: names, Cells: cells}.Figure(),
		"heat map of one":      plot.Heat{Title: "h", Rows: names[:1], Columns: names[:1], Cells: cells[:1], Middle: true}.Figure(),
		"curves with a gap":    plot.Curves{Title: "c", Panels: []plot.Panel{panel, panel, panel, panel}}.Figure(),
		"timeline":             Timeline(segments, start.Add(3*time.Hour), report.Links{}),
		"timeline of a moment": Timeline(segments[:1], start, report.Links{}),
		"burn-up":              BurnUp(segments, new(assay.Money(0)), start.Add(3*time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plottest.Inside(t, f.Scene)
		})
	}
	for name, f := range map[string]*plot.Figure{
		"scatter": plot.Scatter{Points: []plot.ScatterPoint{{Cost: math.NaN()}}}.Figure(), "heat map": plot.Heat{}.Figure(),
		"curves": plot.Curves{}.Figure(), "timeline": Timeline(nil, start, report.Links{}), "burn-up": BurnUp(segments[1:], nil, start),
	} {
		if f.Scene != nil || f.Words == "" {
			t.Errorf("an empty %s is drawn, or says nothing", name)
		}
	}
}
