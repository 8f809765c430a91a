package script

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Unasked walks over the questions of an ask, continue or import stage that were not sent, though no condition leaves them
// out: what they follow has no answer, or their turn has not come. Done lists the lanes that have none.
func (p *Library) Unasked(ctx context.Context, run store.Run, stage string, done map[string]bool) iter.Seq2[assay.Coordinates, error] {
	return func(yield func(assay.Coordinates, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(assay.Coordinates{}, err)
			return
		}
		rec, ok := s.stages[stage].(*asking)
		if !ok {
			yield(assay.Coordinates{}, fmt.Errorf("stage %q of run %s has no conversations", stage, run.ID))
			return
		}
		if !s.settings.Wants(stage) || s.settings.Pilot {
			return
		}
		for _, l := range rec.lanes() {
			if done[l.Name] {
				continue
			}
			for _, g := range groupsOf(rec, stage, l.Name) {
				for block, err := range s.blocks(ctx, rec, g) {
					if err == nil {
						block, err = s.unsent(ctx, rec, block)
					}
					if err != nil {
						yield(assay.Coordinates{}, err)
						return
					}
					for _, w := range block {
						if !yield(w.at, nil) {
							return
						}
					}
				}
			}
		}
	}
}

// unsent leaves out of a block what was sent and what a condition leaves out.
func (s *Script) unsent(ctx context.Context, rec stage, block []wanted) ([]wanted, error) {
	keys := make([]assay.Key, len(block))
	for i, w := range block {
		keys[i] = w.at.Key()
	}
	sent, err := s.Reader.Asked(ctx, s.run.No, keys)
	if err != nil {
		return nil, err
	}
	fates, err := s.fates(ctx, rec, block)
	if err != nil {
		return nil, err
	}
	var out []wanted
	for i, w := range block {
		if _, was := sent[keys[i]]; !was && (fates == nil || fates[i] != dropped) {
			out = append(out, w)
		}
	}
	return out, nil
}
