package plot

import (
	"cmp"
	"fmt"
	"strconv"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// HeatCell is one square.
type HeatCell struct {
	Share stats.Number // its colour: 0 to 1
	Text  string       // empty: nothing is written
	Short string       // the same where the text has no room
	Tip   string
	Link  string
	Blank bool // not a number that could exist, such as a lane against itself
}

// Heat is a map of squares.
type Heat struct {
	Title, Words  string
	Down, Across  string // what rows and columns are
	Rows, Columns []string
	Cells         [][]HeatCell
	Middle        bool // the middle of the colours is 50%: more is one hue, less another; else from none to all
	Worse         bool // with a middle: the upper end is the worse one
	Legend        string
	Unit          analysis.Unit // of the legend's ends; empty: percent
	First         int           // so many rows are shown at first, the others are folded; 0: all are shown
}

// MaxHeat is how many rows and columns are drawn.
const MaxHeat = 60

// Figure draws the map.
func (h Heat) Figure() *Figure {
	f := &Figure{Title: h.Title, Words: h.Words}
	if len(h.Rows) == 0 || len(h.Columns) == 0 {
		f.Words = "There is nothing to draw."
		return f
	}
	if n := max(len(h.Rows), len(h.Columns)); n > MaxHeat {
		f.Notes = append(f.Notes, fmt.Sprintf("the first %d of %d; assay analyse --json has them all", MaxHeat, n))
	}
	rows, columns := min(MaxHeat, len(h.Rows)), min(MaxHeat, len(h.Columns))
	if h.First == 0 || rows < 2*h.First {
		f.Scene = h.scene(rows, columns)
		return f
	}
	f.Scene = h.scene(h.First, columns)
	f.Scene.Desc = fmt.Sprintf("%s The %d largest are shown.", f.Scene.Desc, h.First)
	f.More = h.squares(h.First, rows, columns)
	return f
}

// Squares are rows of a map as a table: many of them are a tenth as long as drawn.
type Squares struct {
	Title, Head string
	Columns     []string
	Rows        []SquareRow
}

// SquareRow is a row of squares.
type SquareRow struct {
	Name  string
	Cells []Square
}

// Square is one of them: the class of its colour, and its number.
type Square struct{ Class, Text string }

// squares returns some rows as a table.
func (h *Heat) squares(from, to, columns int) *Squares {
	s := &Squares{Title: fmt.Sprintf("%s: the other %d", h.Title, to-from), Columns: h.Columns[:columns]}
	s.Head = h.Down + " ↓  " + h.Across + " →"
	for i := from; i < to; i++ {
		row := SquareRow{Name: h.Rows[i]}
		for k := range min(columns, len(h.Cells[i])) {
			c := &h.Cells[i][k]
			row.Cells = append(row.Cells, Square{h.class(c), cmp.Or(c.Short, c.Text)})
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func (h *Heat) scene(rows, columns int) *Scene {
	labels := 0.0
	for _, r := range h.Rows[:rows] {
		labels = max(labels, WidthOf(assay.Clean(r, MaxName), LabelSize))
	}
	labels = max(min(labels, 190)+20, WidthOf(h.Down+" ↓  "+h.Across+" →", SmallSize)+16, WidthOf(h.Legend, SmallSize)+16)
	head, tallest := 22.0, 0.0
	wide := min(84, max(15, (PlotWidth-labels-20)/float64(columns)))
	for _, c := range h.Columns[:columns] {
		tallest = max(tallest, WidthOf(assay.Clean(c, MaxName), SmallSize))
	}
	turned := tallest > wide-6
	if turned {
		head = min(tallest, 150) + 14
	}
	high := min(34, max(15, wide*0.6))
	s := &Scene{Title: h.Title, Desc: h.desc(), Width: Px(max(300, labels+wide*float64(columns)+12)),
		Height: Px(head + high*float64(rows) + 58)}
	s.Say("axis-name end", labels-8, head-7, h.Down+" ↓  "+h.Across+" →")
	for k := range columns {
		x := labels + wide*(float64(k)+0.5)
		if turned {
			s.Name("tick", x+4, head-6, 150, h.Columns[k]).Turn = -90
		} else {
			s.Name("tick mid", x, head-7, wide-4, h.Columns[k])
		}
	}
	for i := range rows {
		y := head + high*float64(i)
		s.Name("label end", labels-8, y+high/2+4, labels-12, h.Rows[i])
		for k := range min(columns, len(h.Cells[i])) {
			h.drawCell(s, &h.Cells[i][k], labels+wide*float64(k), y, wide, high)
		}
	}
	h.drawLegend(s, labels, head+high*float64(rows)+18)
	return s
}

func (h *Heat) drawCell(s *Scene, c *HeatCell, x, y, wide, high float64) {
	class := h.class(c)
	r := s.Rect("cell "+class, x+0.5, y+0.5, wide-1, high-1)
	r.Tip, r.Link = c.Tip, c.Link
	text := c.Text
	if WidthOf(text, SmallSize) >= wide-2 {
		text = c.Short
	}
	if text != "" && WidthOf(text, SmallSize) < wide-2 && high >= 15 {
		s.Say("cell-text mid "+class, x+wide/2, y+high/2+3.8, text) // the pointer goes through it to the square
	}
}

// class returns the colour of a square.
func (h *Heat) class(c *HeatCell) string {
	if c.Share.OK && !c.Blank {
		return h.step(c.Share.Value)
	}
	return "none"
}

// heatSteps is how many colours a map has.
const heatSteps = 11

// step returns the class of a colour.
func (h *Heat) step(share float64) string {
	k := int(min(1, max(0, share))*(heatSteps-1) + 0.5)
	if h.Middle && h.Worse {
		k = heatSteps - 1 - k
	}
	if h.Middle {
		return "h" + strconv.Itoa(k)
	}
	return "q" + strconv.Itoa(k/2) // one hue: six steps
}

func (h *Heat) drawLegend(s *Scene, x, y float64) {
	const wide = 16.0
	n := heatSteps
	if !h.Middle {
		n = heatSteps/2 + 1
	}
	for k := range n {
		share := float64(k) / float64(n-1)
		s.Rect("cell "+h.step(share), x+wide*float64(k), y, wide, 9)
	}
	ends := [3]string{"0%", "50%", "100%"}
	switch h.Unit {
	case analysis.Index:
		ends = [3]string{"0", "0.5", "1"}
	case analysis.Gap:
		ends = [3]string{"-100", "0", "+100"}
	}
	s.Say("tick", x, y+22, ends[0])
	s.Say("tick end", x+wide*float64(n), y+22, ends[2])
	if h.Middle {
		s.Say("tick mid", x+wide*float64(n)/2, y+22, ends[1])
	}
	s.Say("axis-name end", x-8, y+9, h.Legend)
}

func (h *Heat) desc() string {
	return fmt.Sprintf("A map of %d by %d squares: %s in rows, %s in columns. The table has the numbers.", len(h.Rows), len(h.Columns),
		h.Down, h.Across)
}
