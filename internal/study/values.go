package study

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
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

func (t *Text) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	if n.kind != kindText && n.kind != kindNumber {
		d.wrong(n, "text, or the name of a text file")
		return
	}
	*t = Text{Text: n.text, Raw: n.text, At: n.at, Body: n.body}
	if NamesFile(n.text) {
		t.Text, t.Raw, t.File = "", "", n.text
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

func (p *Prompts) read(d *decoder, n *node) {
	if n.kind != kindMap {
		var t Text
		t.read(d, n)
		if !t.Empty() {
			*p = Prompts{{Text: t}}
		}
		return
	}
	for _, q := range n.pairs {
		var t Text
		t.read(d, q.val)
		*p = append(*p, Named{Name: q.key, Text: t})
	}
}

// Names is one name or a list of names; a name may be a glob where lanes are meant.
type Names struct {
	List   []string
	Places []assay.Place
}

func (s *Names) read(d *decoder, n *node) {
	list := n.list
	switch n.kind {
	case kindList:
	case kindNull:
		return
	default:
		list = []*node{n}
	}
	for _, c := range list {
		if c.kind != kindText && c.kind != kindNumber {
			d.wrong(c, "a name")
			continue
		}
		s.List = append(s.List, c.text)
		s.Places = append(s.Places, c.at)
	}
}

// Expression is the source of a condition and its place.
type Expression struct {
	Source string
	At     assay.Place
}

func (e *Expression) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	if n.kind != kindText && n.kind != kindBool {
		d.wrong(n, "an expression, such as: len(text) < 2000")
		return
	}
	*e = Expression{Source: n.text, At: n.body}
}

// Phrase is a template written in the study itself, never in a file.
type Phrase struct {
	Text     string
	At       assay.Place      // of the text's first character
	Template *prompt.Template // nil where there is none or it has problems
}

func (p *Phrase) read(d *decoder, n *node) {
	switch n.kind {
	case kindNull:
	case kindText, kindNumber, kindBool:
		*p = Phrase{Text: n.text, At: n.body}
	default:
		d.wrong(n, "text")
	}
}

// Duration is a length of time as a study writes it: 20s, 30m, 12h or 30d.
type Duration time.Duration

func (t *Duration) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	v, err := parseDuration(n.text)
	if err != nil || (n.kind != kindText && n.text != "0") {
		d.wrong(n, "a length of time, such as 20s, 30m, 12h or 30d")
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

func (a *Amount) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	m, err := assay.ParseMoney(n.text)
	if err != nil || (n.kind != kindText && n.kind != kindNumber) {
		d.wrong(n, "an amount in dollars, such as 40 USD")
		return
	}
	*a = Amount{Money: m, Set: true}
}

// Rate is a number per second, written 10/s, 600/min or 200k/min. 0 means no cap.
type Rate float64

func (r *Rate) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	v, ok := ParseRate(n.text)
	if !ok {
		d.wrong(n, "a rate, such as 10/s or 200k/min")
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

func (s *StopIf) read(d *decoder, n *node) {
	if n.kind == kindNull {
		return
	}
	number, ok := strings.CutPrefix(strings.ReplaceAll(n.text, " ", ""), "error_rate>")
	scale := 1.0
	if bare, percent := strings.CutSuffix(number, "%"); percent {
		number, scale = bare, 100
	}
	v, err := strconv.ParseFloat(number, 64)
	if v /= scale; !ok || err != nil || !(v > 0 && v <= 1) {
		d.wrong(n, "a condition, such as error_rate > 0.1")
		return
	}
	*s = StopIf(v)
}

// oneOf reads a word out of a list.
func (d *decoder) oneOf(n *node, words ...string) string {
	if (n.kind == kindText || n.kind == kindBool || n.kind == kindNumber) && slices.Contains(words, n.text) {
		return n.text
	}
	d.wrong(n, "one of "+strings.Join(words, ", "))
	return ""
}

// rest reads a map into a struct that is also a reader, without calling its read again.
func rest[T any](d *decoder, n *node, v *T) { d.structure(n, reflect.ValueOf(v).Elem()) }

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is for people
	if e.Encode(s) != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}
