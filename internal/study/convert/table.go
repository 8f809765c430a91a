package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/inputs"
)

// Table is a file of questions, or a folder of texts, that a study is made of.
type Table struct {
	Study   string       // the name of the study
	File    string       // as the study is to write it
	Texts   bool         // each file of a folder is a text that is there already: they are compared
	Rows    int          // how many questions or texts there are
	Columns []string     // of its first rows, in the order of the file
	First   []assay.Item // its first rows
	Use     Columns
	Sample  int      // how many of its rows are drawn at random; 0: all are asked
	Models  []string // PROVIDER/MODEL that are asked
	Judge   string   // likewise, the one that judges
}

// Columns are the names of the columns that a study uses; empty: there is none.
type Columns struct{ ID, Question, Answer string }

// Guess returns the columns that hold ids, questions and right answers, by their names; that of the questions else by the length of
// its texts.
func (t Table) Guess() Columns {
	var c Columns
	if len(t.First) > 0 {
		c.ID = inputs.OwnID(t.First[0].Fields)
	}
	if c.ID == "" {
		if i := slices.IndexFunc(t.Columns, inputs.LooksLikeID); i >= 0 && t.distinct(t.Columns[i]) {
			c.ID = t.Columns[i]
		}
	}
	c.Answer = t.called(func(string) bool { return true }, "answer", "correct answer", "expected answer", "reference answer",
		"right answer", "expected", "expect", "reference", "gold", "target", "solution", "correct", "ideal", "ground truth",
		"expected output", "label")
	free := func(column string) bool { return column != c.ID && column != c.Answer }
	c.Question = t.called(free, "question", "prompt", "text", "query", "input", "instruction", "problem", "task", "message")
	if c.Question == "" {
		c.Question = t.longest(free)
	}
	return c
}

// called returns the first column, of those that are free, that has one of these names.
func (t Table) called(free func(string) bool, names ...string) string {
	for _, want := range names {
		for _, column := range t.Columns {
			plain := strings.ToLower(strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(column)))
			if plain == want && free(column) {
				return column
			}
		}
	}
	return ""
}

// longest returns the free column with the longest texts in the first rows.
func (t Table) longest(free func(string) bool) string {
	best, most := "", 0
	for _, column := range t.Columns {
		sum := 0
		for _, it := range t.First {
			if text, ok := it.Fields[column].(string); ok {
				sum += len(text)
			}
		}
		if free(column) && sum > most {
			best, most = column, sum
		}
	}
	return best
}

// distinct reports whether the first rows have different values in a column, all of them.
func (t Table) distinct(column string) bool {
	seen := map[string]bool{}
	for _, it := range t.First {
		text, ok := inputs.Text(it.Fields[column])
		if !ok || text == "" || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// Draft makes the smallest study that answers what a table is for: which model is right, where there are right answers; which one answers
// better, where there are none; which text is better, where texts are there already.
func (t Table) Draft(w World) (*Draft, error) {
	d := &drafter{World: w}
	d.line("# Made by assay init from %s. `assay check` shows whether it can be sent, `assay plan` for how much.",
		assay.Clean(t.File, maxComment))
	d.line("study: %s\n\ninputs:", quoted(name(t.Study, "study")))
	if t.Texts {
		d.line("  texts: {file: %s}", quoted(t.File))
	} else {
		d.questions(t)
	}
	d.line("\nlane_defaults: {max_tokens: 1000}\nlanes:")
	if !t.Texts {
		for _, model := range t.Models {
			if err := d.candidate(model, ""); err != nil {
				return nil, err
			}
		}
		if len(t.Models) == 0 {
			return nil, errors.New("no model is named")
		}
	}
	if err := d.candidate(t.Judge, "judge"); err != nil {
		return nil, err
	}
	d.line("\nstages:")
	d.tableStages(t)
	d.line("\nbudget: 5 USD    # nothing is sent beyond it")
	d.ownModels(t)
	return d.draft("table"), nil
}

// questions writes the input of a table.
func (d *drafter) questions(t Table) {
	keys := []string{"file: " + quoted(t.File)}
	if t.Use.ID != "" && !slices.Contains([]string{"id", "ID", "Id"}, t.Use.ID) {
		keys = append(keys, "id: "+quoted(t.Use.ID))
	}
	if t.Use.Question != "text" {
		keys = append(keys, "text: "+quoted(t.Use.Question))
	}
	if t.Use.Answer != "" {
		keys = append(keys, "expect: {field: "+quoted(t.Use.Answer)+"}")
	}
	if t.Sample > 0 {
		keys = append(keys, fmt.Sprintf("sample: {n: %d, seed: 1}", t.Sample))
	}
	d.line("  questions: {%s}", strings.Join(keys, ", "))
}

// tableStages writes the stages that answer what a table is for.
func (d *drafter) tableStages(t Table) {
	switch {
	case t.Texts:
		d.line("  - name: ranking\n    compare: texts\n    rubric: better_sample\n    judges: [judge]")
		pairs := "all: true"
		if all := t.Rows * (t.Rows - 1) / 2; all > 5*t.Rows {
			pairs = fmt.Sprintf("sample: %d, seed: 1", 5*t.Rows)
		}
		d.line("    pairs: {%s, order: both}    # both: every pair is shown twice, the second time the other way round", pairs)
		return
	case t.Use.Answer != "":
		d.line("  - {name: answers, ask: questions, prompt: \"{{ text }}\"}")
		d.line("  - {name: correct, judge: answers, rubric: correct, judges: [judge]}    # held against column %s",
			assay.Clean(t.Use.Answer, maxComment))
	case len(t.Models) > 1:
		d.line("  - {name: answers, ask: questions, prompt: \"{{ text }}\"}")
		d.line("  - {name: better, compare: answers, pairs: {all: true, order: both}, rubric: better, judges: [judge]}")
	default:
		d.line("  - {name: answers, ask: questions, prompt: \"{{ text }}\"}")
		d.line("  - {name: rating, judge: answers, rubric: likert, judges: [judge]}    # from 1 to 5")
	}
}
