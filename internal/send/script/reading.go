package script

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/stages"
)

// Reading is the subject of a judge's request: its coordinates, and those of them that mean something else with a pair.
type Reading struct {
	assay.Coordinates
	Lane          string // whose answer is read; empty with a pair
	Template      string // of the judged answers; where they have none and two are compared, the judge's prompt
	First, Second string // of a pair: the lanes or items, as they are shown
	Items         bool   // the two are items
}

// ReadingOf returns what a judge's request is about.
func ReadingOf(at assay.Coordinates) Reading {
	r := Reading{Coordinates: at, Lane: at.Lane, Template: at.Template}
	if at.Paired() {
		r.First, r.Second = at.Pair()
		r.Items, r.Lane, r.Template = at.Lane == "", "", cmp.Or(at.Template, at.Prompt)
	}
	return r
}

// Sides returns the keys of the two answers that a request of a compare stage shows, as it shows them; false where items are
// compared.
func (p *Library) Sides(ctx context.Context, run store.Run, stage string) (func(assay.Coordinates) ([2]assay.Key, error), bool, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, false, err
	}
	rec, _ := s.stages.Of(stage)
	c, ok := rec.(*stages.LaneContest)
	if !ok {
		return nil, false, nil
	}
	return func(at assay.Coordinates) ([2]assay.Key, error) {
		a, b, err := c.Sides(at)
		return [2]assay.Key{a.Key(), b.Key()}, err
	}, true, nil
}

// Expected walks over the coordinates of every verdict that a judge or compare stage asks for, given or not. Labels of
// people are not among them: no stage waits for them.
func (p *Library) Expected(ctx context.Context, run store.Run, stage string) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		if err := s.refresh(ctx); err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		rec, ok := s.stages.Judging(stage)
		if !ok || !s.settings.Wants(stage) {
			return
		}
		for _, name := range rec.Judges() {
			for turn := 1; turn <= rec.Turns(); turn++ {
				for block, err := range s.stages.Blocks(ctx, rec, store.GroupKey{Stage: stage, Lane: name, Turn: turn}) {
					if err == nil {
						block, err = s.Conditions.Possible(ctx, rec, block)
					}
					if !yieldAll(block, err, yield) {
						return
					}
				}
			}
		}
	}
}

// yieldAll hands out the coordinates of a block, or an error. It reports whether the walk goes on.
func yieldAll(block []stages.Wanted, err error, yield func(assay.Coordinates, error) bool) bool {
	if err != nil {
		yield(assay.Coordinates{}, err)
		return false
	}
	for _, w := range block {
		if !yield(w.At, nil) {
			return false
		}
	}
	return true
}

// Unasked walks over the questions of a stage that were not sent, to judges too, though no condition leaves them out: what they
// follow has no answer, or their turn has not come. Where a verdict is there, no judge has to be asked. Done lists the lanes that have
// none.
func (p *Library) Unasked(ctx context.Context, run store.Run, stage string, done map[string]bool) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		s, err := p.Open(ctx, run)
		if err == nil {
			err = s.refresh(ctx)
		}
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		rec, ok := s.stages.Of(stage)
		if !ok {
			yield(assay.Coordinates{}, fmt.Errorf("run %s has no stage %q", run.ID, stage))
			return
		}
		if !s.settings.Wants(stage) || s.settings.Pilot {
			return
		}
		for _, l := range rec.Lanes() {
			if done[l.Name] {
				continue
			}
			for _, g := range stages.GroupsOf(rec, stage, l.Name) {
				if g.Again != 0 {
					continue // the same question, once more
				}
				for block, err := range s.stages.Blocks(ctx, rec, g) {
					if err == nil {
						block, err = s.unasked(ctx, rec, block)
					}
					if !yieldAll(block, err, yield) {
						return
					}
				}
			}
		}
	}
}

// unasked leaves out of a block what was sent, what has a verdict all the same and what a condition leaves out.
func (s *Script) unasked(ctx context.Context, rec stages.Stage, block []stages.Wanted) ([]stages.Wanted, error) {
	asked := func(ctx context.Context, refs []assay.Ref) (map[assay.Key]int64, error) {
		return s.lib.Reader.Asked(ctx, s.run.No, refs)
	}
	block, err := unsent(ctx, block, asked)
	if err != nil {
		return nil, err
	}
	if _, judges := rec.(stages.Judging); judges {
		there, err := s.lib.Reader.VerdictsOn(ctx, s.run.No, stages.KeysOf(block))
		if err != nil {
			return nil, err
		}
		block = slices.DeleteFunc(block, func(w stages.Wanted) bool { return len(there[w.At.Key()]) > 0 })
	}
	return s.Conditions.Possible(ctx, rec, block)
}
