package study

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/inputs"
)

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

// column is a field of an import's file.
type column struct {
	key, field string
	written    bool // the study names the field
	needed     bool
}

// columns returns the fields that an import looks at.
func (m *Import) columns() []column {
	var out []column
	for _, c := range []struct{ key, field string }{
		{"item", m.Item}, {"lane", m.Lane}, {"text", m.Text}, {"thoughts", m.Thoughts}, {"template", m.Template}, {"turn", m.Turn},
		{"branch", m.Branch}, {"draw", m.Draw}, {"ending", m.Ending}, {"finish", m.Finish}, {"model", m.Model}, {"input_tokens", m.Input},
		{"output_tokens", m.Output}, {"reasoning_tokens", m.Reasoning}, {"cost_usd", m.Cost}, {"verb", ""},
	} {
		needed := c.key == "item" || c.key == "lane" || c.key == "text"
		out = append(out, column{key: c.key, field: cmp.Or(c.field, c.key), written: c.field != "", needed: needed})
	}
	return out
}

// Row reads one row of the file.
func (m *Import) Row(it assay.Item) (ImportedRow, error) {
	c := &cells{m: m, it: it, columns: m.columns()}
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
	columns  []column
	problems assay.Problems
}

func (c *cells) problem(hint, format string, args ...any) {
	c.problems.Add(c.it.Place, hint, format, args...)
}

// value returns a field's value; nil where the row has none and the study does not name it.
func (c *cells) value(key string) any {
	i := slices.IndexFunc(c.columns, func(col column) bool { return col.key == key })
	col := c.columns[i]
	v, ok := inputs.Value(c.it, col.field)
	if !ok && (col.written || col.needed) {
		c.problem("", "the row has no field %s, which `%s` names", decode.Quote(col.field), key)
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

func (c *cells) cost() *assay.Money {
	text := strings.TrimSpace(c.text("cost_usd"))
	if text == "" {
		return nil
	}
	m, err := assay.ParseMoney(text)
	if err != nil {
		c.problem("", "cost_usd: %s", err)
		return nil
	}
	return &m
}

// unasked is the text that `assay export` writes where a question was never sent.
const unasked = "unasked"

// ending returns how the answer ended: as the row has it, else answered where there is a text.
func (c *cells) ending(text string) assay.Ending {
	i := slices.IndexFunc(c.columns, func(col column) bool { return col.key == "ending" })
	_, has := inputs.Value(c.it, c.columns[i].field)
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
