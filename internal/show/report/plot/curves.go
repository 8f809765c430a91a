package plot

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

// names returns the curves of all panels.
func (c *Curves) names() (names []string, control int) {
	for _, p := range c.Panels {
		for _, k := range p.Curves {
			i := SeriesOf(&names, k.Name)
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
	wide := min(380, (PlotWidth-panelLeft-8-panelGap*float64(columns-1))/float64(columns))
	s := &Scene{
		Title: c.Title, Desc: fmt.Sprintf("%s for %s, one small plot each: %s. The table has every number.", c.Up,
			assay.Count(len(c.Panels), "lane"), c.Across), Width: Px(max(panelLeft+float64(columns)*(wide+panelGap)-panelGap+8,
			legend.legendEnd(), 300)), Height: Px(top + float64(rows)*(panelHeight+24) + 22),
	}
	legend.drawLegend(s)
	low, high := c.levels()
	for i, p := range c.Panels {
		x, y := panelLeft+float64(i%columns)*(wide+panelGap), top+float64(i/columns)*(panelHeight+24)
		d := panelDrawing{
			scene: s, names: names, legend: &legend, outer: i%columns == 0,
			x: Scale{Low: float64(low) - 0.3, High: float64(high) + 0.3, From: x, To: x + wide},
			y: Scale{High: 1, From: y + panelHeight - 20, To: y + 26},
		}
		d.frame(p.Name, low, high)
		for _, k := range p.Curves {
			d.curve(k)
		}
	}
	s.Say("axis-name mid", float64(s.Width)/2, float64(s.Height)-6, c.Across)
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
	x, y   Scale
}

func (d *panelDrawing) frame(name string, low, high int) {
	s := d.scene
	s.Name("label strong", d.x.From, d.y.To-9, d.x.To-d.x.From, name)
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		y := d.y.At(v)
		s.Line("grid", d.x.From, y, d.x.To, y)
		if d.outer {
			s.Say("tick end", d.x.From-6, y+3.8, TickText(analysis.Share, v, 0.25))
		}
	}
	s.Line("axis", d.x.From, d.y.From, d.x.To, d.y.From)
	step := max(1, (high-low+1)/8)
	for level := low; level <= high; level += step {
		s.Say("tick mid", d.x.At(float64(level)), d.y.From+15, strconv.Itoa(level))
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
			fmt.Fprintf(&b, "%s%s %s", word, Px(d.x.At(float64(p.Level))+shift), Px(d.y.At(p.Value.Value)))
		}
	}
	if len(c.Points) > 1 && b.Len() > 0 {
		d.scene.Path("curve "+class, b.String())
	}
	for _, p := range c.Points {
		if !p.Value.OK {
			continue
		}
		x := d.x.At(float64(p.Level)) + shift
		tip := fmt.Sprintf("%s, level %d: %s", assay.Clean(c.Name, MaxName), p.Level, analysis.Share.Show(p.Value.Value))
		if p.Between.OK {
			d.scene.Line("whisker "+class, x, d.y.At(p.Between.Low), x, d.y.At(p.Between.High))
			tip += " (" + Between(analysis.Share, p.Between) + ")"
		}
		m := d.scene.mark("dot "+class, i, x, d.y.At(p.Value.Value), 3.8)
		m.Tip, m.Link = Counted(tip, p.N), p.Link
	}
}
