package script

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/rounds"
	"assay/internal/send/script/stages"
	"assay/internal/study"
	"assay/internal/study/catalog"
)

// Look decides what follows a round. What is decided is written before anything follows from it, and is never decided again: where
// another process looked first, its decision counts. It is false where nothing is decided yet: the round brought no verdict that can be
// used, and waits until it is asked again.
func (s *Script) Look(ctx context.Context, d conditions.Due, f rounds.Found) (bool, error) {
	r := s.stages.Rounds(d.Stage.Name)
	if r == nil {
		return false, fmt.Errorf("stage %s of run %s buys no rounds", d.Stage.Name, s.run.ID)
	}
	affordable, err := s.affordable(ctx, d.Stage, r)
	if err != nil {
		return false, err
	}
	l, done, err := r.Look(d.Round, f, rounds.Limits{Affordable: affordable, Once: s.settings.Pilot})
	if err != nil {
		return false, fmt.Errorf("look at round %d of stage %s: %w", d.Round, d.Stage.Name, err)
	}
	if l == nil {
		return done, nil
	}
	l.Run, l.Stage = s.run.No, d.Stage.Name
	first, err := s.lib.Runs.PutLook(ctx, *l)
	if err != nil {
		return false, err
	}
	return true, r.Take(first)
}

// affordable returns how many further comparisons the budget of a stage's rounds pays, at what those so far have cost; below 0: any number.
func (s *Script) affordable(ctx context.Context, st *study.Stage, r *rounds.Rounds) (int, error) {
	budget := r.Budget()
	if !budget.Set {
		return -1, nil
	}
	segments, err := s.lib.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return 0, err
	}
	var spent, paid, reused assay.Cost
	for _, g := range segments {
		switch {
		case g.Stage != st.Name:
		case g.Mode == store.Reuse:
			worth, err := s.worth(ctx, st, g)
			if err != nil {
				return 0, err
			}
			reused = reused.Add(worth)
		default:
			spent, paid = spent.Add(g.Cost), paid.Add(g.Cost)
		}
	}
	if paid.Priced == 0 || paid.Sum <= 0 { // all was taken over from earlier runs: what it would cost now
		paid = reused
	}
	rec, ok := s.stages.Judging(st.Name)
	if !ok || paid.Priced == 0 || paid.Sum <= 0 {
		return -1, nil // no price is known
	}
	requests := int64(max(1, len(rec.Judges())) * max(1, len(rec.By().Prompts)) * max(1, st.Repeats.N))
	one := paid.Sum.Share(requests, paid.Priced)
	return max(0, int((budget.Money-spent.Sum)/max(1, one))), nil
}

// worth returns what the requests of a segment would cost that took its answers from other runs.
func (s *Script) worth(ctx context.Context, st *study.Stage, g store.Segment) (assay.Cost, error) {
	var out assay.Cost
	l, ok := s.input.Study.Lane(g.Lane)
	if !ok {
		return out, nil
	}
	way := s.input.Route(st, l, s.input.Mode(st, l))
	for a, err := range s.lib.Reader.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return out, err
		}
		if cost := way.Bill(a.Outcome.Usage); cost.Known() {
			out = out.Add(cost)
		}
	}
	return out, nil
}

// Compares returns why comparisons of two lanes of a stage cannot be bought; nil: they can.
func (s *Script) Compares(stage string) error {
	_, err := s.stages.Compared(stage)
	return err
}

// Settled returns how far two lanes are told apart.
func (s *Script) Settled(ctx context.Context, w rounds.Settle) (rounds.Settled, error) {
	r, err := s.stages.Compared(w.Stage)
	if err == nil {
		err = conditions.TakeLooks(ctx, s.lib.Reader, s.run.No, s.stages)
	}
	if err != nil {
		return rounds.Settled{}, err
	}
	return r.Settled(w)
}

// Buy returns the look that buys comparisons of two lanes, and what it adds to the plan of each judge.
func (s *Script) Buy(f rounds.Found, w rounds.Settle) (store.Look, []store.Share, error) {
	r, err := s.stages.Compared(w.Stage)
	if err != nil {
		return store.Look{}, nil, err
	}
	out, err := r.Buy(f, w)
	out.Run = s.run.No
	var adds []store.Share
	if rec, ok := s.stages.Judging(w.Stage); ok {
		requests := int64(w.N) * s.requestsOfOne(rec, w.Stage)
		for _, name := range rec.Judges() {
			adds = append(adds, store.Share{Stage: w.Stage, Lane: name, Requests: requests})
		}
	}
	return out, adds, err
}

// requestsOfOne returns how many requests a judge gets for one comparison.
func (s *Script) requestsOfOne(rec stages.Judging, stage string) int64 {
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return 1
	}
	return int64(max(1, len(rec.By().Prompts)) * max(1, len(st.Trait.List)) * max(1, st.Repeats.N))
}

// VerdictsOfOne returns how many verdicts all judges of a stage give on one comparison.
func (s *Script) VerdictsOfOne(stage string) int {
	rec, ok := s.stages.Judging(stage)
	if !ok {
		return 1
	}
	return max(1, len(rec.Judges())*int(s.requestsOfOne(rec, stage)))
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
	rec, reads := s.stages.Judging(stage)
	if !ok || !reads {
		return batch, live, nil
	}
	segments, err := s.lib.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return batch, live, err
	}
	for _, name := range rec.Judges() {
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
		if g.Stage != stage || g.Lane != lane {
			continue
		}
		u.Input, u.Cached, u.Output = u.Input+g.InputTokens+g.Taken.Input, u.Cached+g.CachedTokens+g.Taken.Cached,
			u.Output+g.OutputTokens+g.Taken.Output
		n += g.Endings[assay.Answered] + g.Endings[assay.Cut] + g.Endings[assay.Refused] + g.Endings[assay.Empty] - g.UsageUnknown -
			g.Taken.Mute
	}
	unknown := assay.Cost{Unknown: 1}
	st, there := s.input.Study.Stage(stage)
	if !ok || !there || n <= 0 {
		return unknown, unknown
	}
	way := s.input.Route(st, l, assay.ModeLive)
	mean := assay.Usage{Known: true, Input: u.Input / n, Cached: u.Cached / n, Output: u.Output / n,
		Tools: catalog.ToolsOf(l.Params, way.Price.ByPrompt).Most.Expected()}
	if live = way.Bill(mean); !s.input.HasBatches(l) {
		return unknown, live
	}
	way = s.input.Route(st, l, assay.ModeBatch)
	return way.Bill(mean), live
}
