// Package sycobench writes and reads the folders of SycoBench.
package sycobench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/table"
)

// The files of the sycophancy system: one folder for each experiment, with the conversations of each model, the scores of
// each judge, metadata and a summary.

// modelFile holds the fields of model_responses/{model_key}.json beside its conversations.
type modelFile struct {
	Key       string  `json:"model_key"`
	Name      string  `json:"model_name"`
	Provider  string  `json:"provider"`
	Questions int     `json:"total_questions"`
	Completed int     `json:"completed_questions"`
	Cost      *number `json:"total_cost"`
	Metrics   metrics `json:"aggregate_metrics"`
}

// number is a sum; nil where a part is not known.
type number = float64

// metrics are the sums of a model.
type metrics struct {
	Questions int     `json:"total_questions"`
	Input     *int64  `json:"total_input_tokens"`
	Output    *int64  `json:"total_output_tokens"`
	Cost      *number `json:"total_cost"`
}

// conversation is one question and what followed.
type conversation struct {
	ID       int64   `json:"question_id"`       // from 1
	Item     string  `json:"item"`              // ours: the item's id
	Draw     int64   `json:"draw"`              // ours
	Expect   string  `json:"expect,omitempty"`  // ours: the right answer
	Cluster  string  `json:"cluster,omitempty"` // ours: what the item belongs to, where that is not itself
	Question string  `json:"question"`
	Initial  opening `json:"initial_response"`
	Rounds   []round `json:"pressure_rounds"`
	Cost     *number `json:"total_cost"`
}

// opening is the first answer. Two versions of the old program call it response and content.
type opening struct {
	Response   string `json:"response"`
	Content    string `json:"content,omitempty"`
	Assessment string `json:"safety_assessment"`
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Ending     string `json:"ending,omitempty"` // ours: an answer that was cut or refused, or why there is none
}

// round is one pressure and the answer to it.
type round struct {
	Level    int64  `json:"level"`
	Pressure string `json:"pressure"`
	Response string `json:"response"`
	Content  string `json:"content,omitempty"`
	Turn     int64  `json:"turn"`   // ours
	Branch   string `json:"branch"` // ours
	Input    *int64 `json:"input_tokens"`
	Output   *int64 `json:"output_tokens"`
	Ending   string `json:"ending,omitempty"` // ours
}

// metadata is metadata.json.
type metadata struct {
	ID        string   `json:"experiment_id"`
	Dataset   string   `json:"dataset"`
	Size      int      `json:"dataset_size"`
	Models    []string `json:"models_tested"`
	Pressure  string   `json:"pressure_type"`
	Phrases   []string `json:"pressure_phrases"`
	Scorers   []string `json:"scorers"`
	Date      string   `json:"test_date"`
	Start     string   `json:"start_time"`
	End       string   `json:"end_time"`
	Seconds   *number  `json:"duration_seconds"`
	Testing   *number  `json:"testing_cost"`
	Scoring   *number  `json:"scoring_cost"`
	Cost      *number  `json:"total_cost"`
	Rehearsal bool     `json:"rehearsal,omitempty"` // ours
}

// summary is summary.json: what became of each model's questions.
type summary struct {
	ID     string      `json:"experiment_id"`
	Models []modelFile `json:"models"`
}

// scoreRow is one row of a judge's CSV file. The columns after scored_at are ours.
type scoreRow struct {
	Model          string             `json:"model"`
	Question       int64              `json:"question_id"`
	Level          int64              `json:"pressure_level"`
	Asked          string             `json:"question"`
	Pressure       string             `json:"pressure"`
	Response       string             `json:"response"`
	Score          *float64           `json:"score"` // empty: the judge gave none, which is not 0
	Classification string             `json:"classification"`
	Reasoning      string             `json:"reasoning"`
	Judge          string             `json:"judge_model"`
	At             string             `json:"scored_at"`
	Stage          string             `json:"stage"`
	Item           string             `json:"item"`
	Turn           int64              `json:"turn"`
	Branch         string             `json:"branch"`
	Draw           int64              `json:"draw"`
	State          assay.VerdictState `json:"state"`
}

// trackedBatch is one batch in batch_tracking.json.
type trackedBatch struct {
	Provider string `json:"provider"`
	Batch    string `json:"batch_id"`
	Model    string `json:"model"`
	Created  string `json:"created"`
	Status   string `json:"status"`
}

// loggedBatch is one row of batch_log.csv.
type loggedBatch struct {
	Date     string `json:"date"`
	Provider string `json:"provider"`
	Batch    string `json:"batch_id"`
	Model    string `json:"model"`
	Event    string `json:"created"`
}

// inputName is the input of a study made from the files of the sycophancy system.
const inputName = "questions"

// Read reads the files of the sycophancy system: conversations by model, and the scores of judges beside them. A score
// of 0 that means a failure is a failure here.
func Read(ctx context.Context, from export.From, to *export.Sink) error {
	if from.File != "" {
		return export.ErrFile
	}
	tree := from.Files
	names, err := export.FilesUnder(tree, ".json")
	if err != nil {
		return err
	}
	s := &reader{Sink: to, tree: tree, stages: map[string]string{}}
	for _, name := range names {
		if err := s.model(name); err != nil {
			return err
		}
	}
	sheets, err := export.FilesUnder(tree, ".csv")
	if err != nil {
		return err
	}
	for _, name := range sheets {
		if path.Base(path.Dir(name)) == "scoring" || strings.Contains(path.Base(name), "scor") {
			if err := s.scores(ctx, name); err != nil {
				return err
			}
		}
	}
	if s.found == 0 {
		return export.ErrNothing
	}
	return nil
}

type reader struct {
	*export.Sink
	tree   fs.FS
	stages map[string]string // by folder of the experiment
	found  int
}

// stage returns the stage of an experiment: the pressure it names, else its folder.
func (s *reader) stage(dir string) string {
	if name, ok := s.stages[dir]; ok {
		return name
	}
	var doc struct {
		Pressure string `json:"pressure_type"`
	}
	if text, err := export.ReadDocument(s.tree, path.Join(dir, "metadata.json")); err == nil {
		if err := json.Unmarshal(text, &doc); err != nil {
			s.Bad.At(assay.Place{File: path.Join(dir, "metadata.json")}, "%v", err)
		}
	}
	base := export.StageName(doc.Pressure, "conversations")
	name := base
	for n := 2; ; n++ {
		if !slices.Contains(stageNames(s.stages), name) {
			break
		}
		name = base + "_" + strconv.Itoa(n)
	}
	s.stages[dir] = name
	return name
}

func stageNames(stages map[string]string) []string {
	var out []string
	for _, name := range stages {
		out = append(out, name)
	}
	return out
}

// model reads the conversations of one model; files that hold something else are passed over.
func (s *reader) model(name string) error {
	if base := path.Base(name); base == "metadata.json" || base == "summary.json" || base == "batch_tracking.json" ||
		base == folder.MarkFile {
		return nil
	}
	text, err := export.ReadDocument(s.tree, name)
	if err != nil {
		s.Bad.At(assay.Place{File: name}, "%v", err)
		return nil
	}
	var doc struct {
		modelFile
		Conversations []json.RawMessage `json:"conversations"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		s.Bad.At(assay.Place{File: name}, "not conversations of a model: %v", err)
		return nil
	}
	if doc.Conversations == nil {
		return nil
	}
	lane := doc.Key
	if lane == "" {
		lane = export.NameOf(strings.TrimSuffix(path.Base(name), ".json"))
	}
	stage := s.stage(path.Dir(path.Dir(name)))
	for i, raw := range doc.Conversations {
		at := assay.Place{File: name, Line: i + 1}
		var c conversation
		if err := json.Unmarshal(raw, &c); err != nil || c.Question == "" {
			s.Bad.At(at, "conversation %d cannot be read, or has no question", i+1)
			continue
		}
		if err := s.conversation(at, stage, lane, doc.Name, &c); err != nil {
			return err
		}
	}
	return nil
}

func (s *reader) conversation(at assay.Place, stage, lane, model string, c *conversation) error {
	s.found++
	id := c.Item
	if id == "" {
		id = strconv.FormatInt(c.ID, 10)
	}
	fields, err := json.Marshal(map[string]any{"text": c.Question})
	if err != nil {
		return err
	}
	if err := s.AddItem(&rows.Item{Input: inputName, Item: id, Cluster: cmp.Or(c.Cluster, id), Expect: c.Expect,
		Fields: rows.Raw(fields)}); err != nil {
		return err
	}
	one := rows.Answer{
		At:            rows.At{Stage: stage, Verb: "ask", Input: inputName, Item: id, Lane: lane, Turn: 1, Draw: max(1, c.Draw)},
		AnsweredModel: model, Text: c.Initial.Response + c.Initial.Content, Ending: c.Initial.Ending,
		InputTokens: c.Initial.Input, OutputTokens: c.Initial.Output,
	}
	if err := s.take(at, &one); err != nil {
		return err
	}
	for _, r := range c.Rounds {
		next := one
		next.Turn, next.Branch, next.Text, next.Ending, next.InputTokens, next.OutputTokens = r.Turn, r.Branch, r.Response+r.Content,
			r.Ending, r.Input, r.Output
		if next.Turn == 0 {
			next.Turn = r.Level + 1
		}
		if err := s.take(at, &next); err != nil {
			return err
		}
	}
	return nil
}

// take hands an answer on; one that was never given is reported.
func (s *reader) take(at assay.Place, r *rows.Answer) error {
	if e := assay.Ending(r.Ending); r.Text == "" || r.Ending != "" && !e.Stands() {
		if r.Ending != rows.Unasked {
			s.Bad.At(at, "item %s, turn %d: %s has no answer", r.Item, r.Turn, r.Lane)
		}
		r.Ending = cmp.Or(r.Ending, string(assay.Empty))
	}
	first, err := s.AddAnswer(r)
	if err == nil && !first {
		s.Bad.At(at, "item %s, turn %d: %s has an answer already", r.Item, r.Turn, r.Lane)
	}
	return err
}

// scores reads the scores of one judge.
func (s *reader) scores(ctx context.Context, name string) error {
	dir := path.Dir(path.Dir(name))
	for row, err := range table.Rows[scoreRow](ctx, table.CSV, s.tree, name, s.Bad) {
		if err != nil {
			return err
		}
		v := scoreOf(row)
		v.Verb, v.Input, v.Item, v.Lane, v.Turn, v.Branch, v.Draw = "judge", inputName, row.Item, row.Model, row.Turn, row.Branch,
			max(1, row.Draw)
		if v.Item == "" {
			v.Item = strconv.FormatInt(row.Question, 10)
		}
		if v.Turn == 0 {
			v.Turn = row.Level + 1
		}
		v.Judge = row.Judge
		if v.Judge == "" {
			v.Judge = export.NameOf(strings.TrimSuffix(path.Base(name), ".csv"))
		}
		v.Stage = row.Stage
		if v.Stage == "" {
			v.Stage = "flips_" + s.stage(dir)
		}
		v.Source = s.stage(dir)
		s.found++
		if err := s.Verdict(v); err != nil {
			return err
		}
	}
	return nil
}

// scoreOf returns the verdict of a row of a judge's file.
func scoreOf(row *scoreRow) *rows.Verdict {
	ok := row.State == "" && row.Score != nil && *row.Score >= 0 && *row.Score <= 2 && row.Classification != "error"
	switch {
	case row.State == assay.VerdictValid || ok:
		return &rows.Verdict{State: assay.VerdictValid, Label: row.Classification, Score: row.Score, Reason: row.Reasoning}
	case row.State != "":
		return export.InvalidVerdict(row.State, row.Reasoning)
	case row.Classification == "error":
		return export.InvalidVerdict(assay.VerdictFailed, fmt.Sprintf("error: %s", row.Reasoning))
	}
	return export.InvalidVerdict(assay.VerdictMalformed, row.Reasoning)
}
