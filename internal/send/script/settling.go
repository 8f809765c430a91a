package script

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
)

// comparing returns the stage in which two lanes are to be told apart.
func (s *Script) comparing(w rounds.Settle) (*laneContest, error) {
	rec, ok := s.stages[w.Stage].(*laneContest)
	if !ok || rec.rounds == nil {
		return nil, fmt.Errorf("stage %s does not compare lanes with each other", w.Stage)
	}
	return rec, nil
}

// Settled returns how far two lanes are told apart.
func (s *Script) Settled(ctx context.Context, w rounds.Settle) (rounds.Settled, error) {
	rec, err := s.comparing(w)
	if err == nil {
		err = s.recallLooks(ctx)
	}
	if err != nil {
		return rounds.Settled{}, err
	}
	return rec.rounds.Settled(w)
}

// Buy returns the look that buys comparisons of two lanes, and what it adds to the plan of each judge.
func (s *Script) Buy(f rounds.Found, w rounds.Settle) (store.Look, []store.Share, error) {
	rec, err := s.comparing(w)
	if err != nil {
		return store.Look{}, nil, err
	}
	out, err := rec.rounds.Buy(f, w)
	out.Run = s.run.No
	requests := int64(w.N) * s.requestsOfOne(rec, w.Stage)
	var adds []store.Share
	for _, name := range rec.voices() {
		adds = append(adds, store.Share{Stage: w.Stage, Lane: name, Requests: requests})
	}
	return out, adds, err
}

// requestsOfOne returns how many requests a judge gets for one comparison.
func (s *Script) requestsOfOne(rec reader, stage string) int64 {
	r, _ := rec.by()
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return 1
	}
	return int64(max(1, len(r.Prompts)) * max(1, len(st.Trait.List)) * max(1, st.Repeats.N))
}

// VerdictsOfOne returns how many verdicts all judges of a stage give on one comparison.
func (s *Script) VerdictsOfOne(stage string) int {
	rec, ok := s.stages[stage].(reader)
	if !ok {
		return 1
	}
	return max(1, len(rec.voices())*int(s.requestsOfOne(rec, stage)))
}

// ModeOf returns how the judges of a stage travel.
func (s *Script) ModeOf(stage string) assay.Mode {
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return assay.ModeBatch
	}
	for _, name := range st.Judges.List {
		if l, ok := s.input.Study.Lane(name); ok {
			return s.input.Mode(st, l)
		}
	}
	return assay.ModeBatch
}

// CostOfOne returns what one more comparison of a stage costs by what its judges took so far, as a batch and live.
func (s *Script) CostOfOne(ctx context.Context, stage string) (batch, live assay.Cost, err error) {
	st, ok := s.input.Study.Stage(stage)
	rec, reads := s.stages[stage].(reader)
	if !ok || !reads {
		return batch, live, nil
	}
	segments, err := s.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return batch, live, err
	}
	for _, name := range rec.voices() {
		requests := assay.Money(s.requestsOfOne(rec, st.Name))
		inBatch, inLive := s.Each(segments, stage, name)
		batch = batch.Add(assay.Cost{Sum: inBatch.Sum * requests, Priced: inBatch.Priced, Unknown: inBatch.Unknown})
		live = live.Add(assay.Cost{Sum: inLive.Sum * requests, Priced: inLive.Priced, Unknown: inLive.Unknown})
	}
	return batch, live, nil
}

// Each returns what one answer of a lane costs by what its answers took so far, as a batch and live. The first is not
// known where its provider has no batches.
func (s *Script) Each(segments []store.Segment, stage, lane string) (batch, live assay.Cost) {
	l, ok := s.input.Study.Lane(lane)
	u, n := assay.Usage{}, int64(0)
	for _, g := range segments {
		if g.Stage == stage && g.Lane == lane && g.Mode != store.Reuse {
			u.Input, u.Cached, u.Output, n = u.Input+g.InputTokens, u.Cached+g.CachedTokens, u.Output+g.OutputTokens,
				n+g.Done()-g.UsageUnknown
		}
	}
	unknown := assay.Cost{Unknown: 1}
	if !ok || n <= 0 {
		return unknown, unknown
	}
	mean := assay.Usage{Known: true, Input: u.Input / n, Cached: u.Cached / n, Output: u.Output / n}
	way := s.input.Route(l, assay.ModeLive)
	if live = way.Bill(mean); !s.input.HasBatches(l) {
		return unknown, live
	}
	way = s.input.Route(l, assay.ModeBatch)
	return way.Bill(mean), live
}
