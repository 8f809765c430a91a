package study

import (
	"cmp"
	"encoding/binary"
	"math"
	"net/url"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/inputs"
)

// Import describes where answers made elsewhere are. Every key but file, of and where names a field of the file; a
// field that is not named is looked for under the key's own name, which is how `assay export` writes it.
type Import struct {
	decode.Where
	File      string     `json:"file" jsonschema:"one row an answer: .csv .tsv .jsonl .json .parquet, or a folder of them"`
	Format    string     `json:"format,omitempty" jsonschema:"over the file's suffix"`
	Of        string     `json:"of" jsonschema:"the input whose items were asked"`
	Filter    Expression `json:"where,omitzero" jsonschema:"which rows, by their fields"`
	Asked     string     `json:"asked,omitempty" jsonschema:"rows: what has no row was not asked; without it every lane was asked everything that any row answers"`
	Item      string     `json:"item,omitempty" jsonschema:"the field with the item's id (item)"`
	Lane      string     `json:"lane,omitempty" jsonschema:"the field with the lane's name (lane)"`
	Text      string     `json:"text,omitempty" jsonschema:"the field with the answer (text)"`
	Thoughts  string     `json:"thoughts,omitempty" jsonschema:"the field with the model's thoughts (thoughts)"`
	Template  string     `json:"template,omitempty" jsonschema:"the field with the prompt's name (template)"`
	Turn      string     `json:"turn,omitempty" jsonschema:"the field with the number of the turn (turn); 1 where there is none"`
	Branch    string     `json:"branch,omitempty" jsonschema:"the field with the branch (branch)"`
	Draw      string     `json:"draw,omitempty" jsonschema:"the field with the number of the draw (draw); 1 where there is none"`
	Ending    string     `json:"ending,omitempty" jsonschema:"the field that says how it ended (ending); answered where there is none"`
	Finish    string     `json:"finish,omitempty" jsonschema:"the field with the provider's own word for it (finish)"`
	Model     string     `json:"model,omitempty" jsonschema:"the field with the model that answered (model)"`
	Input     string     `json:"input_tokens,omitempty" jsonschema:"the field with the input tokens (input_tokens)"`
	Output    string     `json:"output_tokens,omitempty" jsonschema:"the field with the output tokens (output_tokens)"`
	Reasoning string     `json:"reasoning_tokens,omitempty" jsonschema:"the field with the reasoning tokens (reasoning_tokens)"`
	Cost      string     `json:"cost_usd,omitempty" jsonschema:"the field with the cost in dollars (cost_usd); unknown where there is none"`

	Keep *expr.Program `json:"-"` // `where`, compiled
}

// Imported is the shape of an import stage, as found in its rows: a run remembers it, so that the file is read once.
type Imported struct {
	Lanes     []ImportedLane `json:"lanes"`
	Templates []string       `json:"templates,omitempty"`
	Branches  [][]string     `json:"branches,omitempty"` // by turn from 1: the branches that begin there
	Draws     int            `json:"draws"`              // the highest that is no control's
	Controls  int            `json:"controls,omitempty"` // the highest of a control; 0: there is none
	// the conversations were opened elsewhere: the rows mark it, or a control begins with the first turn
	Goes bool `json:"goes,omitempty"`
	// with `asked: rows`: hashes of all questions that have a row, sorted, 8 bytes each
	Asked  []byte `json:"asked,omitempty"`
	Rows   int64  `json:"rows"`
	Digest string `json:"digest,omitempty"` // of the rows
}

// Has reports whether a question was asked.
func (s *Imported) Has(at assay.Coordinates) bool {
	if s == nil || s.Asked == nil {
		return true
	}
	want := hashOf(at)
	i := sort.Search(len(s.Asked)/8, func(i int) bool { return binary.BigEndian.Uint64(s.Asked[8*i:]) >= want })
	return 8*i < len(s.Asked) && binary.BigEndian.Uint64(s.Asked[8*i:]) == want
}

func hashOf(at assay.Coordinates) uint64 {
	key := at.Key()
	return binary.BigEndian.Uint64(key[:])
}

// Questions are hashes of coordinates.
type Questions []uint64

// Add adds what a row asks; a bare name of a branch may be written otherwise in a coordinate.
func (q *Questions) Add(stage string, r *ImportedRow) {
	at := assay.Coordinates{Stage: stage, Item: r.Item, Lane: r.Lane, Template: r.Template, Turn: r.Turn, Branch: r.Branch, Draw: r.Draw}
	*q = append(*q, hashOf(at))
	if at.Branch = url.PathEscape(r.Branch); at.Branch != r.Branch {
		*q = append(*q, hashOf(at))
	}
}

// Packed returns the hashes in order, each once, 8 bytes each.
func (q Questions) Packed() []byte {
	slices.Sort(q)
	out := make([]byte, 0, 8*len(q))
	for _, h := range slices.Compact(q) {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// ImportedLane is a lane that rows name.
type ImportedLane struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"` // as in the first row that has one
}

// ImportRows returns the name under which package inputs knows the rows of an import stage. No input can be called so.
func ImportRows(stage string) string { return "import " + stage }

// Spec returns the rows of the import as package inputs takes them.
func (m *Import) Spec(stage string) inputs.Spec {
	spec := inputs.Spec{Name: ImportRows(stage), At: m.At, File: m.File, Format: m.Format, ID: cmp.Or(m.Item, "item"), Repeated: true}
	if keep := m.Keep; keep != nil {
		spec.Where = func(it assay.Item) (bool, error) { return keep.Bool(expr.Vars{Item: &it}) }
	}
	return spec
}

// Add takes a row into the shape.
func (s *Imported) Add(row *ImportedRow) {
	s.Rows++
	s.Goes = s.Goes || row.GoesOn
	i := slices.IndexFunc(s.Lanes, func(l ImportedLane) bool { return l.Name == row.Lane })
	if i < 0 {
		i = len(s.Lanes)
		s.Lanes = append(s.Lanes, ImportedLane{Name: row.Lane})
	}
	if s.Lanes[i].Model == "" {
		s.Lanes[i].Model = row.Outcome.Model
	}
	if !slices.Contains(s.Templates, row.Template) {
		s.Templates = append(s.Templates, row.Template)
	}
	if path.Base(row.Branch) == "control" {
		s.Controls = max(s.Controls, row.Draw)
	} else {
		s.Draws = max(s.Draws, row.Draw)
	}
	for len(s.Branches) < row.Turn {
		s.Branches = append(s.Branches, nil)
	}
	if row.Branch == "" {
		return
	}
	if here := &s.Branches[row.Turn-1]; !slices.Contains(*here, row.Branch) {
		*here = append(*here, row.Branch)
	}
}

// ImportedRow is one answer made elsewhere.
type ImportedRow struct {
	Item, Lane, Template string
	Turn                 int
	Branch               string // as it is written: a coordinate, or a branch's bare name
	Draw                 int
	Outcome              assay.Outcome
	Cost                 *assay.Money // nil: not known
	GoesOn               bool         // with a conversation of another stage, as our own exports mark it
}

// Column is a field of an import's file.
type Column struct {
	Key, Field string
	Written    bool // the study names the field
	Needed     bool
}

// Columns returns the fields that an import looks at.
func (m *Import) Columns() []Column {
	var out []Column
	for _, c := range []struct{ key, field string }{
		{"item", m.Item}, {"lane", m.Lane}, {"text", m.Text}, {"thoughts", m.Thoughts}, {"template", m.Template}, {"turn", m.Turn},
		{"branch", m.Branch}, {"draw", m.Draw}, {"ending", m.Ending}, {"finish", m.Finish}, {"model", m.Model}, {"input_tokens", m.Input},
		{"output_tokens", m.Output}, {"reasoning_tokens", m.Reasoning}, {"cost_usd", m.Cost}, {"price_usd", ""},
		{"reused_from", ""}, {"verb", ""},
	} {
		needed := c.key == "item" || c.key == "lane" || c.key == "text"
		out = append(out, Column{Key: c.key, Field: cmp.Or(c.field, c.key), Written: c.field != "", Needed: needed})
	}
	return out
}

// Row reads one row of the file.
func (m *Import) Row(it assay.Item) (ImportedRow, error) {
	c := &cells{m: m, it: it, columns: m.Columns()}
	row := ImportedRow{
		Item: it.ID, Lane: c.text("lane"), Template: c.text("template"), Branch: c.text("branch"),
		Turn: int(c.count("turn", 1)), Draw: int(c.count("draw", 1)), GoesOn: c.text("verb") == string(VerbContinue),
	}
	o := &row.Outcome
	o.Text, o.Thoughts, o.Finish, o.Model = c.text("text"), c.text("thoughts"), c.text("finish"), c.text("model")
	o.Ending = c.ending(o.Text)
	o.Usage = assay.Usage{Input: c.count("input_tokens", -1), Output: c.count("output_tokens", -1),
		Reasoning: max(0, c.count("reasoning_tokens", 0))}
	if o.Usage.Known = o.Usage.Input >= 0 && o.Usage.Output >= 0; !o.Usage.Known {
		o.Usage = assay.Usage{}
	}
	row.Cost = c.cost()
	switch {
	case row.Lane == "":
		c.problem("", "the row names no lane in field %s", decode.Quote(cmp.Or(m.Lane, "lane")))
	case row.Turn < 1 || row.Turn > maxTurns:
		c.problem("turns count from 1", "turn %d", row.Turn)
	case row.Draw < 1 || row.Draw > maxDraws:
		c.problem("draws count from 1", "draw %d", row.Draw)
	}
	if len(c.problems) > 0 {
		return row, c.problems
	}
	return row, nil
}

const (
	maxTurns = 1000
	maxDraws = 1000
)

// cells reads the fields of one row, and keeps every problem it meets.
type cells struct {
	m        *Import
	it       assay.Item
	columns  []Column
	problems assay.Problems
}

func (c *cells) problem(hint, format string, args ...any) {
	c.problems.Add(c.it.Place, hint, format, args...)
}

// value returns a field's value; nil where the row has none and the study does not name it.
func (c *cells) value(key string) any {
	i := slices.IndexFunc(c.columns, func(col Column) bool { return col.Key == key })
	col := c.columns[i]
	v, ok := inputs.Value(c.it, col.Field)
	if !ok && (col.Written || col.Needed) {
		c.problem("", "the row has no field %s, which `%s` names", decode.Quote(col.Field), key)
	}
	return v
}

func (c *cells) text(key string) string {
	v := c.value(key)
	if v == nil {
		return ""
	}
	text, ok := inputs.Text(v)
	if !ok {
		c.problem("", "%s is not a text", key)
	}
	return text
}

// count returns a whole number; missing where there is none.
func (c *cells) count(key string, missing int64) int64 {
	text := strings.TrimSpace(c.text(key))
	if text == "" {
		return missing
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n != math.Trunc(n) || n > 1e15 {
		c.problem("", "%s: want a whole number, got %s", key, decode.Quote(text))
		return missing
	}
	return int64(n)
}

// cost returns what the answer cost where it was paid for. In a row of `assay export`, cost_usd of an answer that was taken over from
// another run is 0.
func (c *cells) cost() *assay.Money {
	key := "cost_usd"
	if i := slices.IndexFunc(c.columns, func(col Column) bool { return col.Key == key }); !c.columns[i].Written &&
		strings.TrimSpace(c.text("price_usd")+c.text("reused_from")) != "" {
		key = "price_usd"
	}
	text := strings.TrimSpace(c.text(key))
	if text == "" {
		return nil
	}
	m, err := assay.ParseMoney(text)
	if err != nil {
		c.problem("", "%s: %s", key, err)
		return nil
	}
	return &m
}

// unasked is the text that `assay export` writes where a question was never sent.
const unasked = "unasked"

// ending returns how the answer ended: as the row has it, else answered where there is a text.
func (c *cells) ending(text string) assay.Ending {
	i := slices.IndexFunc(c.columns, func(col Column) bool { return col.Key == "ending" })
	_, has := inputs.Value(c.it, c.columns[i].Field)
	word := assay.Ending(strings.TrimSpace(c.text("ending")))
	switch {
	case !has && strings.TrimSpace(text) == "":
		return assay.Empty
	case !has:
		return assay.Answered
	case word == "", word == unasked: // it was in flight when the table was written, or never sent
		return assay.Lost
	case !slices.Contains(assay.Endings(), word):
		var known []string
		for _, e := range assay.Endings() {
			known = append(known, string(e))
		}
		c.problem(assay.ThereAre(known)+"; `ending: \"\"` is not needed where all rows are answers", "no ending is called %s",
			decode.Quote(string(word)))
	}
	return word
}
