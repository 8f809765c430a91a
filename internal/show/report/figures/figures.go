// Package figures shows findings: the plots that suit the method of a table, its numbers, and what they rest on.
package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// Of returns the plots of a table. Tables of known methods have their own; all others get dots with whiskers, one plot
// for each thing that is measured.
func Of(t *analysis.Table, links report.Links) []*plot.Figure {
	d := drawing{t: t, links: links}
	switch {
	case t.Method == analysis.BradleyT || t.Method == analysis.Davidson:
		if !d.knows(analysis.WhatStrength) && d.knows(analysis.WhatWin) {
			return d.leaderboards(analysis.WhatWin)
		}
		return d.leaderboards(analysis.WhatStrength)
	case t.Method == analysis.Elo:
		return d.leaderboards(analysis.WhatElo)
	case t.Method == analysis.WinRate:
		return d.leaderboards(analysis.WhatAverage, analysis.WhatWin)
	case t.Method == analysis.Flips:
		return d.flips()
	case t.Method == analysis.Position || t.Method == analysis.Consistency || t.Method == analysis.JudgeBias:
		return d.places()
	case t.Method == analysis.Validity:
		return d.validity()
	case d.has(analysis.WhatDifference):
		return d.differences()
	case t.Method == analysis.Rates:
		return d.rates()
	}
	return d.generic()
}

// drawing makes the figures of one table.
type drawing struct {
	t     *analysis.Table
	links report.Links
}

func (d *drawing) of(what string) []*analysis.Finding {
	var out []*analysis.Finding
	for i := range d.t.Findings {
		if f := &d.t.Findings[i]; f.What == what {
			out = append(out, f)
		}
	}
	return out
}

func (d *drawing) all() []*analysis.Finding {
	out := make([]*analysis.Finding, len(d.t.Findings))
	for i := range out {
		out[i] = &d.t.Findings[i]
	}
	return out
}

func (d *drawing) has(what string) bool { return len(d.of(what)) > 0 }

// knows reports whether there is a value of what is measured.
func (d *drawing) knows(what string) bool {
	return slices.ContainsFunc(d.of(what), func(f *analysis.Finding) bool { return f.Value.OK })
}

func (d *drawing) dot(f *analysis.Finding) plot.Interval {
	return plot.Interval{
		Value: f.Value, Between: f.Interval, Bounds: f.Bounds, Hollow: f.Coverage.Incomplete(), Aside: rankText(f), N: f.N,
		Link: d.links.ToFinding(d.t, f),
	}
}

func (d *drawing) level() float64 {
	for i := range d.t.Findings {
		if l := d.t.Findings[i].Level; l > 0 {
			return l
		}
	}
	return 0.95
}

// whiskers returns what the whiskers of findings mean.
func (d *drawing) whiskers(found []*analysis.Finding) string {
	if !slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Interval.OK }) {
		why := ""
		for i, f := range found {
			if i > 0 && f.Interval.Why != why {
				return "No interval is computed for it."
			}
			why = f.Interval.Why
		}
		return "No interval: " + why + "."
	}
	return fmt.Sprintf("Whiskers: %g%% intervals.", d.level()*100)
}

// maxFacets is how many plots of the same kind are drawn below each other.
const maxFacets = 8

// leaderboards returns one plot for each value of the fields beside the entrant's name, the best first.
func (d *drawing) leaderboards(whats ...string) []*plot.Figure {
	for _, what := range whats {
		found := d.of(what)
		if len(found) == 0 {
			continue
		}
		var figures []*plot.Figure
		groups, names := facets(found, 1)
		for _, name := range names[:min(maxFacets, len(names))] {
			figures = append(figures, d.leaderboard(what, name, groups[name]))
		}
		if n := len(names) - maxFacets; n > 0 {
			last := figures[len(figures)-1]
			last.Notes = append(last.Notes, fmt.Sprintf("%s more are in the table", assay.Count(n, "leaderboard")))
		}
		if d.t.Matrix != nil && len(d.t.Matrix.Names) > 1 {
			figures = append(figures, winMap(d.t, d.links))
		}
		return figures
	}
	return nil
}

func (d *drawing) leaderboard(what, facet string, found []*analysis.Finding) *plot.Figure {
	slices.SortStableFunc(found, func(a, b *analysis.Finding) int {
		if a.Value.OK != b.Value.OK {
			return cmp.Compare(plot.One(b.Value.OK), plot.One(a.Value.OK))
		}
		return cmp.Compare(b.Value.Value, a.Value.Value)
	})
	p := plot.Intervals{Title: "Leaderboard by " + what, Down: fieldOf(found[0]), Axis: axisOf(what, found[0].Shown()),
		Unit: found[0].Shown(), Level: d.level(), Words: d.whiskers(found)}
	if facet != "" {
		p.Title += ": " + facet
	}
	if slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Rank != nil }) {
		p.Words += " On the right, the rank and the ranks that the data allow."
	}
	switch found[0].Shown() {
	case analysis.Logit:
		p.Reference = new(float64)
	case analysis.Share:
		p.Reference, p.Low, p.High = new(0.5), new(float64), new(1.0)
	}
	for _, f := range found {
		p.Rows = append(p.Rows, plot.IntervalRow{Label: firstOf(f), Dots: []plot.Interval{d.dot(f)}})
	}
	return p.Figure()
}

// facets puts findings together that share their fields from a place on, by the name of those.
func facets(found []*analysis.Finding, from int) (groups map[string][]*analysis.Finding, names []string) {
	groups = map[string][]*analysis.Finding{}
	for _, f := range found {
		name := joinedBy(f, from)
		if _, ok := groups[name]; !ok {
			names = append(names, name)
		}
		groups[name] = append(groups[name], f)
	}
	return groups, names
}

func joinedBy(f *analysis.Finding, from int) string {
	var parts []string
	for _, v := range f.By[min(from, len(f.By)):] {
		parts = append(parts, v.Field+" "+orNothing(v.Value))
	}
	return strings.Join(parts, ", ")
}

func orNothing(s string) string { return cmp.Or(s, "(none)") }

func firstOf(f *analysis.Finding) string {
	if len(f.By) == 0 {
		return "all"
	}
	return orNothing(f.By[0].Value)
}

// axisOf names an axis: what is measured, and in which unit.
func axisOf(what string, u analysis.Unit) string {
	units := map[analysis.Unit]string{
		analysis.Share: "%", analysis.Score: "score", analysis.Logit: "log-odds", analysis.Points: "Elo points",
		analysis.Index: "index, at most 1", analysis.Hundreds: "points", analysis.Gap: "percentage points",
	}
	unit := cmp.Or(units[u], string(u))
	switch what {
	case analysis.WhatElo:
		return "rating (" + unit + ", mean over random orders)"
	case analysis.WhatStrength:
		return "strength (" + unit + "; 0 is the mean of all)"
	}
	if unit == "" {
		return assay.Clean(what, 80)
	}
	return assay.Clean(what, 80) + " (" + unit + ")"
}

// differences returns each lane against each other, with a line at none.
func (d *drawing) differences() []*plot.Figure {
	found := d.of(analysis.WhatDifference)
	p := plot.Intervals{
		Title: "Differences on the same items", Axis: "difference, first minus second", Unit: found[0].Shown(), Level: d.level(),
		Reference: new(float64), Words: d.whiskers(found) +
			" Whether they show a difference, the test in the table says: whiskers are not corrected for many tests.",
	}
	if found[0].Shown() == analysis.Gap {
		p.Axis += " (percentage points)"
	}
	d.fill(&p, found)
	p.InOrder(analysis.ByLane, plot.More)
	return []*plot.Figure{p.Figure()}
}

// places are positional bias and consistency, with a line where the order of showing does not matter.
func (d *drawing) places() []*plot.Figure {
	var out []*plot.Figure
	for _, k := range []struct {
		what, title, axis string
		reference         *float64
	}{
		{analysis.WhatConsistency, "The same winner in both orders", "pairs with the same winner (%)", nil},
		{analysis.WhatFirstBoth, "Wins of the one shown first, of pairs judged in both orders",
			"decided comparisons won by the first (%); 50% is no bias", new(0.5)},
		{analysis.WhatFirst, "Wins of the one shown first", "decided comparisons won by the first (%); 50% is no bias", new(0.5)},
		{analysis.WhatOrder, "Order effect", "advantage of standing first (log-odds); 0 is none", new(float64)},
	} {
		found := d.of(k.what)
		if len(found) == 0 || !slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Value.OK }) {
			continue
		}
		p := plot.Intervals{Title: k.title, Axis: k.axis, Unit: found[0].Shown(), Level: d.level(), Reference: k.reference,
			Words: d.whiskers(found)}
		if p.Unit == analysis.Share {
			p.Low, p.High = new(float64), new(1.0)
		}
		d.fill(&p, found)
		out = append(out, p.Figure())
	}
	return out
}

// generic draws one plot for each thing that is measured and grouped by something.
func (d *drawing) generic() []*plot.Figure {
	var whats []string
	for i := range d.t.Findings {
		// cells are for the table
		if f := &d.t.Findings[i]; len(f.By) > 0 && f.What != analysis.WhatCell && f.What != analysis.WhatCellDelta {
			plot.SeriesOf(&whats, f.What)
		}
	}
	if len(whats) == 0 {
		return d.alone()
	}
	var out []*plot.Figure
	for _, what := range whats[:min(maxFacets, len(whats))] {
		found := slices.DeleteFunc(d.of(what), func(f *analysis.Finding) bool { return len(f.By) == 0 })
		p := plot.Intervals{Title: plot.Capital(analysis.Called(what)) + byText(found[0]), Axis: axisOf(what, found[0].Shown()),
			Unit: found[0].Shown(), Level: d.level(), Words: d.whiskers(found)}
		switch found[0].Shown() {
		case analysis.Share:
			p.Low, p.High = new(float64), new(1.0)
			if slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Value.OK && f.Value.Value < 0 }) {
				p.Low, p.Reference = new(-1.0), new(float64)
			}
		case analysis.Index:
			p.Reference, p.High = new(float64), new(1.0)
		default:
			if slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Interval.OK && f.Interval.Low < 0 }) {
				p.Reference = new(float64)
			}
		}
		d.fill(&p, found)
		p.InOrder(found[0].By[0].Field, plot.More)
		if what == analysis.WhatKappa || what == analysis.WhatAgreement {
			if f := judgeMap(&p, what, found); f != nil {
				out = append(out, f)
				continue
			}
		}
		out = append(out, p.Figure())
	}
	return out
}

// alone draws findings that nothing distinguishes, one in a row, as far as they have an interval: a number by itself
// needs no plot.
func (d *drawing) alone() []*plot.Figure {
	var plots []*plot.Intervals
	for _, f := range d.all() {
		if !f.Interval.OK {
			continue
		}
		i := slices.IndexFunc(plots, func(p *plot.Intervals) bool { return p.Unit == f.Shown() })
		if i < 0 {
			i = len(plots)
			plots = append(plots, &plot.Intervals{Title: plot.Capital(d.t.Title), Axis: axisOf("value", f.Shown()), Unit: f.Shown(),
				Level: d.level(), Words: d.whiskers([]*analysis.Finding{f}), Reference: new(float64)})
		}
		plots[i].Rows = append(plots[i].Rows, plot.IntervalRow{Label: analysis.Called(f.What), Dots: []plot.Interval{d.dot(f)}})
	}
	var out []*plot.Figure
	for _, p := range plots {
		out = append(out, p.Figure())
	}
	return out
}
