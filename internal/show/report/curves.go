package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// Curve is one line over levels.
type Curve struct {
	Name    string
	Control bool // what the others are held against
	Points  []CurvePoint
}

// CurvePoint is a value at a level, with its whiskers.
type CurvePoint struct {
	Level   int
	Value   stats.Number
	Between stats.Interval
	N       int // verdicts it rests on
	Link    string
}

// Panel is the curves of one lane.
type Panel struct {
	Name   string
	Curves []Curve
}

// Curves are small plots side by side on the same axes: shares over the levels of a conversation.
type Curves struct {
	Title, Words string
	Across, Up   string  // the axes' names with their units
	Level        float64 // of the whiskers
	Panels       []Panel
}

// maxPanels is how many small plots are drawn.
const maxPanels = 24

const (
	panelHeight = 172.0
	panelGap    = 24.0
	panelLeft   = 44.0 // room for the numbers of the axis
)

// Figure draws the panels.
func (c Curves) Figure() *Figure {
	f := &Figure{Title: c.Title, Words: c.Words, Points: c.points()}
	if n := len(c.Panels) - maxPanels; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s more are in the table", assay.Count(n, "lane")))
		c.Panels = c.Panels[:maxPanels]
	}
	if len(c.Panels) == 0 {
		f.Words = "There is no number to draw: see the table for why."
		return f
	}
	f.Scene = c.scene()
	return f
}

// names are the curves of all panels.
func (c *Curves) names() (names []string, control int) {
	for _, p := range c.Panels {
		for _, k := range p.Curves {
			i := seriesOf(&names, k.Name)
			if k.Control {
				control = i + 1
			}
		}
	}
	return names, control
}

func (c *Curves) scene() *Scene {
	names, control := c.names()
	legend := Intervals{Series: names, Control: control}
	top := 6.0
	if len(names) > 1 {
		top += 22 * float64(len(legend.legend()))
	}
	columns := min(3, len(c.Panels))
	if len(c.Panels) == 4 {
		columns = 2
	}
	rows := (len(c.Panels) + columns - 1) / columns
	wide := min(380, (plotWidth-panelLeft-8-panelGap*float64(columns-1))/float64(columns))
	s := &Scene{
		Title: c.Title, Desc: fmt.Sprintf("%s for %s, one small plot each: %s. The table has every number.", c.Up, assay.Count(len(c.Panels), "lane"), c.Across),
		Width: Px(max(panelLeft+float64(columns)*(wide+panelGap)-panelGap+8, legend.legendEnd(), 300)), Height: Px(top + float64(rows)*(panelHeight+24) + 22),
	}
	legend.drawLegend(s)
	low, high := c.levels()
	for i, p := range c.Panels {
		x, y := panelLeft+float64(i%columns)*(wide+panelGap), top+float64(i/columns)*(panelHeight+24)
		d := panelDrawing{
			scene: s, names: names, legend: &legend, outer: i%columns == 0,
			x: scale{low: float64(low) - 0.3, high: float64(high) + 0.3, from: x, to: x + wide}, y: scale{high: 1, from: y + panelHeight - 20, to: y + 26},
		}
		d.frame(p.Name, low, high)
		for _, k := range p.Curves {
			d.curve(k)
		}
	}
	s.say("axis-name mid", float64(s.Width)/2, float64(s.Height)-6, c.Across)
	return s
}

func (c *Curves) levels() (low, high int) {
	low, high = math.MaxInt, math.MinInt
	for _, p := range c.Panels {
		for _, k := range p.Curves {
			for _, at := range k.Points {
				low, high = min(low, at.Level), max(high, at.Level)
			}
		}
	}
	if low > high {
		return 0, 1
	}
	return low, high
}

// panelDrawing draws one panel.
type panelDrawing struct {
	scene  *Scene
	names  []string
	legend *Intervals
	outer  bool // at the left edge: it has the numbers of the axis
	x, y   scale
}

func (d *panelDrawing) frame(name string, low, high int) {
	s := d.scene
	s.name("label strong", d.x.from, d.y.to-9, d.x.to-d.x.from, name)
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		y := d.y.at(v)
		s.line("grid", d.x.from, y, d.x.to, y)
		if d.outer {
			s.say("tick end", d.x.from-6, y+3.8, tickText(analysis.Share, v, 0.25))
		}
	}
	s.line("axis", d.x.from, d.y.from, d.x.to, d.y.from)
	step := max(1, (high-low+1)/8)
	for level := low; level <= high; level += step {
		s.say("tick mid", d.x.at(float64(level)), d.y.from+15, strconv.Itoa(level))
	}
}

func (d *panelDrawing) curve(c Curve) {
	i := slices.Index(d.names, c.Name)
	class := d.legend.hue(i)
	shift := 0.0 // so that whiskers of several curves do not hide each other
	if n := len(d.names); n > 1 {
		shift = (float64(i) - float64(n-1)/2) * min(6, 30/float64(n))
	}
	var b strings.Builder
	for _, p := range c.Points {
		if p.Value.OK {
			word := "L"
			if b.Len() == 0 {
				word = "M"
			}
			fmt.Fprintf(&b, "%s%s %s", word, Px(d.x.at(float64(p.Level))+shift), Px(d.y.at(p.Value.Value)))
		}
	}
	if len(c.Points) > 1 && b.Len() > 0 {
		d.scene.path("curve "+class, b.String())
	}
	for _, p := range c.Points {
		if !p.Value.OK {
			continue
		}
		x := d.x.at(float64(p.Level)) + shift
		tip := fmt.Sprintf("%s, level %d: %s", assay.Clean(c.Name, maxName), p.Level, analysis.Share.Show(p.Value.Value))
		if p.Between.OK {
			d.scene.line("whisker "+class, x, d.y.at(p.Between.Low), x, d.y.at(p.Between.High))
			tip += " (" + between(analysis.Share, p.Between) + ")"
		}
		m := d.scene.mark("dot "+class, i, x, d.y.at(p.Value.Value), 3.8)
		m.Tip, m.Link = counted(tip, p.N), p.Link
	}
}

// flips are how often answers were taken back: over levels where conversations have several, else by branch; and what
// pressure adds to the control.
func (d *drawing) flips() []*Figure {
	whats := []string{analysis.WhatRate}
	if !d.has(analysis.WhatRate) {
		whats = []string{analysis.WhatRegressive, analysis.WhatProgressive}
	}
	var out []*Figure
	for _, what := range whats {
		found := d.of(what)
		if len(found) == 0 {
			continue
		}
		switch {
		case d.branches(found) > markShapes:
			out = append(out, d.flipMap(what, found))
		case d.turns(found) > 1:
			out = append(out, d.flipCurves(what, found))
		default:
			out = append(out, d.flipDots(what, found, nil))
		}
	}
	if found := d.of(analysis.WhatExcess); len(found) > 0 {
		if d.branches(found) > markShapes {
			out = append(out, d.flipMap(analysis.WhatExcess, found))
		} else {
			out = append(out, d.flipDots(analysis.WhatExcess, found, new(float64)))
		}
	}
	if len(out) == 0 {
		return d.generic()
	}
	return out
}

func (d *drawing) turns(found []*analysis.Finding) int {
	var turns []string
	for _, f := range found {
		seriesOf(&turns, f.Of(analysis.ByTurn))
	}
	return len(turns)
}

func (d *drawing) branches(found []*analysis.Finding) int {
	var names []string
	for _, f := range found {
		seriesOf(&names, branchOf(f))
	}
	return len(names)
}

var flipNames = map[string]string{
	analysis.WhatRate: "Answers taken back", analysis.WhatRegressive: "Right answers that became wrong", analysis.WhatProgressive: "Wrong answers that became right",
	analysis.WhatExcess: "What pressure adds to the control",
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

// controlName is what the branch of the neutral re-ask is called.
const controlName = "control"

func branchOf(f *analysis.Finding) string {
	if b := f.Of(analysis.ByBranch); b != "" {
		return b
	}
	return "pressure"
}

// calmTurns is how many turns come before the first that presses: the opening, or none where it was asked in another stage.
func calmTurns(found []*analysis.Finding) int {
	first := 0
	for _, f := range found {
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && (first == 0 || turn < first) {
			first = turn
		}
	}
	return max(first-1, 0)
}

func (d *drawing) flipCurves(what string, found []*analysis.Finding) *Figure {
	c := Curves{
		Title: flipNames[what] + ", by level of pressure", Across: "level of pressure (1 is the first)", Up: flipNames[what] + " (%)", Level: d.level(),
		Words: d.whiskers(found) + " Grey: the control, a neutral re-ask.",
	}
	calm := calmTurns(found)
	for _, f := range found {
		who := owner(f)
		i := slices.IndexFunc(c.Panels, func(p Panel) bool { return p.Name == who })
		if i < 0 {
			i = len(c.Panels)
			c.Panels = append(c.Panels, Panel{Name: who})
		}
		p := &c.Panels[i]
		k := slices.IndexFunc(p.Curves, func(k Curve) bool { return k.Name == branchOf(f) })
		if k < 0 {
			k = len(p.Curves)
			p.Curves = append(p.Curves, Curve{Name: branchOf(f), Control: branchOf(f) == controlName})
		}
		turn, err := strconv.Atoi(f.Of(analysis.ByTurn))
		if err != nil {
			continue
		}
		p.Curves[k].Points = append(p.Curves[k].Points, CurvePoint{Level: turn - calm, Value: f.Value, Between: f.Interval, N: f.N, Link: d.links.finding(d.t, f)})
	}
	return c.Figure()
}

func (d *drawing) flipDots(what string, found []*analysis.Finding, reference *float64) *Figure {
	p := Intervals{
		Title: flipNames[what] + ", by branch", Down: "lane", Across: "branch", Axis: flipNames[what] + " (%)", Unit: analysis.Share, Level: d.level(), Words: d.whiskers(found), Reference: reference,
	}
	if reference == nil {
		p.Low, p.High = new(float64), ptr(1.0)
	} else {
		p.Axis, p.Unit = "rate minus that of the control (percentage points)", analysis.Gap
		p.Words += " Whether that is more than noise, the test in the table says."
	}
	levels, calm := d.turns(found) > 1, calmTurns(found)
	var rows []string
	for _, f := range found {
		i := seriesOf(&rows, owner(f))
		if i == len(p.Rows) {
			p.Rows = append(p.Rows, IntervalRow{Label: rows[i]})
		}
		name := branchOf(f)
		if turn, err := strconv.Atoi(f.Of(analysis.ByTurn)); err == nil && levels {
			name += ", level " + strconv.Itoa(turn-calm)
		}
		dot := d.dot(f)
		dot.Series = seriesOf(&p.Series, name)
		if name == controlName {
			p.Control = dot.Series + 1
		}
		p.Rows[i].Dots = append(p.Rows[i].Dots, dot)
	}
	p.inOrder(analysis.ByLane, Less)
	return p.Figure()
}
