package study

import (
	"encoding/json"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/inputs"
)

// Words out of short lists.
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
	// API is which of a provider's APIs a lane uses.
	API string
)

// Words lists the modes.
func (Mode) Words() []string {
	return []string{string(assay.ModeBatch), string(assay.ModeLive), string(assay.ModeBatchElseLive)}
}

// Words lists the amounts by name.
func (Reserve) Words() []string { return []string{"expected", "high"} }

// Words lists the answers.
func (Unpriced) Words() []string { return []string{"refuse", "allow"} }

// Words lists the treatments.
func (DeadlineThen) Words() []string { return []string{"live", "stop"} }

// Words lists the treatments.
func (Missing) Words() []string { return []string{"problem", "keep"} }

// Words lists the ways.
func (Jury) Words() []string { return []string{"each", "majority", "mean", "unanimous"} }

// Words lists the treatments.
func (Identical) Words() []string { return []string{"tie", "ask"} }

// Words lists the orders.
func (Order) Words() []string { return []string{"random", "alternate", "both", "as-listed"} }

// Words lists the ways.
func (Reduce) Words() []string { return []string{"mean", "majority", "any", "all"} }

// Words lists the ways.
func (CountAs) Words() []string { return []string{"answer", "exclude", "worst"} }

// Words lists the APIs.
func (API) Words() []string { return []string{"chat", "responses"} }

// Read takes on, off, true or false.
func (w *Wrap) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Bool { // some write off and on as false and true
		*w = map[bool]Wrap{true: "on", false: wrapOff}[n.Bool]
		return
	}
	*w = Wrap(d.OneOf(n, "on", wrapOff))
}

// Any is any value, kept as JSON.
type Any struct {
	JSON json.RawMessage
	At   assay.Place
}

// Read takes anything.
func (a *Any) Read(_ *decode.Decoder, n *decode.Node) { *a = Any{JSON: n.JSON(), At: n.At} }

// RawSchema is a JSON Schema, written in place or in a file.
type RawSchema struct {
	JSON json.RawMessage
	File string
	At   assay.Place
}

// Read takes a schema, or the name of its file.
func (s *RawSchema) Read(d *decode.Decoder, n *decode.Node) {
	s.At = n.At
	switch n.Kind {
	case decode.Map:
		s.JSON = n.JSON()
	case decode.Text:
		s.File = n.Text
	default:
		d.Wrong(n, "a JSON Schema, or the name of its file")
	}
}

// Rows picks rows by number: 1-100, 5, or a list of both.
type Rows []inputs.Range

// Read takes numbers and ranges.
func (r *Rows) Read(d *decode.Decoder, n *decode.Node) {
	var names Names
	names.Read(d, n)
	for i, text := range names.List {
		ranges, err := inputs.ParseRows(text)
		if err != nil {
			d.Problems.Add(names.Places[i], "such as 1-100, 7 or 50-", "%s", err)
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

// Read takes a number, or a map.
func (s *Sample) Read(d *decode.Decoder, n *decode.Node) {
	var m struct {
		N    int   `json:"n"`
		Seed int64 `json:"seed"`
	}
	if n.Kind == decode.Map {
		d.Fields(n, &m)
	} else {
		d.Into(n, &m.N)
	}
	if m.N < 1 {
		d.Problems.Add(n.At, "", "sample: want at least 1, got %d", m.N)
	}
	*s = Sample{N: m.N, Seed: uint64(m.Seed)}
}

// Expect is the right answer of an item: a constant, or the field that holds it.
type Expect struct {
	Const string
	Field string
}

// Read takes a constant, or a map with the field.
func (e *Expect) Read(d *decode.Decoder, n *decode.Node) {
	if n.Kind == decode.Map {
		var m struct {
			Field string `json:"field"`
		}
		d.Fields(n, &m)
		e.Field = m.Field
		return
	}
	d.Into(n, &e.Const)
}

// Joins is one join or a list of them.
type Joins []Join

// Read takes a join, or a list of joins.
func (j *Joins) Read(d *decode.Decoder, n *decode.Node) {
	list := n.List
	if n.Kind == decode.Map {
		list = []*decode.Node{n}
	}
	for _, c := range list {
		var one Join
		d.Into(c, &one)
		*j = append(*j, one)
	}
}
