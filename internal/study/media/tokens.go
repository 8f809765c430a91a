package media

import (
	"math"
	"time"

	"assay/internal/assay"
)

// Rule is how models count the tokens of what they are shown. At most one of its forms for pictures is set; with none, a picture counts
// Flat tokens.
type Rule struct {
	Patches *Patches `yaml:"patches"`
	Tiles   *Tiles   `yaml:"tiles"`
	Squares *Squares `yaml:"squares"`
	Levels  *Levels  `yaml:"levels"`
	Crops   *Crops   `yaml:"crops"`
	Rows    *Rows    `yaml:"rows"`
	Sizes   []Size   `yaml:"sizes"`
	Flat    int      `yaml:"flat"`

	Slack  float64 `yaml:"slack"`  // how much more than computed may be billed, such as 0.3; 0: the rule is exact
	Page   Page    `yaml:"page"`   // of a document
	Second float64 `yaml:"second"` // tokens of a second of sound; 0: unknown
}

// Patches counts cells of 32 pixels. A picture that is larger than its detail allows is made smaller first.
type Patches struct {
	Factor   float64 `yaml:"factor"`
	High     Fit     `yaml:"high"`
	Original *Fit    `yaml:"original"` // nil: the model knows no such detail
	Auto     string  `yaml:"auto"`     // the detail where none is named; empty: high
}

// Fit is the largest picture that is not made smaller; 0: any.
type Fit struct {
	Budget int `yaml:"budget"` // patches
	Long   int `yaml:"long"`   // pixels of the longer side
}

// Tiles counts squares of 512 pixels after a picture is shrunk to 768 pixels at its shorter side.
type Tiles struct {
	Base int `yaml:"base"`
	Tile int `yaml:"tile"`
}

// Squares counts squares of 28 pixels, in a picture that is made smaller until its edge and its tokens fit.
type Squares struct {
	Edge   int `yaml:"edge"`
	Tokens int `yaml:"tokens"`
}

// Levels counts by the level of detail alone.
type Levels struct {
	Low, Medium, High, Ultra, Auto int
}

// Crops counts a fixed number of tokens for each square that a picture is cut into.
type Crops struct {
	Small int `yaml:"small"` // pixels of a picture that is one crop
	Each  int `yaml:"each"`
	Least int `yaml:"least"` // pixels of a crop
	Most  int `yaml:"most"`
}

// Rows counts cells and one token more for every row of them.
type Rows struct {
	Cell int `yaml:"cell"`
	Long int `yaml:"long"` // pixels of the longer side, at most
}

// Size is a picture whose tokens a vendor has published.
type Size struct {
	Width  int `yaml:"width"`
	Height int `yaml:"height"`
	Tokens int `yaml:"tokens"`
}

// Page holds the tokens of a page of a document.
type Page struct {
	Expected int `yaml:"expected"`
	High     int `yaml:"high"`
}

// Tokens are an expected number of tokens, and the most.
type Tokens struct {
	Expected, High int64
}

// Plus returns the sum.
func (t Tokens) Plus(o Tokens) Tokens { return Tokens{t.Expected + o.Expected, t.High + o.High} }

// The usual where a file does not tell.
const (
	unknownSide    = 2048      // pixels, of a picture behind a URL or in a form that cannot be read
	unknownPages   = 10        // of a document behind a URL
	bytesPerPage   = 100 << 10 // of a document whose pages cannot be counted
	unknownSeconds = 60
	secondTokens   = 50 // of a model whose rule is unknown
)

// Of returns the tokens that a model counts for something it is shown.
func (r Rule) Of(m *assay.Media) Tokens {
	switch m.Kind {
	case assay.MediaDocument:
		return r.document(m)
	case assay.MediaAudio:
		return r.sound(m)
	}
	w, h := m.Width, m.Height
	if w <= 0 || h <= 0 {
		w, h = unknownSide, unknownSide
	}
	n := r.Image(w, h, m.Detail)
	return Tokens{Expected: int64(n), High: int64(math.Ceil(float64(n) * (1 + r.Slack)))}
}

func (r Rule) document(m *assay.Media) Tokens {
	n := int64(m.Pages)
	switch {
	case n == 0 && m.Size > 0:
		n = 1 + m.Size/bytesPerPage
	case n == 0:
		n = unknownPages
	}
	return Tokens{Expected: n * int64(r.Page.Expected), High: n * int64(r.Page.High)}
}

func (r Rule) sound(m *assay.Media) Tokens {
	length, each := m.Length, r.Second
	if length == 0 {
		length = unknownSeconds * time.Second
	}
	if each == 0 {
		each = secondTokens
	}
	n := int64(math.Ceil(length.Seconds() * each))
	return Tokens{Expected: n, High: n}
}

// Image returns the tokens of a picture in pixels; detail is the one that its request asks for, or empty.
func (r Rule) Image(w, h int, detail string) int {
	switch {
	case r.Patches != nil:
		return r.Patches.count(w, h, detail)
	case r.Tiles != nil:
		return r.Tiles.count(w, h, detail)
	case r.Squares != nil:
		return r.Squares.count(w, h)
	case r.Levels != nil:
		return r.Levels.count(detail)
	case r.Crops != nil:
		return r.Crops.count(w, h)
	case r.Rows != nil:
		return r.Rows.count(w, h)
	case len(r.Sizes) > 0:
		return nearest(r.Sizes, w, h)
	}
	return r.Flat
}

const patch = 32

func (p Patches) count(w, h int, detail string) int {
	if detail == "" || detail == "auto" {
		detail = p.Auto
	}
	fit := p.High
	switch {
	case detail == "low":
		fit = Fit{Long: 512}
	case detail == "original" && p.Original != nil:
		fit = *p.Original
	}
	wide, high := float64(w), float64(h)
	if long := max(wide, high); fit.Long > 0 && long > float64(fit.Long) {
		wide, high = wide*float64(fit.Long)/long, high*float64(fit.Long)/long
	}
	n := ceil(wide/patch) * ceil(high/patch)
	if fit.Budget > 0 && n > fit.Budget {
		s := math.Sqrt(patch * patch * float64(fit.Budget) / (wide * high))
		across, down := wide*s/patch, high*s/patch
		s *= min(math.Floor(across)/across, math.Floor(down)/down)
		n = min(ceil(wide*s/patch), fit.Budget) * max(1, ceil(high*s/patch))
		n = min(n, fit.Budget)
	}
	return ceil(float64(n) * p.Factor)
}

func (t Tiles) count(w, h int, detail string) int {
	if detail == "low" {
		return t.Base
	}
	wide, high := float64(w), float64(h)
	if s := 2048 / max(wide, high); s < 1 {
		wide, high = wide*s, high*s
	}
	if s := 768 / min(wide, high); s < 1 {
		wide, high = wide*s, high*s
	}
	return t.Base + t.Tile*ceil(wide/512)*ceil(high/512)
}

const square = 28

func (s Squares) count(w, h int) int {
	long, short := max(w, h), min(w, h)
	if !s.fits(long, short) {
		ratio := float64(long) / float64(short)
		least, most := 1, long // the largest long edge that fits lies in between
		for least < most {
			mid := (least + most + 1) / 2
			if s.fits(mid, max(1, int(math.RoundToEven(float64(mid)/ratio)))) {
				least = mid
			} else {
				most = mid - 1
			}
		}
		long, short = least, max(1, int(math.RoundToEven(float64(least)/ratio)))
	}
	return up(long, square) * up(short, square)
}

func (s Squares) fits(long, short int) bool {
	a, b := up(long, square), up(short, square)
	return a*square <= s.Edge && a*b <= s.Tokens
}

func (l Levels) count(detail string) int {
	switch detail {
	case "low":
		return l.Low
	case "medium":
		return l.Medium
	case "high":
		return l.High
	case "ultra_high", "original":
		return l.Ultra
	}
	return l.Auto
}

func (c Crops) count(w, h int) int {
	if c.Small > 0 && w <= c.Small && h <= c.Small {
		return c.Each
	}
	unit := min(max(min(w, h)*2/3, c.Least), c.Most)
	return c.Each * up(w, unit) * up(h, unit)
}

func (r Rows) count(w, h int) int {
	wide, high := float64(w), float64(h)
	if s := float64(r.Long) / max(wide, high); s < 1 {
		wide, high = wide*s, high*s
	}
	return (ceil(wide/float64(r.Cell)) + 1) * ceil(high/float64(r.Cell))
}

// nearest returns the tokens of the published size that is nearest in area and not smaller, and what follows from the largest one beyond.
func nearest(sizes []Size, w, h int) int {
	area := float64(w) * float64(h)
	best, most := Size{}, Size{}
	for _, s := range sizes {
		if a := s.area(); a >= area && (best.Tokens == 0 || a < best.area()) {
			best = s
		}
		if s.area() > most.area() {
			most = s
		}
	}
	if best.Tokens > 0 {
		return best.Tokens
	}
	return ceil(area / most.area() * float64(most.Tokens))
}

func (s Size) area() float64 { return float64(s.Width) * float64(s.Height) }

// ceil rounds up; what is above a whole number by the error of floating point alone is that number.
func ceil(x float64) int { return int(math.Ceil(x - 1e-9)) }

// up returns how many units cover n.
func up(n, unit int) int { return (n + unit - 1) / unit }
