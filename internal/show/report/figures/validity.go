package figures

import (
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/plot"
)

// validity returns how far judges can be trusted: what they get right, what they take for what, and rates freed from
// their errors.
func (d *drawing) validity() []*plot.Figure {
	right := []string{analysis.WhatSensitivity, analysis.WhatSpecificity, analysis.WhatAccuracy}
	p := plot.Intervals{
		Title: "Judges against gold", Axis: "share of answers with a known label (%)", Unit: analysis.Share, Level: d.level(),
		Low: new(float64), High: new(1.0),
		Words: "Sensitivity: of what is yes, the share that the judge calls yes. Specificity: of what is no, the share that it calls no.",
	}
	for i := range d.t.Findings {
		f := &d.t.Findings[i]
		if !slices.Contains(right, f.What) {
			continue
		}
		d.place(&p, f)
	}
	var out []*plot.Figure
	if len(p.Rows) > 0 {
		out = append(out, p.Figure())
	}
	for i := range d.t.Confusions[:min(maxFacets, len(d.t.Confusions))] {
		out = append(out, confusionMap(&d.t.Confusions[i]))
	}
	rest := drawing{t: &analysis.Table{}, links: d.links}
	*rest.t = *d.t
	rest.t.Findings = slices.DeleteFunc(slices.Clone(d.t.Findings), func(f analysis.Finding) bool { return slices.Contains(right, f.What) })
	return append(out, rest.generic()...)
}

// confusionMap returns a judge's labels by the true ones; colours are shares of each true label.
func confusionMap(c *analysis.Confusion) *plot.Figure {
	h := plot.Heat{
		Title: "Judge " + assay.Clean(c.Judge, 80) + " against gold, label by label",
		Words: "Numbers of answers; colours are shares of each row. A perfect judge has all of them on the diagonal.", Down: "gold says",
		Across: "judge says", Rows: c.Labels, Columns: c.Labels, Legend: "share of the row",
	}
	data := &plot.Grid{Caption: h.Title, Head: []plot.Column{{Text: "gold says"}}}
	for _, l := range c.Labels {
		data.Head = append(data.Head, plot.Column{Text: "judge says " + l, Number: true, Foreign: true})
	}
	for i, row := range c.Counts {
		total := 0
		for _, n := range row {
			total += n
		}
		cells, texts := make([]plot.HeatCell, len(row)), []plot.Cell{plot.Foreign(c.Labels[i])}
		for k, n := range row {
			share := stats.Undefined("nothing is called so")
			if total > 0 {
				share = stats.Known(float64(n) / float64(total))
			}
			cells[k] = plot.HeatCell{
				Share: share, Text: assay.Thousands(n),
				Tip: fmt.Sprintf("gold %s, judge %s: %s of %s", assay.Clean(c.Labels[i], plot.MaxName),
					assay.Clean(c.Labels[k], plot.MaxName), assay.Thousands(n), assay.Thousands(total)),
			}
			texts = append(texts, plot.Number(assay.Thousands(n)))
		}
		h.Cells, data.Rows = append(h.Cells, cells), append(data.Rows, texts)
	}
	f := h.Figure()
	f.Data = data
	return f
}
