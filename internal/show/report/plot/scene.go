// Package plot draws numbers: intervals, curves, heat maps, scatter plots and tables, as scenes of shapes. It knows
// units, and no findings.
package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Scene is a plot as shapes; a template writes it as SVG. Colours and fonts are classes of the style sheet.
type Scene struct {
	Title, Desc   string // for those who cannot see it
	Width, Height Px
	Shapes        []Shape
}

// Wide reports whether the scene needs the width of a page: on a narrow window it scrolls rather than shrinks.
func (s *Scene) Wide() bool { return s.Width > 600 }

// Linked reports whether shapes lead elsewhere: then it is a group of links, not one image.
func (s *Scene) Linked() bool {
	return slices.ContainsFunc(s.Shapes, func(sh Shape) bool { return sh.Link != "" })
}

// Px is a length or place on a scene.
type Px float64

// String returns the number in tenths.
func (p Px) String() string {
	if !Finite(float64(p)) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(float64(p)*10)/10+0, 'f', -1, 64)
}

// Kind is the kind of a shape.
type Kind string

// The kinds of shapes.
const (
	Line Kind = "line" // X Y to X2 Y2
	Rect Kind = "rect" // from X Y, W wide and H high
	Path Kind = "path" // D
	Text Kind = "text" // at X Y
)

// Shape is one mark of a scene.
type Shape struct {
	Kind    Kind
	Class   string
	X, Y    Px
	X2, Y2  Px
	W, H    Px
	D       string
	Text    string
	Turn    Px     // degrees that a text is turned by
	Tip     string // shown where the pointer rests
	Link    string
	Foreign bool // others wrote the text: its reading direction stays inside
}

// Line draws a line.
func (s *Scene) Line(class string, x, y, x2, y2 float64) *Shape {
	return s.add(Shape{Kind: Line, Class: class, X: Px(x), Y: Px(y), X2: Px(x2), Y2: Px(y2)})
}

// Rect draws a rectangle.
func (s *Scene) Rect(class string, x, y, w, h float64) *Shape {
	return s.add(Shape{Kind: Rect, Class: class, X: Px(x), Y: Px(y), W: Px(max(0, w)), H: Px(max(0, h))})
}

// Path draws a path.
func (s *Scene) Path(class, d string) *Shape { return s.add(Shape{Kind: Path, Class: class, D: d}) }

// Say writes our own words.
func (s *Scene) Say(class string, x, y float64, text string) *Shape {
	return s.add(Shape{Kind: Text, Class: class, X: Px(x), Y: Px(y), Text: text})
}

// Name writes a foreign name, shortened to a width; the whole name is its tip.
func (s *Scene) Name(class string, x, y, width float64, text string) *Shape {
	whole := assay.Clean(text, MaxName)
	sh := s.add(Shape{Kind: Text, Class: class, X: Px(x), Y: Px(y), Text: fit(whole, width, LabelSize), Foreign: true})
	if sh.Text != whole {
		sh.Tip = whole
	}
	return sh
}

func (s *Scene) add(sh Shape) *Shape {
	s.Shapes = append(s.Shapes, sh)
	return &s.Shapes[len(s.Shapes)-1]
}

// mark draws the point of a series: its shape and its colour both show which.
func (s *Scene) mark(class string, series int, x, y, r float64) *Shape {
	p := func(points ...float64) string {
		var b strings.Builder
		for i := 0; i < len(points); i += 2 {
			word := "L"
			if i == 0 {
				word = "M"
			}
			fmt.Fprintf(&b, "%s%s %s", word, Px(x+points[i]*r), Px(y+points[i+1]*r))
		}
		return b.String() + "Z"
	}
	d := ""
	switch series % MarkShapes {
	case 0:
		d = fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0Z", Px(x-r), Px(y), Px(r), Px(r), Px(2*r), Px(r), Px(r), Px(-2*r))
	case 1:
		d = p(-.85, -.85, .85, -.85, .85, .85, -.85, .85)
	case 2:
		d = p(0, -1.15, 1.05, .8, -1.05, .8)
	case 3:
		d = p(0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0)
	case 4:
		d = p(0, 1.15, -1.05, -.8, 1.05, -.8)
	default:
		d = p(-.4, -1.1, .4, -1.1, .4, -.4, 1.1, -.4, 1.1, .4, .4, .4, .4, 1.1, -.4, 1.1, -.4, .4, -1.1, .4, -1.1, -.4, -.4, -.4)
	}
	return s.Path(class, d)
}

// MarkShapes is how many shapes, and hues, distinguish series; more series are not drawn in one plot.
const MarkShapes = 6

// hue returns the class of a series' colour.
func hue(series int) string { return "s" + strconv.Itoa(series%MarkShapes+1) }

// Sizes of the letters that the style sheet gives to labels and to small print.
const (
	LabelSize = 12.5
	SmallSize = 11.0
)

// Figure is a plot with the table of what it shows.
type Figure struct {
	ID     string // of the figure among those of its page
	Number int    // in a report; 0: it has none
	Title  string
	Of     string   // what the numbers are of, in sentences for those who see the figure alone
	Words  string   // how to read it
	Scene  *Scene   // nil: there is nothing to draw, and Words gives the reason
	More   *Squares // what is folded; nil: nothing is
	Points *Points  // nil: Data has the numbers
	Data   *Grid    // nil: the table is elsewhere on the page
	Notes  []string

	Files, Query string // the address of its files, before and after the ending; empty: there are none
}
