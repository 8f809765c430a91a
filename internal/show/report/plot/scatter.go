package plot

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// ScatterPoint is one lane: what an answer of it costs, and how good it is.
type ScatterPoint struct {
	Name    string
	Cost    float64 // dollars for 1,000 answers
	Value   float64
	Between stats.Interval
	N       int // verdicts that quality rests on
	Link    string
}

// Scatter is cost against quality.
type Scatter struct {
	Title, Words string
	Up           string // the axis of quality, with its unit
	Unit         analysis.Unit
	Points       []ScatterPoint
	Low, High    *float64 // ends of the axis of quality; nil: from the data
	Better       Better
	Narrow       bool // for a column beside something else
}

// Better is the good end of the axis of quality.
type Better string

// The good ends.
const (
	Unsaid Better = ""
	More   Better = "more"
	Less   Better = "less"
)

const (
	scatterHeight = 380.0
	narrowScatter = 440.0
	scatterLeft   = 64.0
	scatterBottom = 330.0
)

// Figure draws the plot.
func (p Scatter) Figure() *Figure {
	f := &Figure{Title: p.Title, Words: p.Words}
	p.Points = slices.DeleteFunc(slices.Clone(p.Points), func(q ScatterPoint) bool {
		return !Finite(q.Cost) || !Finite(q.Value) || q.Cost < 0
	})
	if len(p.Points) == 0 {
		f.Words = "There is no lane whose cost and quality are both known."
		return f
	}
	f.Scene = p.scene()
	return f
}

func (p *Scatter) scene() *Scene {
	x, y := p.scales()
	s := &Scene{Title: p.Title, Desc: p.desc(), Width: Px(p.width()), Height: scatterHeight}
	s.Rect("frame", x.From, y.To, x.To-x.From, y.From-y.To)
	taken := p.drawCorner(s, x, y)
	list, step := Ticks(y.Low, y.High, 6)
	for _, v := range list {
		s.Line("grid", x.From, y.At(v), x.To, y.At(v))
		s.Say("tick end", x.From-7, y.At(v)+3.8, TickText(p.Unit, v, step))
	}
	end := math.Inf(-1) // of the number before
	for _, v := range p.costTicks(x) {
		s.Line("grid", x.At(v), y.To, x.At(v), y.From)
		if w := WidthOf(DollarTick(v), SmallSize) / 2; x.At(v)-w > end {
			s.Say("tick mid", x.At(v), y.From+16, DollarTick(v))
			end = x.At(v) + w + 6
		}
	}
	name := "cost of 1,000 answers (US dollars)"
	if x.log {
		name = "cost of 1,000 answers (US dollars, logarithmic)"
	}
	s.Say("axis-name mid", (x.From+x.To)/2, y.From+38, name)
	up := s.Say("axis-name mid", 13, (y.From+y.To)/2, p.Up)
	up.Turn = -90
	p.drawPoints(s, x, y, append(taken, p.drawFrontier(s, x, y)...))
	return s
}

// width returns how wide the plot is.
func (p *Scatter) width() float64 {
	if p.Narrow {
		return narrowScatter
	}
	return PlotWidth
}

// drawCorner marks where lanes are both good and cheap.
func (p *Scatter) drawCorner(s *Scene, x, y Scale) []box {
	if p.Better == Unsaid {
		return nil
	}
	const text = "better and cheaper"
	w, h := (x.To-x.From)*0.4, (y.From-y.To)*0.38
	top, at := y.To, y.To+14
	if p.Better == Less {
		top, at = y.From-h, y.From-6
	}
	s.Rect("corner", x.From, top, w, h)
	s.Say("corner-text", x.From+6, at, text)
	return []box{{x.From, at - 10, x.From + 6 + WidthOf(text, SmallSize), at + 3}}
}

func (p *Scatter) scales() (x, y Scale) {
	least, most := math.Inf(1), math.Inf(-1)
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range p.Points {
		least, most = min(least, q.Cost), max(most, q.Cost)
		low, high = min(low, q.Value), max(high, q.Value)
		if b := q.Between; b.OK && Finite(b.Low) && Finite(b.High) {
			low, high = min(low, b.Low), max(high, b.High)
		}
	}
	low, high = widened(low, high, 6)
	if p.Low != nil && p.High != nil {
		low, high = *p.Low, *p.High
	}
	y = Scale{Low: low, High: high, From: scatterBottom, To: 14}
	x = Scale{From: scatterLeft, To: p.width() - 14}
	if least > 0 && most/least > 8 {
		x.log, x.Low, x.High = true, least/1.35, most*1.7
		return x, y
	}
	x.Low, x.High = 0, most*1.18
	if most == 0 {
		x.High = 1
	}
	return x, y
}

func (p *Scatter) costTicks(x Scale) []float64 {
	if x.log {
		return logTicks(x.Low, x.High)
	}
	list, _ := Ticks(x.Low, x.High, int(p.width()/140))
	return list
}

// DollarTick returns an amount with no more digits than it needs.
func DollarTick(v float64) string {
	text := fmt.Sprintf("%.7f", v)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if i := strings.IndexByte(text, '.'); i >= 0 && len(text)-i == 2 {
		text += "0"
	}
	return "$" + text
}

// better reports whether a value is better than another.
func (p *Scatter) better(a, b float64) bool {
	return p.Better == More && a > b || p.Better == Less && a < b
}

// frontier returns the lanes of which none is both cheaper and better, the cheapest first.
func (p *Scatter) frontier() []ScatterPoint {
	if p.Better == Unsaid {
		return nil
	}
	sorted := slices.Clone(p.Points)
	order := func(a, b ScatterPoint) int {
		switch {
		case a.Cost != b.Cost && a.Cost < b.Cost, a.Cost == b.Cost && p.better(a.Value, b.Value):
			return -1
		case a.Cost == b.Cost && a.Value == b.Value:
			return 0
		}
		return 1
	}
	sort.SliceStable(sorted, func(i, j int) bool { return order(sorted[i], sorted[j]) < 0 })
	var out []ScatterPoint
	for _, q := range sorted {
		if len(out) == 0 || p.better(q.Value, out[len(out)-1].Value) {
			out = append(out, q)
		}
	}
	return out
}

// drawFrontier draws the steps from each of those lanes to the next, and labels them.
func (p *Scatter) drawFrontier(s *Scene, x, y Scale) (steps []box) {
	line := p.frontier()
	if len(line) < 2 {
		return nil
	}
	var b strings.Builder
	for i, q := range line {
		if i == 0 {
			fmt.Fprintf(&b, "M%s %s", Px(x.At(q.Cost)), Px(y.At(q.Value)))
			continue
		}
		fmt.Fprintf(&b, "H%sV%s", Px(x.At(q.Cost)), Px(y.At(q.Value)))
		px, py, qx, qy := x.At(line[i-1].Cost), y.At(line[i-1].Value), x.At(q.Cost), y.At(q.Value)
		steps = append(steps, box{px, py - 1, qx, py + 1}, box{qx - 1, min(py, qy), qx + 1, max(py, qy)})
	}
	s.Path("frontier", b.String()).Tip = "no lane to the left of this line is better"
	return steps
}

// box is an occupied area.
type box struct{ x, y, x2, y2 float64 }

func (b box) meets(c box) bool { return b.x < c.x2 && c.x < b.x2 && b.y < c.y2 && c.y < b.y2 }

// drawPoints draws whiskers and dots, and names where they find room.
func (p *Scatter) drawPoints(s *Scene, x, y Scale, taken []box) {
	best := p.frontier()
	for _, q := range p.Points {
		px, py := x.At(q.Cost), y.At(q.Value)
		if b := q.Between; b.OK && Finite(b.Low) && Finite(b.High) {
			class, _ := p.look(q, best)
			s.Line("whisker "+class, px, y.At(b.Low), px, y.At(b.High))
			taken = append(taken, box{px - 1, y.At(b.High), px + 1, y.At(b.Low)})
		}
		taken = append(taken, box{px - 5, py - 5, px + 5, py + 5})
	}
	for _, q := range p.Points {
		px, py := x.At(q.Cost), y.At(q.Value)
		class, shape := p.look(q, best)
		m := s.mark("dot "+class, shape, px, py, 4.6)
		m.Tip = fmt.Sprintf("%s: %s for 1,000 answers, %s", assay.Clean(q.Name, MaxName), assay.Dollars(q.Cost), p.Unit.Show(q.Value))
		if q.Between.OK {
			m.Tip += " (" + Between(p.Unit, q.Between) + ")"
		}
		m.Tip, m.Link = Counted(m.Tip, q.N), q.Link
		p.drawName(s, q, px, py, x, y, &taken)
	}
}

// look returns the colour and the shape of a lane: those that another lane beats in both are grey squares.
func (p *Scatter) look(q ScatterPoint, best []ScatterPoint) (class string, shape int) {
	if p.Better != Unsaid && !slices.ContainsFunc(best, func(b ScatterPoint) bool { return b.Cost == q.Cost && b.Value == q.Value }) {
		return "control", 1
	}
	return hue(0), 0
}

// maxScatterName is how wide a name may be.
const maxScatterName = 170.0

// drawName writes a name beside its dot: right, left, above, below, whichever is free; nowhere where none is.
func (p *Scatter) drawName(s *Scene, q ScatterPoint, px, py float64, x, y Scale, taken *[]box) {
	text := fit(assay.Clean(q.Name, MaxName), maxScatterName, LabelSize)
	w := WidthOf(text, LabelSize)
	for _, at := range []struct {
		x, y  float64
		class string
	}{
		{px + 9, py + 4, "label"}, {px + 7, py - 7, "label"}, {px + 7, py + 15, "label"}, {px - 9 - w, py + 4, "label"},
		{px - 7 - w, py - 7, "label"}, {px - 7 - w, py + 15, "label"}, {px + 7, py - 20, "label"}, {px + 7, py + 28, "label"},
	} {
		b := box{at.x, at.y - 10, at.x + w, at.y + 3}
		if b.x < x.From || b.x2 > x.To || b.y < y.To || b.y2 > y.From+3 || slices.ContainsFunc(*taken, b.meets) {
			continue
		}
		*taken = append(*taken, b)
		s.Name(at.class, at.x, at.y, maxScatterName, q.Name)
		return
	}
}

func (p *Scatter) desc() string {
	text := fmt.Sprintf("%s over the cost of 1,000 answers, %s.", p.Up, assay.Count(len(p.Points), "lane"))
	if p.Better != Unsaid {
		var names []string
		for _, q := range p.frontier() {
			names = append(names, assay.Clean(q.Name, 80))
		}
		if len(names) > 12 {
			names = append(names[:12], "…")
		}
		text += " No lane is both cheaper and better than: " + strings.Join(names, ", ") + "."
	}
	return text + " The table has every number."
}
