package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// crowded shows shares as a map: there are too many rows and series for dots. What there is less of goes across. Of branches the first
// few are shown and the others folded.
func crowded(p *plot.Intervals, by []analysis.Value) *plot.Figure {
	numbers := p.Points()
	down, across := by[0].Field, by[len(by)-1].Field
	if len(p.Rows) < len(p.Series) {
		turned := p.Turned()
		turned.InOrder(across, plot.More)
		p, down, across = &turned, across, down
	}
	h := plot.Heat{
		Title: p.Title, Words: "Colours: " + p.Axis + ". The pointer shows n and the interval; the table has them all.",
		Down: assay.Clean(down, 20), Across: assay.Clean(across, 20), Columns: p.Series,
		Legend: map[bool]string{true: "points", false: "share"}[p.Unit == analysis.Gap], Unit: p.Unit,
		Middle: p.Unit == analysis.Gap, Worse: p.Unit == analysis.Gap,
	}
	if down == analysis.ByBranch {
		h.First = firstBranches
	}
	for _, r := range p.Rows {
		cells := make([]plot.HeatCell, len(p.Series))
		for i := range cells {
			cells[i].Share, cells[i].Blank = stats.Undefined("no verdict"), true
		}
		for _, d := range r.Dots {
			cells[d.Series] = plot.HeatCell{Share: d.Value, Text: strings.TrimSuffix(strings.TrimSuffix(plot.Shown(p.Unit, d.Value), "%"),
				" pt"), Short: strconv.Itoa(int(math.Round(100 * d.Value.Value))), Tip: p.Tip(r.Label, &d), Link: d.Link}
			switch {
			case !d.Value.OK:
				cells[d.Series].Text, cells[d.Series].Short = "?", "?"
			case h.Middle: // from -1 to 1
				cells[d.Series].Share = stats.Known((1 + d.Value.Value) / 2)
			}
		}
		h.Rows, h.Cells = append(h.Rows, r.Label), append(h.Cells, cells)
	}
	f := h.Figure()
	f.Points = numbers
	return f
}

// firstBranches is how many branches are shown at first: the largest.
const firstBranches = 10

// flipMap returns how often answers were taken back, for more branches than there are colours: lanes across, the best first, and
// the strongest pressure on top.
func (d *drawing) flipMap(what string, found []*analysis.Finding) *plot.Figure {
	p := plot.Intervals{Title: flipNames[what] + ", by branch", Down: "branch", Across: "lane", Axis: flipNames[what] + " (%)",
		Unit: analysis.Share, Level: d.level()}
	if what == analysis.WhatExcess {
		p.Axis, p.Unit = "rate minus that of the control (percentage points)", analysis.Gap
	}
	levels, calm := d.turns(found) > 1, calmTurns(found)
	p.Series = byMean(found)
	var rows []string
	for _, f := range found {
		name := branchOf(f)
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && levels {
			name += ", level " + strconv.Itoa(turn-calm)
		}
		i := plot.SeriesOf(&rows, name)
		if i == len(p.Rows) {
			p.Rows = append(p.Rows, plot.IntervalRow{Label: name})
		}
		dot := d.dot(f)
		dot.Series = plot.SeriesOf(&p.Series, owner(f))
		p.Rows[i].Dots = append(p.Rows[i].Dots, dot)
	}
	p.InOrder(analysis.ByBranch, plot.More)
	if len(p.Series) == 1 {
		p.Series = nil
		return p.Figure()
	}
	return crowded(&p, []analysis.Value{{Field: analysis.ByBranch}, {Field: analysis.ByLane}})
}

// byMean returns who findings are about, the least mean first.
func byMean(found []*analysis.Finding) []string {
	sum, n := map[string]float64{}, map[string]float64{}
	var names []string
	for _, f := range found {
		if plot.SeriesOf(&names, owner(f)); f.Value.OK {
			sum[owner(f)], n[owner(f)] = sum[owner(f)]+f.Value.Value, n[owner(f)]+1
		}
	}
	mean := func(name string) float64 {
		if n[name] == 0 {
			return math.Inf(1)
		}
		return sum[name] / n[name]
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(mean(a), mean(b)) })
	return names
}

// judgeMap returns how far every two of several judges agree; nil where there are but two.
func judgeMap(p *plot.Intervals, what string, found []*analysis.Finding) *plot.Figure {
	var names []string
	for _, f := range found {
		if len(f.By) != 2 || f.By[1].Field != analysis.ByAgainst {
			return nil
		}
		plot.SeriesOf(&names, f.By[0].Value)
		plot.SeriesOf(&names, f.By[1].Value)
	}
	if len(names) < 3 {
		return nil
	}
	slices.Sort(names)
	h := plot.Heat{
		Title: p.Title, Words: "The darker, the more two judges agree. The pointer shows n and the interval.", Down: analysis.ByJudge,
		Across: analysis.ByJudge, Rows: names, Columns: names, Legend: what, Unit: p.Unit, Cells: make([][]plot.HeatCell, len(names)),
	}
	for i := range h.Cells {
		h.Cells[i] = make([]plot.HeatCell, len(names))
		for k := range names {
			h.Cells[i][k] = plot.HeatCell{Share: stats.Undefined("not computed"), Blank: true}
		}
	}
	for _, f := range found {
		i, k := slices.Index(names, f.By[0].Value), slices.Index(names, f.By[1].Value)
		d := plot.Interval{Value: f.Value, Between: f.Interval, N: f.N}
		cell := plot.HeatCell{Share: f.Value, Text: plot.Shown(p.Unit, f.Value),
			Tip: plot.Counted(assay.Clean(names[i], plot.MaxName)+" and "+assay.Clean(names[k], plot.MaxName)+": "+p.ValueText(&d), f.N)}
		if !f.Value.OK {
			cell.Text = "?"
		}
		h.Cells[i][k], h.Cells[k][i] = cell, cell
	}
	out := h.Figure()
	out.Points = p.Points()
	return out
}

// winMap is who won how often against whom, the strongest first.
func winMap(t *analysis.Table, links report.Links) *plot.Figure {
	m := t.Matrix
	order := byValue(t, m.Names)
	left := max(0, len(order)-plot.MaxHeat)
	order = order[:len(order)-left]
	h := plot.Heat{
		Title: "Wins, one against one", Words: "Share of comparisons that the row won against the column; a tie is half a win.",
		Down: "won by", Across: "against", Middle: true, Legend: "share won",
	}
	data := &plot.Grid{Caption: h.Title, Head: []plot.Column{{Text: "won against"}}}
	for _, k := range order {
		h.Columns = append(h.Columns, m.Names[k])
		data.Head = append(data.Head, plot.Column{Text: m.Names[k], Number: true, Foreign: true})
	}
	for _, i := range order {
		row := make([]plot.HeatCell, len(order))
		cells := []plot.Cell{{Text: m.Names[i], Foreign: true}}
		for place, k := range order {
			cell := plot.HeatCell{Share: m.Shares[i][k], Blank: i == k, Link: links.ToPair(t, m.Names[i], m.Names[k])}
			text := plot.NoneText
			if i != k {
				text = plot.Shown(analysis.Share, cell.Share)
				cell.Text = text
				if !cell.Share.OK {
					cell.Text = "?"
				}
				cell.Tip = fmt.Sprintf("%s won %s against %s", assay.Clean(m.Names[i], plot.MaxName), text,
					assay.Clean(m.Names[k], plot.MaxName))
				cells = append(cells, plot.Cell{Text: text, Link: cell.Link, Soft: !cell.Share.OK})
			} else {
				cell.Link = ""
				cells = append(cells, plot.Cell{Text: text, Soft: true})
			}
			row[place] = cell
		}
		h.Rows, h.Cells, data.Rows = append(h.Rows, m.Names[i]), append(h.Cells, row), append(data.Rows, cells)
	}
	f := h.Figure()
	f.Data = data
	if left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("the best %d of %d; assay analyse --json has them all", len(order), len(m.Names)))
	}
	return f
}
