package script

import (
	"context"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// Foreign is a verdict that was made elsewhere, and what it is about.
type Foreign struct {
	Source        string // the stage whose answers were judged, where there are several
	Item, Lane    string
	First, Second string // of a pair, as it was shown: lanes, or items
	Template      string // of the answers
	Prompt, Trait string // of the judge
	Branch        string
	Turn, Draw    int
	Vote          int
	Judge         string
	Again         int    // how often the same was asked before: it took the place of those
	By            string // the lane that gave it in the judge's place; empty: the judge
	Said          assay.Verdict
}

// Placing finds where verdicts that were made elsewhere belong in a judge or compare stage. It undoes what Readings does.
func (p *Library) Placing(ctx context.Context, run store.Run, stage string) (func(Foreign) (store.Verdict, error), error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	rec, ok := s.stages[stage]
	if _, asks := rec.(*asking); !ok || asks {
		return nil, fmt.Errorf("stage %q of run %s gives no verdicts", stage, run.ID)
	}
	people := &People{s, rec, stage}
	return func(t Foreign) (store.Verdict, error) {
		v := store.Verdict{Run: run.No, State: t.Said.State, Label: t.Said.Label, Score: t.Said.Score,
			Reason: firstNonEmpty(t.Said.Why, t.Said.Explanation), Fields: string(t.Said.Fields), Again: t.Again, By: t.By,
			Given: run.Created}
		var err error
		switch rec := rec.(type) {
		case *judging:
			v.At, err = rec.placed(t)
		case *laneContest:
			v.At, err = rec.placed(t)
		case *itemContest:
			v.At, err = rec.placed(t)
		}
		if err != nil {
			return v, err
		}
		return v, people.aim(&v)
	}, nil
}

func (j *judging) placed(t Foreign) (assay.Coordinates, error) {
	at := assay.Coordinates{Stage: t.Source, Item: t.Item, Lane: t.Lane, Template: t.Template, Turn: t.Turn, Branch: t.Branch, Draw: t.Draw}
	if at.Stage == "" && len(j.sources) == 1 {
		at.Stage = j.sources[0].talk.Stage.Name
	}
	s, err := j.source(at.Stage)
	if err != nil {
		return at, err
	}
	if !slices.ContainsFunc(s.lanes(), func(l *study.Lane) bool { return l.Name == t.Lane }) {
		return at, fmt.Errorf("stage %s has no lane %q", at.Stage, t.Lane)
	}
	if t.Turn < 1 || t.Turn > s.turns() || t.Draw < 1 || t.Vote < 0 {
		return at, fmt.Errorf("turn %d, draw %d, vote %d: stage %s has no such answer", t.Turn, t.Draw, t.Vote, at.Stage)
	}
	return j.request(at, t.Prompt, t.Judge, t.Vote), nil
}

func (c *laneContest) placed(t Foreign) (assay.Coordinates, error) {
	at := assay.Coordinates{
		Stage: c.stage.Name, Source: c.source.talk.Stage.Name, Item: t.Item, Lane: t.First, Against: t.Second,
		Template: t.Template, Turn: t.Turn, Branch: t.Branch, Draw: t.Draw, Judge: t.Judge, Prompt: t.Prompt, Trait: t.Trait, Vote: t.Vote,
	}
	if _, _, err := c.sides(at); err != nil {
		return at, err
	}
	_, err := c.trait(at)
	return at, err
}

func (c *itemContest) placed(t Foreign) (assay.Coordinates, error) {
	at := assay.Coordinates{
		Stage: c.stage.Name, Item: t.First, Against: t.Second, Turn: 1, Draw: 1, Judge: t.Judge, Prompt: t.Prompt, Trait: t.Trait,
		Vote: t.Vote,
	}
	if _, ok := c.byID[t.First]; !ok {
		return at, fmt.Errorf("input %s has no item %q", c.input, t.First)
	}
	if _, err := c.against(at); err != nil {
		return at, err
	}
	_, err := c.trait(at)
	return at, err
}
