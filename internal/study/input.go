package study

import (
	"encoding/json"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/inputs"
)

// Input is one entry under `inputs:`.
type Input struct {
	decode.Where
	File    string     `json:"file,omitempty" jsonschema:".txt .csv .tsv .jsonl .json .parquet or a folder"`
	Files   string     `json:"files,omitempty" jsonschema:"glob inside the folder"`
	Format  string     `json:"format,omitempty" jsonschema:"over the file's suffix"`
	Of      string     `json:"of,omitempty" jsonschema:"a slice of another input; ids are kept"`
	All     Names      `json:"all,omitzero" jsonschema:"all items of several inputs, one after the other; ids are kept"`
	ID      string     `json:"id,omitempty" jsonschema:"the field that identifies an item; a path such as metadata.chunk_id reaches inside"`
	Text    string     `json:"text,omitempty" jsonschema:"the field that is called text in prompts"`
	Limit   int        `json:"limit,omitempty"`
	Rows    Rows       `json:"rows,omitempty" jsonschema:"such as 1-100 or [1-10, 20]"`
	Sample  *Sample    `json:"sample,omitempty" jsonschema:"how many, drawn with a seed"`
	Filter  Expression `json:"where,omitzero" jsonschema:"keeps the items for which it is true"`
	Join    Joins      `json:"join,omitempty"`
	Cluster string     `json:"cluster,omitempty" jsonschema:"the field that is the unit of error bars; the item when omitted"`
	Expect  Expect     `json:"expect,omitzero" jsonschema:"the right answer: a constant, or the field that holds it"`
	Items   []Any      `json:"items,omitempty" jsonschema:"a few items written in place"`

	Keep *expr.Program `json:"-"` // `where`, compiled
}

// Join brings fields of another file or input to each item.
type Join struct {
	decode.Where
	With    string  `json:"with" jsonschema:"a file or an input"`
	Match   string  `json:"match" jsonschema:"left = right"`
	As      string  `json:"as,omitempty" jsonschema:"the field that holds the joined row"`
	Missing Missing `json:"missing,omitempty" jsonschema:"problem (the default) or keep"`
}

// Specs returns the study's inputs, and the rows of its import stages, as package inputs takes them. Conditions on
// items are compiled; what is wrong with them was reported when the study was read.
func (s *Study) Specs() map[string]inputs.Spec {
	specs := make(map[string]inputs.Spec, len(s.Inputs))
	for _, e := range s.Inputs {
		specs[e.Name] = e.Value.spec(e.Name, e.At)
	}
	for i := range s.Stages {
		if st := &s.Stages[i]; st.Import != nil {
			specs[ImportRows(st.Name)] = st.Import.Spec(st.Name)
		}
	}
	return specs
}

// Remote returns the files of datasets that the study names, with their places.
func (s *Study) Remote() map[string]assay.Place {
	named := map[string]assay.Place{}
	add := func(name string, at assay.Place) {
		if _, known := named[name]; assay.IsRemote(name) && !known {
			named[name] = at
		}
	}
	for _, spec := range s.Specs() {
		add(spec.File, spec.At)
		for _, j := range spec.Join {
			add(j.With, j.At)
		}
	}
	for i := range s.Stages {
		add(s.Stages[i].Gold, s.Stages[i].Where.Key("gold"))
	}
	for _, name := range s.Loaded {
		add(name, s.At)
	}
	return named
}

func (in Input) spec(name string, at assay.Place) inputs.Spec {
	spec := inputs.Spec{
		Name: name, At: at, File: in.File, Files: in.Files, Format: in.Format, Of: in.Of, All: in.All.List, ID: in.ID, Text: in.Text,
		Limit: in.Limit, Rows: in.Rows, Cluster: in.Cluster, Expect: in.Expect.Const, ExpectField: in.Expect.Field,
	}
	if in.Sample != nil {
		spec.Sample = &inputs.Sample{N: in.Sample.N, Seed: in.Sample.Seed}
	}
	for _, j := range in.Join {
		left, right, _ := strings.Cut(j.Match, "=")
		spec.Join = append(spec.Join, inputs.Join{
			At: j.At, With: j.With, Left: strings.TrimSpace(left), Right: strings.TrimSpace(right), As: j.As,
			Missing: inputs.Missing(j.Missing),
		})
	}
	for _, item := range in.Items {
		spec.Items = append(spec.Items, inlineItem(item.JSON))
	}
	if keep := in.Keep; keep != nil {
		spec.Where = func(it assay.Item) (bool, error) { return keep.Bool(expr.Vars{Item: &it}) }
	}
	return spec
}

// inlineItem returns an item written in the study: a map of fields, or a bare text.
func inlineItem(raw json.RawMessage) map[string]any {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err == nil {
		return fields
	}
	var text any
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil
	}
	return map[string]any{"text": text}
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
		if !d.Problems.Touch(n.At) {
			d.Problems.Add(n.At, "such as {n: 100, seed: 1}", "sample: want at least 1, got %d", m.N)
		}
		m.N = 1 // it was reported
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
