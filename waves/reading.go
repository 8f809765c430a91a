package waves

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"assay"
	"assay/store"
)

// Reading says what a judge's request is about.
type Reading struct {
	First, Second string // of a pair: the lanes or items, as they are shown
	Items         bool   // the two are items
	Template      string // of the judged answers; where they have none and two are compared, the judge's prompt
	Prompt        string // of the judge
	Trait         string
	Draw          int // of the judged answers
	Vote          int // of the judge on the same answers, from 0
	Turn          int // of the judged answers
	SecondTry     bool
}

// Readings takes the coordinates of a judge or compare stage apart.
func (p *Planner) Readings(ctx context.Context, run store.Run, stage string) (func(assay.Coordinates) (Reading, error), error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return nil, err
	}
	switch rec := s.recipes[stage].(type) {
	case *judging:
		return tried(rec, rec.reading), nil
	case *laneContest:
		reading := rec.readings()
		return tried(rec, func(at assay.Coordinates) (Reading, error) {
			r, err := reading(at)
			if err != nil {
				return r, err
			}
			at, _ = firstTry(rec, at)
			two, err := rec.pair(at)
			r.First, r.Second = two[0], two[1]
			return r, err
		}), nil
	case *itemContest:
		reading := rec.readings()
		return tried(rec, func(at assay.Coordinates) (Reading, error) {
			r, err := reading(at)
			if err != nil {
				return r, err
			}
			second, err := rec.against(at)
			r.First, r.Second, r.Items = at.Item, second.ID, true
			return r, err
		}), nil
	}
	return nil, fmt.Errorf("stage %q of run %s gives no verdicts", stage, run.ID)
}

// Sides are the keys of the two answers that a request of a compare stage shows, as it shows them; false where items are
// compared.
func (p *Planner) Sides(ctx context.Context, run store.Run, stage string) (func(assay.Coordinates) ([2]assay.Key, error), bool, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return nil, false, err
	}
	rec, ok := s.recipes[stage].(*laneContest)
	if !ok {
		return nil, false, nil
	}
	return func(at assay.Coordinates) ([2]assay.Key, error) {
		a, b, err := rec.sides(at)
		return [2]assay.Key{a.Key(), b.Key()}, err
	}, true, nil
}

// tried adds which try a request is.
func tried(rec stage, read func(assay.Coordinates) (Reading, error)) func(assay.Coordinates) (Reading, error) {
	return func(at assay.Coordinates) (Reading, error) {
		r, err := read(at)
		first, again := firstTry(rec, at)
		r.Turn, r.SecondTry = first.Turn, again
		return r, err
	}
}

func (j *judging) reading(at assay.Coordinates) (Reading, error) {
	subject, name, err := j.subject(at)
	return Reading{Template: subject.Template, Prompt: name, Draw: subject.Draw, Vote: (at.Draw - 1) / drawStride}, err
}

// readings takes coordinates apart one after the other; those of a million verdicts have a few variants, each of which is taken apart once.
// It is for one goroutine.
func (c *contest) readings() func(assay.Coordinates) (Reading, error) {
	known := map[string]Reading{}
	return func(at assay.Coordinates) (Reading, error) {
		r, ok := known[at.Template]
		if !ok {
			template, prompt, trait, err := c.variant(at)
			if err != nil {
				return r, err
			}
			r = Reading{Template: cmp.Or(template, prompt), Prompt: prompt, Trait: trait.ID}
			known[strings.Clone(at.Template)] = r
		}
		r.Draw, r.Vote = (at.Draw-1)%drawStride+1, (at.Draw-1)/drawStride
		return r, nil
	}
}

// Expected walks over the coordinates of every verdict that a judge or compare stage asks for, given or not. What people
// may say is not among them: nobody waits for it.
func (p *Planner) Expected(ctx context.Context, run store.Run, stage string) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		s, err := p.script(ctx, run)
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		if err := s.rereads(ctx); err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		rec, ok := s.recipes[stage].(reader)
		if !ok || !s.settings.wants(stage) {
			return
		}
		for _, name := range rec.voices() {
			for turn := 1; turn <= rec.base(); turn++ {
				for block, err := range s.blocks(ctx, rec, name, turn) {
					if err != nil {
						yield(assay.Coordinates{}, err)
						return
					}
					if !s.expect(ctx, rec, block, yield) {
						return
					}
				}
			}
		}
	}
}

// expect hands out what of a block may have a verdict: all that no condition leaves out.
func (s *script) expect(ctx context.Context, rec stage, block []wanted, yield func(assay.Coordinates, error) bool) bool {
	fates, err := s.fates(ctx, rec, block)
	if err != nil {
		return yield(assay.Coordinates{}, err)
	}
	for i, b := range block {
		if (fates == nil || fates[i] != dropped) && !yield(b.at, nil) {
			return false
		}
	}
	return true
}
