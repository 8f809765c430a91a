package export

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

	"assay"
)

// sycoInput is the input of a study made from the files of the sycophancy system.
const sycoInput = "questions"

// SycoBench reads the files of the sycophancy system: conversations by model, and the scores of judges beside them. A score
// of 0 that stands for a failure is a failure here.
func SycoBench(ctx context.Context, tree fs.FS, t *Take) error {
	names, err := filesUnder(tree, ".json")
	if err != nil {
		return err
	}
	s := &sycoTaker{Take: t, tree: tree, stages: map[string]string{}}
	for _, name := range names {
		if err := s.model(name); err != nil {
			return err
		}
	}
	sheets, err := filesUnder(tree, ".csv")
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
		return ErrNothing
	}
	return nil
}

type sycoTaker struct {
	*Take
	tree   fs.FS
	stages map[string]string // by folder of the experiment
	found  int
}

// stage is the stage of an experiment: the pressure it names, else its folder.
func (s *sycoTaker) stage(dir string) string {
	if name, ok := s.stages[dir]; ok {
		return name
	}
	var doc struct {
		Pressure string `json:"pressure_type"`
	}
	if text, err := readDocument(s.tree, path.Join(dir, "metadata.json")); err == nil {
		if err := json.Unmarshal(text, &doc); err != nil {
			s.Bad.at(assay.Place{File: path.Join(dir, "metadata.json")}, "%v", err)
		}
	}
	base := stageName(doc.Pressure, "conversations")
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
func (s *sycoTaker) model(name string) error {
	if base := path.Base(name); base == "metadata.json" || base == "summary.json" || base == "batch_tracking.json" || base == Mark {
		return nil
	}
	text, err := readDocument(s.tree, name)
	if err != nil {
		s.Bad.at(assay.Place{File: name}, "%v", err)
		return nil
	}
	var doc struct {
		ModelFile
		Conversations []json.RawMessage `json:"conversations"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		s.Bad.at(assay.Place{File: name}, "not conversations of a model: %v", err)
		return nil
	}
	if doc.Conversations == nil {
		return nil
	}
	lane := doc.Key
	if lane == "" {
		lane = nameOf(strings.TrimSuffix(path.Base(name), ".json"))
	}
	stage := s.stage(path.Dir(path.Dir(name)))
	for i, raw := range doc.Conversations {
		at := assay.Place{File: name, Line: i + 1}
		var c Conversation
		if err := json.Unmarshal(raw, &c); err != nil || c.Question == "" {
			s.Bad.at(at, "conversation %d cannot be read, or has no question", i+1)
			continue
		}
		if err := s.conversation(at, stage, lane, doc.Name, &c); err != nil {
			return err
		}
	}
	return nil
}

func (s *sycoTaker) conversation(at assay.Place, stage, lane, model string, c *Conversation) error {
	s.found++
	id := c.Item
	if id == "" {
		id = strconv.FormatInt(c.ID, 10)
	}
	fields, err := json.Marshal(map[string]any{"text": c.Question})
	if err != nil {
		return err
	}
	if err := s.item(&Item{Input: sycoInput, Item: id, Cluster: cmp.Or(c.Cluster, id), Expect: c.Expect, Fields: Raw(fields)}); err != nil {
		return err
	}
	one := Request{
		Stage: stage, Verb: "ask", Input: sycoInput, Item: id, Lane: lane, AnsweredModel: model, Turn: 1, Draw: max(1, c.Draw), Text: c.Initial.Response + c.Initial.Content, Ending: c.Initial.Ending,
		InputTokens: c.Initial.Input, OutputTokens: c.Initial.Output,
	}
	if err := s.said(at, &one); err != nil {
		return err
	}
	for _, r := range c.Rounds {
		next := one
		next.Turn, next.Branch, next.Text, next.Ending, next.InputTokens, next.OutputTokens = r.Turn, r.Branch, r.Response+r.Content, r.Ending, r.Input, r.Output
		if next.Turn == 0 {
			next.Turn = r.Level + 1
		}
		if err := s.said(at, &next); err != nil {
			return err
		}
	}
	return nil
}

// said hands an answer on; one that was never given is told.
func (s *sycoTaker) said(at assay.Place, r *Request) error {
	if e := assay.Ending(r.Ending); r.Text == "" || r.Ending != "" && !e.Stands() {
		if r.Ending != Unasked {
			s.Bad.at(at, "item %s, turn %d: %s has no answer", r.Item, r.Turn, r.Lane)
		}
		r.Ending = cmp.Or(r.Ending, string(assay.Empty))
	}
	first, err := s.answer(r)
	if err == nil && !first {
		s.Bad.at(at, "item %s, turn %d: %s has an answer already", r.Item, r.Turn, r.Lane)
	}
	return err
}

// scores reads the scores of one judge.
func (s *sycoTaker) scores(ctx context.Context, name string) error {
	dir := path.Dir(path.Dir(name))
	for row, err := range Rows[Score](ctx, CSV, s.tree, name, s.Bad) {
		if err != nil {
			return err
		}
		v := scoreOf(row)
		v.Verb, v.Input, v.Item, v.Lane, v.Turn, v.Branch, v.Draw = "judge", sycoInput, row.Item, row.Model, row.Turn, row.Branch, max(1, row.Draw)
		if v.Item == "" {
			v.Item = strconv.FormatInt(row.Question, 10)
		}
		if v.Turn == 0 {
			v.Turn = row.Level + 1
		}
		v.Judge = row.Judge
		if v.Judge == "" {
			v.Judge = nameOf(strings.TrimSuffix(path.Base(name), ".csv"))
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

// scoreOf is what a row of a judge's file says.
func scoreOf(row *Score) *Verdict {
	ok := row.State == "" && row.Score != nil && *row.Score >= 0 && *row.Score <= 2 && row.Classification != "error"
	switch {
	case row.State == string(assay.VerdictValid) || ok:
		return &Verdict{State: string(assay.VerdictValid), Label: row.Classification, Score: row.Score, Reason: row.Reasoning}
	case row.State != "":
		return without(assay.VerdictState(row.State), row.Reasoning)
	case row.Classification == "error":
		return without(assay.VerdictFailed, fmt.Sprintf("error: %s", row.Reasoning))
	}
	return without(assay.VerdictMalformed, row.Reasoning)
}
