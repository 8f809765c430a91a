// Package recount computes the numbers of a run a second time. It reads what a run exports (answers, verdicts and items)
// and what is claimed of it (`analyse --json` and its renderings), shares no code with what made the claims, and returns
// where the two disagree. Its formulas are the plain ones: a cluster is left out by leaving it out, a bound is found by
// bisection, a strength by climbing.
package recount

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Run is one run: the rows to count, and what is claimed of them.
type Run struct {
	Answers  []Answer
	Verdicts []Verdict
	Items    []Item
	Claims   Claims
	Rubrics  map[string]Rubric // by stage; one that is missing is guessed from the rows
	Doubled  bool              // a provider made a job twice: lanes have spent the cost of both
}

// Answer is a row of the table of answers, as far as numbers rest on it.
type Answer struct {
	Key        string   `json:"key"`
	Stage      string   `json:"stage"`
	Verb       string   `json:"verb"`
	Source     string   `json:"source"`
	Input      string   `json:"input"`
	Item       string   `json:"item"`
	Lane       string   `json:"lane"`
	Template   string   `json:"template"`
	Turn       int      `json:"turn"`
	Branch     string   `json:"branch"`
	Draw       int      `json:"draw"`
	First      string   `json:"first"`
	Second     string   `json:"second"`
	Judge      string   `json:"judge"`
	Prompt     string   `json:"prompt"`
	Trait      string   `json:"trait"`
	Vote       int      `json:"vote"`
	SecondTry  bool     `json:"second_try"`
	AskedLane  string   `json:"asked_lane"`
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Effort     string   `json:"effort"`
	Thinking   string   `json:"thinking"`
	Attempts   int      `json:"attempts"`
	Ending     string   `json:"ending"`
	Cost       *float64 `json:"cost_usd"`
	Price      *float64 `json:"price_usd"`
	ReusedFrom string   `json:"reused_from"`
	Imported   bool     `json:"imported"`
}

// Verdict is a row of the table of verdicts.
type Verdict struct {
	Key      string   `json:"key"`
	Stage    string   `json:"stage"`
	Verb     string   `json:"verb"`
	Source   string   `json:"source"` // empty: items are compared
	Input    string   `json:"input"`
	Item     string   `json:"item"`
	Lane     string   `json:"lane"`
	Template string   `json:"template"`
	Turn     int      `json:"turn"`
	Branch   string   `json:"branch"`
	Draw     int      `json:"draw"`
	First    string   `json:"first"`
	Second   string   `json:"second"`
	Judge    string   `json:"judge"`
	Prompt   string   `json:"prompt"`
	Trait    string   `json:"trait"`
	Vote     int      `json:"vote"`
	State    string   `json:"state"`
	Label    string   `json:"label"`
	Score    *float64 `json:"score"`
	Subject  string   `json:"subject"`
	Against  string   `json:"against"`
	Fallback string   `json:"fallback"`
}

// verdict returns the place of a verdict that a judge's request has not given.
func (a *Answer) verdict() Verdict {
	return Verdict{Key: a.Key, Stage: a.Stage, Verb: a.Verb, Source: a.Source, Input: a.Input, Item: a.Item, Lane: a.Lane,
		Template: a.Template, Turn: a.Turn, Branch: a.Branch, Draw: a.Draw, First: a.First, Second: a.Second, Judge: a.Judge,
		Prompt: a.Prompt, Trait: a.Trait, Vote: a.Vote, State: "missing"}
}

// Item is a row of the table of items.
type Item struct {
	Input   string         `json:"input"`
	Item    string         `json:"item"`
	Cluster string         `json:"cluster"`
	Expect  string         `json:"expect"`
	Fields  map[string]any `json:"fields"`
}

// Rubric is what a study sets and rows do not show.
type Rubric struct {
	Labels    []Label
	Low, High *float64 // range of the score
	Less      bool     // a low score is the good one
	Flips     bool     // later answers are held against the first
	Control   string   // the branch of a neutral re-ask; empty: none
	Jury      string   // how several judges decide: majority, mean, unanimous; empty: each for itself
	Votes     string   // how several votes of a judge become one; empty: they stay apart
	Draws     string   // how several draws of an answer become one
	Repeats   int      // draws that become one
	Rounds    bool     // pairs are bought in rounds: intervals and claims have rules of their own
}

// Label is a label of a rubric; one without a score has none.
type Label struct {
	Name  string
	Score *float64
}

// Read reads a run from a folder: answers.jsonl, verdicts.jsonl and items.jsonl as `export --format jsonl` writes them, and
// analyse.json, which `analyse --json` prints.
func Read(files fs.FS) (*Run, error) {
	r := &Run{}
	err := errors.Join(rows(files, "answers.jsonl", &r.Answers), rows(files, "verdicts.jsonl", &r.Verdicts),
		rows(files, "items.jsonl", &r.Items))
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, "analyse.json")
	if err != nil {
		return nil, err
	}
	r.Claims, err = ReadClaims(text)
	return r, err
}

func rows[T any](files fs.FS, name string, to *[]T) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if *to, err = ReadRows[T](f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ReadRows reads a table of JSON lines.
func ReadRows[T any](from io.Reader) ([]T, error) {
	var out []T
	decoder := json.NewDecoder(bufio.NewReader(from))
	for {
		var one T
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", len(out)+1, err)
		}
		out = append(out, one)
	}
}
