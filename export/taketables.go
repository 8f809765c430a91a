package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// TableFiles name the tables of an export. Requests has to be there.
type TableFiles struct {
	Requests, Verdicts, Items string
	Run                       string // of several runs, this one; empty: the only one
}

// ErrRuns says that tables hold several runs, of which one is to be named.
var ErrRuns = errors.New("the tables hold several runs")

// Tables reads our own tables. A table that somebody else wrote needs the columns item, lane and text alone.
func Tables(ctx context.Context, f Format, tree fs.FS, files TableFiles, t *Take) error {
	r := &tableTaker{Take: t, run: files.Run, given: files.Run != "", nested: files.Verdicts == ""}
	if files.Items != "" {
		for row, err := range Rows[Item](ctx, f, tree, files.Items, t.Bad) {
			if err != nil {
				return err
			}
			if ok, err := r.ours(row.Run); !ok || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if err := t.item(row); err != nil {
				return err
			}
		}
	}
	for row, err := range Rows[Request](ctx, f, tree, files.Requests, t.Bad) {
		if err != nil {
			return err
		}
		if err := r.request(row); err != nil {
			return err
		}
	}
	if files.Verdicts == "" {
		return nil
	}
	for row, err := range Rows[Verdict](ctx, f, tree, files.Verdicts, t.Bad) {
		if err != nil {
			return err
		}
		ok, err := r.ours(row.Run)
		if err != nil {
			return err
		}
		if ok {
			if err := t.Verdict(row); err != nil {
				return err
			}
		}
	}
	return nil
}

type tableTaker struct {
	*Take
	run    string
	given  bool
	nested bool // verdicts stand in the rows of answers alone
}

// ours tells whether a row belongs to the run that is read.
func (r *tableTaker) ours(run string) (bool, error) {
	if r.run == "" {
		r.run = run
	}
	if run == r.run || run == "" {
		return true, nil
	}
	if r.given {
		return false, nil
	}
	return false, fmt.Errorf("%w: %s and %s", ErrRuns, r.run, run)
}

func (r *tableTaker) request(row *Request) error {
	if ok, err := r.ours(row.Run); !ok || err != nil {
		return err
	}
	if row.Verb == "judge" || row.Verb == "compare" {
		return r.own(row)
	}
	row.Turn, row.Draw = max(1, row.Turn), max(1, row.Draw)
	if row.Stage == "" {
		row.Stage = "answers"
	}
	if row.Input == "" {
		row.Input = "items"
	}
	if err := r.item(&Item{Input: row.Input, Item: row.Item, Cluster: row.Item}); err != nil {
		return err
	}
	if _, err := r.answer(row); err != nil || !r.nested {
		return err
	}
	for _, s := range row.Verdicts {
		if s.Second != "" { // of pairs, the judge's own row tells
			continue
		}
		err := r.Verdict(&Verdict{
			Rehearsal: row.Rehearsal, Stage: s.Stage, Verb: "judge", Source: row.Stage, Input: row.Input, Item: row.Item, Lane: row.Lane, Template: row.Template,
			Turn: row.Turn, Branch: row.Branch, Draw: row.Draw, Judge: s.Judge, Prompt: s.Prompt, Trait: s.Trait, Vote: s.Vote, State: s.State, Label: s.Label,
			Score: s.Score, Confidence: s.Confidence, Reason: s.Reason,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// own takes the verdict on a pair from the row of the judge's request.
func (r *tableTaker) own(row *Request) error {
	if !r.nested || row.Second == "" {
		return nil
	}
	for _, s := range row.Verdicts {
		v := &Verdict{
			Rehearsal: row.Rehearsal, Stage: row.Stage, Verb: row.Verb, Source: row.Source, Input: row.Input, Item: row.Item, Template: row.Template, Turn: row.Turn,
			Branch: row.Branch, Draw: row.Draw, First: row.First, Second: row.Second, Judge: row.Judge, Prompt: row.Prompt, Trait: row.Trait, Vote: row.Vote,
			State: s.State, Label: s.Label, Score: s.Score, Confidence: s.Confidence, Reason: s.Reason,
		}
		if row.Source == "" { // the two are items
			for _, id := range []string{row.First, row.Second} {
				if err := r.item(&Item{Input: row.Input, Item: id, Cluster: id}); err != nil {
					return err
				}
			}
		}
		if err := r.Verdict(v); err != nil {
			return err
		}
	}
	return nil
}
