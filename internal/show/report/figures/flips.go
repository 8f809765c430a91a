package figures

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
)

// flips returns how often answers were taken back: over levels where conversations have several, else by branch; and
// what pressure adds to the control.
func (d *drawing) flips() []*plot.Figure {
	whats := []string{analysis.WhatRate}
	if !d.has(analysis.WhatRate) {
		whats = []string{analysis.WhatRegressive, analysis.WhatProgressive}
	}
	if found := d.of(analysis.WhatExcess); d.knows(analysis.WhatExcess) && d.branches(found) > plot.MarkShapes {
		return []*plot.Figure{d.flipMap(analysis.WhatExcess, found)} // of many branches one map
	}
	var out []*plot.Figure
	for _, what := range whats {
		found := d.of(what)
		if len(found) == 0 {
			continue
		}
		switch {
		case d.branches(found) > plot.MarkShapes:
			out = append(out, d.flipMap(what, found))
		case d.turns(found) > 1:
			out = append(out, d.flipCurves(what, found))
		default:
			out = append(out, d.flipDots(what, found, nil))
		}
	}
	if found := d.of(analysis.WhatExcess); len(found) > 0 {
		out = append(out, d.flipDots(analysis.WhatExcess, found, new(float64)))
	}
	if len(out) == 0 {
		return d.generic()
	}
	return out
}

func (d *drawing) turns(found []*analysis.Finding) int {
	var turns []string
	for _, f := range found {
		plot.SeriesOf(&turns, f.Of(analysis.ByTurn))
	}
	return len(turns)
}

func (d *drawing) branches(found []*analysis.Finding) int {
	var names []string
	for _, f := range found {
		plot.SeriesOf(&names, branchOf(f))
	}
	return len(names)
}

var flipNames = map[string]string{
	analysis.WhatRate: "Answers taken back", analysis.WhatRegressive: "Right answers that became wrong",
	analysis.WhatProgressive: "Wrong answers that became right", analysis.WhatExcess: "What pressure adds to the control",
}

// owner is who a flip finding is about: its fields but branch and turn.
func owner(f *analysis.Finding) string {
	var parts []string
	for _, v := range f.By {
		if v.Field != analysis.ByBranch && v.Field != analysis.ByTurn {
			parts = append(parts, orNothing(v.Value))
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, ", ")
}

// controlName is the name of the branch of the neutral re-ask.
const controlName = "control"

func branchOf(f *analysis.Finding) string {
	if b := f.Of(analysis.ByBranch); b != "" {
		return b
	}
	return "pressure"
}

// calmTurns returns how many turns come before the first that presses: the opening, or none where it was asked in
// another stage.
func calmTurns(found []*analysis.Finding) int {
	first := 0
	for _, f := range found {
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && (first == 0 || turn < first) {
			first = turn
		}
	}
	return max(first-1, 0)
}

func (d *drawing) flipCurves(what string, found []*analysis.Finding) *plot.Figure {
	c := plot.Curves{
		Title: flipNames[what] + ", by level of pressure", Across: "level of pressure (1 is the first)", Up: flipNames[what] + " (%)",
		Level: d.level(), Words: d.whiskers(found) + " Grey: the control, a neutral re-ask.",
	}
	calm := calmTurns(found)
	for _, f := range found {
		who := owner(f)
		i := slices.IndexFunc(c.Panels, func(p plot.Panel) bool { return p.Name == who })
		if i < 0 {
			i = len(c.Panels)
			c.Panels = append(c.Panels, plot.Panel{Name: who})
		}
		p := &c.Panels[i]
		k := slices.IndexFunc(p.Curves, func(k plot.Curve) bool { return k.Name == branchOf(f) })
		if k < 0 {
			k = len(p.Curves)
			p.Curves = append(p.Curves, plot.Curve{Name: branchOf(f), Control: branchOf(f) == controlName})
		}
		turn, err := strconv.Atoi(f.Of(analysis.ByTurn))
		if err != nil {
			continue
		}
		p.Curves[k].Points = append(p.Curves[k].Points,
			plot.CurvePoint{Level: turn - calm, Value: f.Value, Between: f.Interval, N: f.N, Link: d.links.ToFinding(d.t, f)})
	}
	return c.Figure()
}

func (d *drawing) flipDots(what string, found []*analysis.Finding, reference *float64) *plot.Figure {
	p := plot.Intervals{
		Title: flipNames[what] + ", by branch", Down: "lane", Across: "branch", Axis: flipNames[what] + " (%)", Unit: analysis.Share,
		Level: d.level(), Words: d.whiskers(found), Reference: reference,
	}
	if reference == nil {
		p.Low, p.High = new(float64), new(1.0)
	} else {
		p.Axis, p.Unit = "rate minus that of the control (percentage points)", analysis.Gap
		p.Words += " Whether that is more than noise, the test in the table says."
	}
	levels, calm := d.turns(found) > 1, calmTurns(found)
	var rows []string
	for _, f := range found {
		i := plot.SeriesOf(&rows, owner(f))
		if i == len(p.Rows) {
			p.Rows = append(p.Rows, plot.IntervalRow{Label: rows[i]})
		}
		name := branchOf(f)
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && levels {
			name += ", level " + strconv.Itoa(turn-calm)
		}
		dot := d.dot(f)
		dot.Series = plot.SeriesOf(&p.Series, name)
		if name == controlName {
			p.Control = dot.Series + 1
		}
		p.Rows[i].Dots = append(p.Rows[i].Dots, dot)
	}
	p.InOrder(analysis.ByLane, plot.Less)
	return p.Figure()
}
