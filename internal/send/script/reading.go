package script

import (
	"cmp"
	"context"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Reading is what a judge's request is about: its coordinates, and those of them that mean something else with a pair.
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
	rec, ok := s.stages[stage].(*laneContest)
	if !ok {
		return nil, false, nil
	}
	return func(at assay.Coordinates) ([2]assay.Key, error) {
		a, b, err := rec.sides(at)
		return [2]assay.Key{a.Key(), b.Key()}, err
	}, true, nil
}

// Expected walks over the coordinates of every verdict that a judge or compare stage asks for, given or not. What people
// may say is not among them: no stage waits for it.
func (p *Library) Expected(ctx context.Context, run store.Run, stage string) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		if err := s.rereads(ctx); err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		rec, ok := s.stages[stage].(reader)
		if !ok || !s.settings.Wants(stage) {
			return
		}
		for _, name := range rec.voices() {
			for turn := 1; turn <= rec.turns(); turn++ {
				for block, err := range s.blocks(ctx, rec, store.GroupKey{Stage: stage, Lane: name, Turn: turn}) {
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
func (s *Script) expect(ctx context.Context, rec stage, block []wanted, yield func(assay.Coordinates, error) bool) bool {
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
