package report

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// crowded shows shares as a map: there are too many rows and series for dots. What there is less of stands across.
func crowded(p *Intervals, by []analysis.Value) *Figure {
	numbers := p.points()
	down, across := by[0].Field, by[len(by)-1].Field
	if len(p.Rows) < len(p.Series) {
		turned := p.turned()
		turned.inOrder(across, More)
		p, down, across = &turned, across, down
	}
	h := Heat{
		Title: p.Title, Words: "Colours: " + p.Axis + ". The pointer shows n and the interval; the table has them all.", Down: assay.Clean(down, 20), Across: assay.Clean(across, 20), Columns: p.Series, Legend: map[bool]string{true: "points", false: "share"}[p.Unit == analysis.Gap],
	}
	for _, r := range p.Rows {
		cells := make([]HeatCell, len(p.Series))
		for i := range cells {
			cells[i].Share, cells[i].Blank = stats.Undefined("no verdict"), true
		}
		for _, d := range r.Dots {
			cells[d.Series] = HeatCell{Share: d.Value, Text: strings.TrimSuffix(strings.TrimSuffix(shown(p.Unit, d.Value), "%"), " pt"), Tip: p.tip(r.Label, &d), Link: d.Link}
			if !d.Value.OK {
				cells[d.Series].Text = "?"
			}
		}
		h.Rows, h.Cells = append(h.Rows, r.Label), append(h.Cells, cells)
	}
	f := h.Figure()
	f.Points = numbers
	return f
}

// flipMap is how often answers were taken back, for more branches than there are colours: lanes across, the strongest pressure first.
func (d *drawing) flipMap(what string, found []*analysis.Finding) *Figure {
	p := Intervals{Title: flipNames[what] + ", by branch", Down: "branch", Across: "lane", Axis: flipNames[what] + " (%)", Unit: analysis.Share, Level: d.level()}
	if what == analysis.WhatExcess {
		p.Axis, p.Unit = "rate minus that of the control (percentage points)", analysis.Gap
	}
	levels, calm := d.turns(found) > 1, calmTurns(found)
	var rows []string
	for _, f := range found {
		name := branchOf(f)
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && levels {
			name += ", level " + strconv.Itoa(turn-calm)
		}
		i := seriesOf(&rows, name)
		if i == len(p.Rows) {
			p.Rows = append(p.Rows, IntervalRow{Label: name})
		}
		dot := d.dot(f)
		dot.Series = seriesOf(&p.Series, owner(f))
		p.Rows[i].Dots = append(p.Rows[i].Dots, dot)
	}
	p.inOrder(analysis.ByBranch, More)
	if len(p.Series) == 1 {
		p.Series = nil
		return p.Figure()
	}
	return crowded(&p, []analysis.Value{{Field: analysis.ByBranch}, {Field: analysis.ByLane}})
}

// judgeMap is how far every two of several judges agree; nil where there are but two.
func judgeMap(p *Intervals, what string, found []*analysis.Finding) *Figure {
	var names []string
	for _, f := range found {
		if len(f.By) != 2 || f.By[1].Field != analysis.ByAgainst {
			return nil
		}
		seriesOf(&names, f.By[0].Value)
		seriesOf(&names, f.By[1].Value)
	}
	if len(names) < 3 {
		return nil
	}
	slices.Sort(names)
	h := Heat{
		Title: p.Title, Words: "The darker, the more two judges agree. The pointer shows n and the interval.", Down: analysis.ByJudge, Across: analysis.ByJudge,
		Rows: names, Columns: names, Legend: what, Unit: p.Unit, Cells: make([][]HeatCell, len(names)),
	}
	for i := range h.Cells {
		h.Cells[i] = make([]HeatCell, len(names))
		for k := range names {
			h.Cells[i][k] = HeatCell{Share: stats.Undefined("not computed"), Blank: true}
		}
	}
	for _, f := range found {
		i, k := slices.Index(names, f.By[0].Value), slices.Index(names, f.By[1].Value)
		d := Interval{Value: f.Value, Between: f.Interval, N: f.N}
		cell := HeatCell{Share: f.Value, Text: shown(p.Unit, f.Value), Tip: counted(assay.Clean(names[i], maxName)+" and "+assay.Clean(names[k], maxName)+": "+p.valueText(&d), f.N)}
		if !f.Value.OK {
			cell.Text = "?"
		}
		h.Cells[i][k], h.Cells[k][i] = cell, cell
	}
	out := h.Figure()
	out.Points = p.points()
	return out
}
