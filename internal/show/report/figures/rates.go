package figures

import (
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
)

// rates returns the rate or the mean by lane and one more field; where there is neither, the shares of all labels.
func (d *drawing) rates() []*plot.Figure {
	var out []*plot.Figure
	for _, what := range []string{analysis.WhatRate, analysis.WhatMean} {
		if found := d.of(what); len(found) > 0 && (what == analysis.WhatRate || len(out) == 0) {
			out = append(out, d.grouped(what, found))
		}
	}
	if len(out) == 0 && len(d.t.Findings) > 0 {
		return []*plot.Figure{d.labels()}
	}
	return out
}

// grouped draws findings by their first field as rows and the others as series.
func (d *drawing) grouped(what string, found []*analysis.Finding) *plot.Figure {
	p := plot.Intervals{
		Title: plot.Capital(what) + byText(found[0]), Axis: axisOf(d.meaning(what), found[0].Unit), Unit: found[0].Unit, Level: d.level(),
		Words: d.whiskers(found),
	}
	if p.Unit == analysis.Share {
		p.Low, p.High = new(float64), new(1.0)
	}
	if slices.ContainsFunc(found, func(f *analysis.Finding) bool { return f.Bounds.OK && f.Bounds.High-f.Bounds.Low > 1e-9 }) {
		p.Words += " Pale bars: where the value must lie whatever the missing verdicts are."
	}
	d.fill(&p, found)
	if len(found[0].By) > 0 {
		p.InOrder(found[0].By[0].Field, goodEnd(d.t, what))
	}
	if min(len(p.Rows), len(p.Series)) > 2 && max(len(p.Rows), len(p.Series)) > plot.MarkShapes && p.Unit == analysis.Share {
		return crowded(&p, found[0].By)
	}
	return p.Figure()
}

// meaning returns what is measured: of a rate, the labels that it counts.
func (d *drawing) meaning(what string) string {
	if what == analysis.WhatRate && len(d.t.Counted) > 0 {
		return "share of " + strings.Join(d.t.Counted, " or ")
	}
	return what
}

// fill enters findings: rows by the first field, or by the two that are held against each other; series by the rest.
func (d *drawing) fill(p *plot.Intervals, found []*analysis.Finding) {
	var rows []string
	if len(found) > 0 {
		p.Down, p.Across = fieldOf(found[0]), "of"
		if len(found[0].By) > 1 {
			p.Across = found[0].By[len(found[0].By)-1].Field
		}
	}
	for _, f := range found {
		label, from := firstOf(f), 1
		if len(f.By) > 1 && f.By[1].Field == analysis.ByAgainst {
			label, from = label+" − "+orNothing(f.By[1].Value), 2
			if f.What != analysis.WhatDifference {
				label = firstOf(f) + " and " + orNothing(f.By[1].Value)
			}
		}
		i := plot.SeriesOf(&rows, label)
		if i == len(p.Rows) {
			p.Rows = append(p.Rows, plot.IntervalRow{Label: rows[i]})
		}
		dot := d.dot(f)
		if rest := valuesFrom(f, from); rest != "" {
			dot.Series = plot.SeriesOf(&p.Series, rest)
		}
		p.Rows[i].Dots = append(p.Rows[i].Dots, dot)
	}
}

// fieldOf returns what the first field of a finding is called.
func fieldOf(f *analysis.Finding) string {
	if len(f.By) == 0 {
		return ""
	}
	return f.By[0].Field
}

// valuesFrom returns the values of a finding's fields from a place on; turns are named as such.
func valuesFrom(f *analysis.Finding, from int) string {
	var parts []string
	for _, v := range f.By[min(from, len(f.By)):] {
		switch {
		case v.Value == "":
		case v.Field == analysis.ByTurn || v.Field == analysis.ByDraw:
			parts = append(parts, v.Field+" "+v.Value)
		default:
			parts = append(parts, v.Value)
		}
	}
	return strings.Join(parts, ", ")
}

func byText(f *analysis.Finding) string {
	if len(f.By) == 0 {
		return ""
	}
	var names []string
	for _, v := range f.By {
		if v.Field == analysis.ByAgainst {
			return " of two " + f.By[0].Field + "s"
		}
		names = append(names, v.Field)
	}
	return " by " + strings.Join(names, " and ")
}

// labels draws the share of every label, as series.
func (d *drawing) labels() *plot.Figure {
	p := plot.Intervals{
		Title: "Labels" + byText(&d.t.Findings[0]), Axis: "share of verdicts (%)", Unit: analysis.Share, Low: new(float64), High: new(1.0),
		Level: d.level(), Words: d.whiskers(d.all()),
	}
	for i := range d.t.Findings {
		f := &d.t.Findings[i]
		if f.Unit != analysis.Share {
			continue
		}
		d.place(&p, f)
	}
	p.Down, p.Across = "of", "label"
	return p.Figure()
}

// place puts a finding into the row of whom it is about, in the series of what it measures.
func (d *drawing) place(p *plot.Intervals, f *analysis.Finding) {
	label := orNothing(valuesFrom(f, 0))
	k := slices.IndexFunc(p.Rows, func(r plot.IntervalRow) bool { return r.Label == label })
	if k < 0 {
		k = len(p.Rows)
		p.Rows = append(p.Rows, plot.IntervalRow{Label: label})
	}
	dot := d.dot(f)
	dot.Series = plot.SeriesOf(&p.Series, f.What)
	p.Rows[k].Dots = append(p.Rows[k].Dots, dot)
}
