package script

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study/plan"
)

// Gone returns what a run has sent and a changed study does not ask any more, in words; empty: it asks all of it.
func (p *Library) Gone(ctx context.Context, run store.Run, in *plan.Input) (string, error) {
	was, err := p.Open(ctx, run)
	if err != nil {
		return "", err
	}
	if err := was.recallLooks(ctx); err != nil {
		return "", err
	}
	is, err := p.draft(ctx, was, in)
	if err != nil {
		return "", err
	}
	gone, err := p.Reader.SentByGroup(ctx, run.No)
	if err != nil {
		return "", err
	}
	for g := range gone {
		rec, ok := is.stages[g.Stage]
		if !ok {
			continue
		}
		for block, err := range is.blocks(ctx, rec, g) {
			if err != nil {
				return "", err
			}
			keys := make([]assay.Key, len(block))
			for i, w := range block {
				keys[i] = w.at.Key()
			}
			sent, err := p.Reader.Sent(ctx, run.No, keys)
			if err != nil {
				return "", err
			}
			gone[g] -= int64(len(sent))
		}
	}
	return places(gone), nil
}

// places names lanes of stages with how many requests they have, where they have any.
func places(of map[store.GroupKey]int64) string {
	sums := map[store.Share]int64{}
	for g, n := range of {
		if n > 0 {
			sums[store.Share{Stage: g.Stage, Lane: g.Lane}] += n
		}
	}
	var words []string
	for lane, n := range sums {
		words = append(words, fmt.Sprintf("lane %s of stage %s (%s)", lane.Lane, lane.Stage, assay.Count(n, "request")))
	}
	sort.Strings(words)
	const most = 4
	if len(words) > most {
		words = append(words[:most], "…")
	}
	return strings.Join(words, ", ")
}

// draft returns the script of a run with a study that is not the run's yet.
func (p *Library) draft(ctx context.Context, was *Script, in *plan.Input) (*Script, error) {
	run, settings, own := was.run, was.settings, *in
	own.Rows, own.Drawn = limitedRows{in, settings.Limit}, nil
	s := p.newScript(run, settings, &own)
	if err := s.buildStages(ctx); err != nil {
		return nil, err
	}
	if err := s.keepDrawn(ctx, was); err != nil {
		return nil, err
	}
	if err := s.recallLooks(ctx); err != nil {
		return nil, err
	}
	return s, s.rereads(ctx)
}
