package plot

import (
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// Interval is one dot with its whiskers.
type Interval struct {
	Series  int
	Value   stats.Number
	Between stats.Interval
	Bounds  stats.Interval // drawn pale where they are wider than a point
	Hollow  bool           // rests on too little of the plan
	Aside   string         // behind the value, such as a rank
	N       int            // verdicts it rests on
	Link    string
}

// IntervalRow is the dots that share a label.
type IntervalRow struct {
	Label string
	Dots  []Interval
}

// Intervals is a dot-and-whisker plot: rows from top to bottom, series by colour and shape.
type Intervals struct {
	Title, Words string
	Down, Across string // what rows and series are
	Axis         string // what the values are, with their unit
	Unit         analysis.Unit
	Level        float64  // of the whiskers
	Series       []string // their names; fewer than two: no legend
	Control      int      // the series that the others are held against, from 1; 0: none
	Rows         []IntervalRow
	Reference    *float64 // a dashed line
	Low, High    *float64 // ends of the axis; nil: from the data
}

// maxRows is how many dots a plot has; the table has them all.
const maxRows = 120

const (
	PlotWidth = 840.0
	AxisRoom  = 44.0
	minPlot   = 240.0
)

// Figure draws the plot.
func (p Intervals) Figure() *Figure {
	f := &Figure{Title: p.Title, Words: p.Words, Points: p.Points()}
	switch {
	case len(p.Series) <= MarkShapes:
	case len(p.Rows) <= MarkShapes && len(p.Rows) > 1:
		p = p.Turned()
	default:
		p = p.flat()
	}
	rows, left := p.kept()
	if left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s more are in the table", assay.Count(left, "value")))
	}
	p.Rows = rows
	if p.drawn() == 0 {
		f.Words = "There is no number to draw: see the table for why."
		return f
	}
	f.Scene = p.scene()
	if p.hollow() {
		f.Notes = append(f.Notes, "hollow: rests on less than 95% of the plan")
	}
	return f
}

// Turned makes rows of series and series of rows: there are more series than colours, and few rows.
func (p Intervals) Turned() Intervals {
	rows, series := make([]IntervalRow, len(p.Series)), make([]string, len(p.Rows))
	for i, name := range p.Series {
		rows[i].Label = name
	}
	for i, r := range p.Rows {
		series[i] = r.Label
		for _, d := range r.Dots {
			row := &rows[d.Series]
			d.Series = i
			row.Dots = append(row.Dots, d)
		}
	}
	p.Rows, p.Series, p.Control = rows, series, 0
	return p
}

// flat puts every dot in a row of its own: more series than colours.
func (p Intervals) flat() Intervals {
	var rows []IntervalRow
	for _, r := range p.Rows {
		for _, d := range r.Dots {
			row := IntervalRow{Label: r.Label + " · " + p.Series[d.Series], Dots: []Interval{d}}
			row.Dots[0].Series = 0
			rows = append(rows, row)
		}
	}
	p.Rows, p.Series, p.Control = rows, nil, 0
	return p
}

func (p *Intervals) kept() (rows []IntervalRow, left int) {
	n := 0
	for i, r := range p.Rows {
		if n+len(r.Dots) > maxRows && i > 0 {
			for _, rest := range p.Rows[i:] {
				left += len(rest.Dots)
			}
			return p.Rows[:i], left
		}
		n += len(r.Dots)
	}
	return p.Rows, 0
}

func (p *Intervals) drawn() int {
	n := 0
	p.each(func(_ int, d *Interval) {
		if d.Value.OK {
			n++
		}
	})
	return n
}

func (p *Intervals) hollow() bool {
	yes := false
	p.each(func(_ int, d *Interval) { yes = yes || d.Hollow && d.Value.OK })
	return yes
}

func (p *Intervals) each(do func(row int, d *Interval)) {
	for i := range p.Rows {
		for k := range p.Rows[i].Dots {
			do(i, &p.Rows[i].Dots[k])
		}
	}
}

// domain returns the range of the axis: all values, and whiskers as far as they do not dwarf the values.
func (p *Intervals) domain() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	p.each(func(_ int, d *Interval) {
		if d.Value.OK && Finite(d.Value.Value) {
			low, high = min(low, d.Value.Value), max(high, d.Value.Value)
		}
	})
	least, most := low, high
	reach := 4 * (high - low)
	p.each(func(_ int, d *Interval) {
		if b := d.Between; d.Value.OK && b.OK && Finite(b.Low) && Finite(b.High) {
			least, most = min(least, b.Low), max(most, b.High)
		}
	})
	if reach > 0 {
		least, most = max(least, low-reach), min(most, high+reach)
	}
	if p.Reference != nil {
		least, most = min(least, *p.Reference), max(most, *p.Reference)
	}
	if p.Low != nil {
		least = *p.Low
	}
	if p.High != nil {
		most = *p.High
	}
	low, high = widened(least, most, 6)
	if p.Low != nil {
		low = *p.Low
	}
	if p.High != nil {
		high = *p.High
	}
	if high <= low {
		high = low + 1
	}
	return low, high
}

// layout holds the positions of the parts of the plot.
type layout struct {
	label, right  float64 // widths of the columns beside the plot
	top, line     float64
	x             Scale
	height, aside float64
}

func (p *Intervals) layout() layout {
	l := layout{top: 14, line: 24}
	if len(p.Series) > 1 {
		l.top, l.line = 14+22*float64(len(p.legend())), 17
	}
	for _, r := range p.Rows {
		l.label = max(l.label, WidthOf(assay.Clean(r.Label, MaxName), LabelSize))
	}
	p.each(func(_ int, d *Interval) {
		l.right = max(l.right, WidthOf(p.ValueText(d), SmallSize))
		l.aside = max(l.aside, WidthOf(d.Aside, SmallSize))
	})
	l.label = min(l.label+14, 250)
	right := l.right + 20
	if l.aside > 0 {
		right += l.aside + 14
	}
	if PlotWidth-l.label-right < minPlot {
		l.label = max(90, PlotWidth-right-minPlot)
	}
	low, high := p.domain()
	l.x = Scale{Low: low, High: high, From: l.label, To: PlotWidth - right}
	l.height = l.top
	for _, r := range p.Rows {
		l.height += p.rowHeight(r, l.line)
	}
	return l
}

func (p *Intervals) rowHeight(r IntervalRow, line float64) float64 {
	h := line * float64(max(1, len(r.Dots)))
	if len(p.Series) > 1 {
		h += 9
	}
	return h
}

// ValueText returns a value with its interval.
func (p *Intervals) ValueText(d *Interval) string {
	text := Shown(p.Unit, d.Value)
	if d.Value.OK && d.Between.OK {
		text += " (" + Between(p.Unit, d.Between) + ")"
	}
	return text
}

func (p *Intervals) scene() *Scene {
	l := p.layout()
	s := &Scene{Title: p.Title, Desc: p.desc(), Width: PlotWidth, Height: Px(l.height + AxisRoom)}
	p.drawLegend(s)
	p.drawAxis(s, l)
	y := l.top
	for i, r := range p.Rows {
		h := p.rowHeight(r, l.line)
		if i > 0 && len(p.Series) > 1 {
			s.Line("rule", 0, y, PlotWidth, y)
		}
		s.Name("label", l.label-10, y+h/2+4.2, l.label-12, r.Label).Class = "label end"
		at := y + (h-l.line*float64(len(r.Dots)))/2 + l.line/2
		for k := range r.Dots {
			p.drawDot(s, l, r.Label, &r.Dots[k], at)
			at += l.line
		}
		y += h
	}
	return s
}

// desc returns a sentence on what the plot shows.
func (p *Intervals) desc() string {
	text := fmt.Sprintf("Dots with whiskers, %s, %s", p.Axis, assay.Count(len(p.Rows), "row"))
	best, bestOf := math.Inf(-1), ""
	worst, worstOf := math.Inf(1), ""
	p.each(func(row int, d *Interval) {
		if !d.Value.OK {
			return
		}
		if d.Value.Value > best {
			best, bestOf = d.Value.Value, p.Rows[row].Label
		}
		if d.Value.Value < worst {
			worst, worstOf = d.Value.Value, p.Rows[row].Label
		}
	})
	if bestOf != worstOf {
		text += fmt.Sprintf("; highest %s (%s), lowest %s (%s)", assay.Clean(bestOf, 80), p.Unit.Show(best), assay.Clean(worstOf, 80),
			p.Unit.Show(worst))
	}
	return text + ". The table has the numbers."
}

// drawAxis draws grid, ticks, reference and the axis' name.
func (p *Intervals) drawAxis(s *Scene, l layout) {
	list, step := Ticks(l.x.Low, l.x.High, 6)
	for _, v := range list {
		x := l.x.At(v)
		s.Line("grid", x, l.top, x, l.height)
		s.Say("tick mid", x, l.height+16, TickText(p.Unit, v, step))
	}
	s.Line("axis", l.x.From, l.height, l.x.To, l.height)
	s.Say("axis-name mid", (l.x.From+l.x.To)/2, l.height+36, p.Axis)
	if p.Reference != nil && l.x.holds(*p.Reference) {
		x := l.x.At(*p.Reference)
		s.Line("reference", x, l.top-4, x, l.height)
	}
}

// drawDot draws bounds, whiskers, dot and number.
func (p *Intervals) drawDot(s *Scene, l layout, label string, d *Interval, y float64) {
	text := s.Say("value", l.x.To+14, y+3.8, p.ValueText(d))
	text.Link = d.Link
	if d.Aside != "" {
		s.Say("value soft end", PlotWidth, y+3.8, d.Aside)
	}
	if !d.Value.OK || !Finite(d.Value.Value) {
		text.Class = "value soft"
		return
	}
	class := p.hue(d.Series)
	if b := d.Bounds; b.OK && b.High-b.Low > 1e-9 && Finite(b.Low) && Finite(b.High) {
		s.Rect("bounds "+class, l.x.At(b.Low), y-3.5, l.x.At(b.High)-l.x.At(b.Low), 7).Tip = "whatever the missing verdicts are: " +
			Between(p.Unit, b)
	}
	if b := d.Between; b.OK && Finite(b.Low) && Finite(b.High) {
		p.drawWhiskers(s, l, b, y, class)
	}
	dot := s.mark("dot "+class, d.Series, l.x.At(d.Value.Value), y, 4.6)
	if d.Hollow {
		dot.Class += " hollow"
	}
	dot.Tip, dot.Link = p.Tip(label, d), d.Link
}

// drawWhiskers ends in a cap, or in an arrow where the interval goes on beyond the plot.
func (p *Intervals) drawWhiskers(s *Scene, l layout, b stats.Interval, y float64, class string) {
	from, to := l.x.At(b.Low), l.x.At(b.High)
	s.Line("whisker "+class, from, y, to, y)
	for _, end := range []struct{ value, x, out float64 }{{b.Low, from, -1}, {b.High, to, 1}} {
		if l.x.holds(end.value) {
			s.Line("whisker "+class, end.x, y-3.5, end.x, y+3.5)
			continue
		}
		s.Path("arrow "+class, fmt.Sprintf("M%s %sL%s %sL%s %sZ", Px(end.x), Px(y-3.5), Px(end.x+5*end.out), Px(y), Px(end.x), Px(y+3.5)))
	}
}

// Tip returns what is shown where a reader points at a dot.
func (p *Intervals) Tip(label string, d *Interval) string {
	text := assay.Clean(label, MaxName)
	if len(p.Series) > 1 {
		text += ", " + assay.Clean(p.Series[d.Series], MaxName)
	}
	return Counted(text+": "+p.ValueText(d), d.N)
}
