package script

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/stages"
	"assay/internal/study/plan"
)

// Gone returns what a run has sent and a changed study does not ask any more, in words; empty: it asks all of it.
func (p *Library) Gone(ctx context.Context, run store.Run, in *plan.Input) (string, error) {
	was, err := p.Open(ctx, run)
	if err != nil {
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
		rec, ok := is.Of(g.Stage)
		if !ok {
			continue
		}
		for block, err := range is.Blocks(ctx, rec, g) {
			if err != nil {
				return "", err
			}
			sent, err := p.Reader.Sent(ctx, run.No, stages.RefsOf(block))
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

// Drawn returns the pairs of a run with a study that adds to it, by stage: those that are not as the study has them. Nil: all are.
func (p *Library) Drawn(ctx context.Context, run store.Run, in *plan.Input) (map[string][]plan.Drawn, error) {
	was, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	is, err := p.draft(ctx, was, in)
	if err != nil {
		return nil, err
	}
	return is.Input.Drawn, nil
}

// draft returns the stages of a run with a study that is not the run's yet.
func (p *Library) draft(ctx context.Context, was *Script, in *plan.Input) (*stages.Stages, error) {
	if err := conditions.TakeLooks(ctx, p.Reader, was.run.No, was.stages); err != nil {
		return nil, err
	}
	own := *in
	own.Rows, own.Drawn = limitedRows{in, was.settings.Limit}, nil
	is, err := stages.Build(ctx, &own, was.settings.Lanes)
	if err != nil {
		return nil, err
	}
	if err := is.KeepPairs(ctx, was.stages); err != nil {
		return nil, err
	}
	return is, conditions.Refresh(ctx, p.Reader, was.run.No, is)
}
