package study

import (
	"encoding/json"
	"reflect"

	"assay/internal/assay"
	"assay/internal/study/inputs"
)

// Words out of short lists. Each reads itself, so that a misspelt word is a problem with the list.
type (
	// Mode is how requests travel.
	Mode assay.Mode
	// Reserve is the amount reserved before a batch is sent.
	Reserve string
	// Unpriced is whether lanes without a price may run under a budget.
	Unpriced string
	// DeadlineThen is the treatment of the rest after the deadline.
	DeadlineThen string
	// Missing is the treatment of an item that a join finds no row for.
	Missing string
	// Jury is how several judges become one verdict.
	Jury string
	// Identical is the treatment of a pair of identical answers.
	Identical string
	// Order is which side of a pair comes first.
	Order string
	// Reduce is how draws become one.
	Reduce string
	// Wrap is whether a judge's prompt is wrapped to protect it from the texts in it.
	Wrap string
	// CountAs is how an answer that is none counts.
	CountAs string
)

func modes() []string {
	return []string{string(assay.ModeBatch), string(assay.ModeLive), string(assay.ModeBatchElseLive)}
}

func (w *Mode) read(d *decoder, n *node)         { *w = Mode(d.oneOf(n, modes()...)) }
func (w *Reserve) read(d *decoder, n *node)      { *w = Reserve(d.oneOf(n, "expected", "high")) }
func (w *Unpriced) read(d *decoder, n *node)     { *w = Unpriced(d.oneOf(n, "refuse", "allow")) }
func (w *DeadlineThen) read(d *decoder, n *node) { *w = DeadlineThen(d.oneOf(n, "live", "stop")) }
func (w *Missing) read(d *decoder, n *node)      { *w = Missing(d.oneOf(n, "problem", "keep")) }
func (w *Jury) read(d *decoder, n *node) {
	*w = Jury(d.oneOf(n, "each", "majority", "mean", "unanimous"))
}
func (w *Identical) read(d *decoder, n *node) { *w = Identical(d.oneOf(n, "tie", "ask")) }
func (w *Order) read(d *decoder, n *node) {
	*w = Order(d.oneOf(n, "random", "alternate", "both", "as-listed"))
}
func (w *Reduce) read(d *decoder, n *node) { *w = Reduce(d.oneOf(n, "mean", "majority", "any", "all")) }
func (w *Wrap) read(d *decoder, n *node) {
	if n.kind == kindBool { // some write off and on as false and true
		*w = map[bool]Wrap{true: "on", false: wrapOff}[n.yes]
		return
	}
	*w = Wrap(d.oneOf(n, "on", wrapOff))
}
func (w *CountAs) read(d *decoder, n *node) { *w = CountAs(d.oneOf(n, "answer", "exclude", "worst")) }

// Any is any value, kept as JSON.
type Any struct {
	JSON json.RawMessage
	At   assay.Place
}

func (a *Any) read(_ *decoder, n *node) { *a = Any{JSON: n.json(), At: n.at} }

// RawSchema is a JSON Schema, written in place or in a file.
type RawSchema struct {
	JSON json.RawMessage
	File string
	At   assay.Place
}

func (s *RawSchema) read(d *decoder, n *node) {
	s.At = n.at
	switch n.kind {
	case kindMap:
		s.JSON = n.json()
	case kindText:
		s.File = n.text
	default:
		d.wrong(n, "a JSON Schema, or the name of its file")
	}
}

// Rows picks rows by number: 1-100, 5, or a list of both.
type Rows []inputs.Range

func (r *Rows) read(d *decoder, n *node) {
	var names Names
	names.read(d, n)
	for i, text := range names.List {
		ranges, err := inputs.ParseRows(text)
		if err != nil {
			d.problems.Add(names.Places[i], "such as 1-100, 7 or 50-", "%s", err)
			continue
		}
		*r = append(*r, ranges...)
	}
}

// Sample is a seeded draw of items.
type Sample struct {
	N    int
	Seed uint64
}

func (s *Sample) read(d *decoder, n *node) {
	var m struct {
		N    int   `json:"n"`
		Seed int64 `json:"seed"`
	}
	if n.kind == kindMap {
		rest(d, n, &m)
	} else {
		d.into(n, valueOf(&m.N))
	}
	if m.N < 1 {
		d.problems.Add(n.at, "", "sample: want at least 1, got %d", m.N)
	}
	*s = Sample{N: m.N, Seed: uint64(m.Seed)}
}

// Expect is the right answer of an item: a constant, or the field that holds it.
type Expect struct {
	Const string
	Field string
}

func (e *Expect) read(d *decoder, n *node) {
	if n.kind == kindMap {
		var m struct {
			Field string `json:"field"`
		}
		rest(d, n, &m)
		e.Field = m.Field
		return
	}
	d.into(n, valueOf(&e.Const))
}

// Joins is one join or a list of them.
type Joins []Join

func (j *Joins) read(d *decoder, n *node) {
	list := n.list
	if n.kind == kindMap {
		list = []*node{n}
	}
	for _, c := range list {
		var one Join
		d.into(c, valueOf(&one))
		*j = append(*j, one)
	}
}

func valueOf[T any](v *T) reflect.Value { return reflect.ValueOf(v).Elem() }
