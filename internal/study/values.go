package study

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/prompt"
)

// Text is a text written in the study, or in a file it names.
type Text struct {
	Text string
	Raw  string      // as it was written, line ends and all; a mark of the encoding at the start of a file is no part of it
	File string      // where the text was read from; empty: the study itself
	At   assay.Place // of the value in the study
	Body assay.Place // of the text's first character

	Template *prompt.Template // the text as a template; nil where it is none or has problems
}

// Empty reports whether nothing was written.
func (t Text) Empty() bool { return t.Text == "" && t.File == "" }

// Read takes a text, or the name of a text file.
func (t *Text) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	if n.Kind != decode.Text && n.Kind != decode.Number {
		d.Wrong(n, "text, or the name of a text file")
		return
	}
	*t = Text{Text: n.Text, Raw: n.Text, At: n.At, Body: n.Body}
	if NamesFile(n.Text) {
		t.Text, t.Raw, t.File = "", "", n.Text
	}
}

// NamesFile reports whether a text is the name of a file: one word with the suffix of a text file.
func NamesFile(s string) bool {
	return !strings.ContainsAny(s, " \t\n{}") && slices.Contains(TextEndings(), path.Ext(s))
}

// TextEndings returns the suffixes of text files.
func TextEndings() []string { return []string{".md", ".txt", ".j2", ".jinja", ".jinja2"} }

// Named is a text with a name, such as one of several prompt templates.
type Named struct {
	Name string
	Text
}

// Prompts is one text, or several by name.
type Prompts []Named

// Read takes a text, or a map from name to text.
func (p *Prompts) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind != decode.Map {
		var t Text
		t.Read(d, n)
		if !t.Empty() {
			*p = Prompts{{Text: t}}
		}
		return
	}
	for _, q := range n.Pairs {
		var t Text
		t.Read(d, q.Value)
		*p = append(*p, Named{Name: q.Key, Text: t})
	}
}

// Names is one name or a list of names; a name may be a glob where lanes are meant.
type Names struct {
	List   []string
	Places []assay.Place
}

// Read takes a name, or a list of names.
func (s *Names) Read(d *decode.Decoder, n *decode.Node) {
	list := n.List
	switch n.Kind {
	case decode.List:
	case decode.Null:
		return
	default:
		list = []*decode.Node{n}
	}
	for _, c := range list {
		if c.Kind != decode.Text && c.Kind != decode.Number {
			d.Wrong(c, "a name")
			continue
		}
		s.List = append(s.List, c.Text)
		s.Places = append(s.Places, c.At)
	}
}

// Expression is the source of a condition and its place.
type Expression struct {
	Source string
	At     assay.Place
}

// Read takes an expression.
func (e *Expression) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	if n.Kind != decode.Text && n.Kind != decode.Bool {
		d.Wrong(n, "an expression, such as: len(text) < 2000")
		return
	}
	*e = Expression{Source: n.Text, At: n.Body}
}

// Phrase is a template written in the study itself, never in a file.
type Phrase struct {
	Text     string
	At       assay.Place      // of the text's first character
	Template *prompt.Template // nil where there is none or it has problems
}

// Read takes a text.
func (p *Phrase) Read(d *decode.Decoder, n *decode.Node) {
	switch n.Kind {
	case decode.Null:
	case decode.Text, decode.Number, decode.Bool:
		*p = Phrase{Text: n.Text, At: n.Body}
	default:
		d.Wrong(n, "text")
	}
}

// Duration is a length of time as a study writes it: 20s, 30m, 12h or 30d.
type Duration time.Duration

// Read takes a length of time.
func (t *Duration) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	v, err := parseDuration(n.Text)
	if err != nil || (n.Kind != decode.Text && n.Text != "0") {
		d.Wrong(n, "a length of time, such as 20s, 30m, 12h or 30d")
		return
	}
	*t = Duration(v)
}

func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		f, err := strconv.ParseFloat(days, 64)
		if err != nil || !(f >= 0 && f < 1e4) {
			return 0, fmt.Errorf("length of time %q", s)
		}
		return time.Duration(f * float64(24*time.Hour)), nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("length of time %q", s)
	}
	return v, nil
}

// Amount is a sum of money; Set distinguishes 0 from nothing.
type Amount struct {
	assay.Money
	Set bool
}

// Read takes an amount of dollars.
func (a *Amount) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	m, err := assay.ParseMoney(n.Text)
	if err != nil || (n.Kind != decode.Text && n.Kind != decode.Number) {
		d.Wrong(n, "an amount in dollars, such as 40 USD")
		return
	}
	*a = Amount{Money: m, Set: true}
}

// Rate is a number per second, written 10/s, 600/min or 200k/min. 0 means no cap.
type Rate float64

// Read takes a rate.
func (r *Rate) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	v, ok := ParseRate(n.Text)
	if !ok {
		d.Wrong(n, "a rate, such as 10/s or 200k/min")
		return
	}
	*r = v
}

// ParseRate reads a rate; false: it is none.
func ParseRate(s string) (Rate, bool) {
	number, unit, found := strings.Cut(strings.ReplaceAll(s, " ", ""), "/")
	scale := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, scale = rest, f
		}
	}
	seconds := map[string]float64{"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(number, 64)
	if !found || seconds == 0 || err != nil || !(v > 0 && v < 1e12) {
		return 0, false
	}
	return Rate(v * scale / seconds), true
}

// StopIf is the share of requests without an answer above which a lane stops, written error_rate > 0.1 or error_rate >
// 10%. 0 means never.
type StopIf float64

// Read takes a condition.
func (s *StopIf) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	number, ok := strings.CutPrefix(strings.ReplaceAll(n.Text, " ", ""), "error_rate>")
	scale := 1.0
	if bare, percent := strings.CutSuffix(number, "%"); percent {
		number, scale = bare, 100
	}
	v, err := strconv.ParseFloat(number, 64)
	if v /= scale; !ok || err != nil || !(v > 0 && v <= 1) {
		d.Wrong(n, "a condition, such as error_rate > 0.1")
		return
	}
	*s = StopIf(v)
}

// Points are hundredths of what a stage measures, written 2pt: of a rate, of the scale of scores.
type Points float64

// String returns the points as a study writes them.
func (p Points) String() string { return strconv.FormatFloat(float64(p), 'g', -1, 64) + "pt" }

// Read takes points.
func (p *Points) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Null {
		return
	}
	v, ok := ParsePoints(n.Text)
	if !ok || n.Kind != decode.Text {
		d.Wrong(n, "points, such as 2pt")
		return
	}
	*p = v
}

// ParsePoints reads points; false: it is none, or not 0.1 to 99.
func ParsePoints(s string) (Points, bool) {
	number, found := strings.CutSuffix(strings.TrimSpace(s), "pt")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return Points(v), found && err == nil && v >= 0.1 && v <= 99
}

// Sent returns the text as a stage sends it: exactly as it was written where nothing is wrapped.
func (t Text) Sent(bare bool) string {
	if bare {
		return t.Raw
	}
	return t.Text
}
