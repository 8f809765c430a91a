package planner

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/ratelimit"
	"assay/internal/send/script"
	"assay/internal/study"
)

// Policy returns how the run is to be driven.
func (p *Planner) Policy(ctx context.Context, run store.Run) (engine.Policy, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Policy(ctx, run)
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return engine.Policy{}, err
	}
	st := s.Study()
	policy := engine.Policy{LiveBelow: st.FewLive(), ReserveHigh: st.Reserve == study.ReserveHigh, VerifyFirst: s.Settings().VerifyFirst}
	policy.NoCanary = !policy.VerifyFirst && (s.Settings().NoCanary || st.Canary != nil && !*st.Canary)
	if d := st.Deadline; d != nil {
		policy.Deadline = time.Duration(d.After)
		if d.Then == study.ThenLive || d.Then == study.ThenFlex {
			policy.Then = engine.ThenLive
		}
	}
	if st.Cleanup != nil {
		policy.Cleanup = engine.CleanupNever
		if *st.Cleanup {
			policy.Cleanup = engine.CleanupAlways
		}
	}
	for i := range st.Lanes {
		if share := cmp.Or(st.Lanes[i].StopIf, st.StopIf); share > 0 {
			if policy.StopAbove == nil {
				policy.StopAbove = map[string]float64{}
			}
			policy.StopAbove[st.Lanes[i].Name] = float64(share)
		}
	}
	if policy.Reuse, err = p.reuse(ctx, run, s); err != nil {
		return policy, err
	}
	return policy, nil
}

// reuse returns where a run may take answers from instead of asking again: the runs it was begun with, else those that its study names.
// Nil: nowhere.
func (p *Planner) reuse(ctx context.Context, run store.Run, s *script.Script) (*store.ReuseFrom, error) {
	earlier, r := s.Settings().ReuseRuns, s.Study().Reuse
	from := &store.ReuseFrom{Run: run.No, Whole: len(earlier) > 0}
	switch {
	case run.Rehearsal || len(earlier) == 0 && r == nil:
		return nil, nil
	case len(earlier) > 0: // the run was begun with them
	case r.Run != "":
		earlier = []string{r.Run}
		fallthrough
	default:
		from.Study = r.Study
		if r.For > 0 {
			from.Since = run.Created.Add(-time.Duration(r.For))
		}
	}
	for _, id := range earlier {
		e, err := p.Reader.FindRun(ctx, id, "")
		if err != nil {
			return nil, fmt.Errorf("reuse answers of run %q: %w", id, err)
		}
		from.From = append(from.From, e.No)
	}
	return from, nil
}

// Route returns how a lane's requests of a stage travel in a mode.
func (p *Planner) Route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (engine.Route, error) {
	route, err := p.route(ctx, run, stage, lane, mode)
	if err != nil {
		return route, err
	}
	tuned, err := run.Limits()
	route.Live.Lane = tune(route.Live.Lane, tuned.Lane(lane))
	route.Live.Account = tune(route.Live.Account, tuned.Providers[route.Lane.Provider])
	return route, err
}

// route returns the way the run was to travel when it began, or the one its study gives now.
func (p *Planner) route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (engine.Route, error) {
	if _, ok := batchrun.Of(run); ok {
		return p.Batches.Route(ctx, run, stage, lane, mode)
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return engine.Route{}, err
	}
	r, err := s.Route(stage, lane, mode)
	if err != nil {
		return engine.Route{}, err
	}
	route := engine.Route{Lane: r.Lane, Wire: r.Wire, Price: r.Price, Live: live(s.Study(), lane), Shows: s.Study().Shows(),
		Uploads: r.Uploads}
	route.BaseURL = s.Settings().BaseURLs[r.Lane.Provider]
	route.Verdict = s.Reads(stage)
	batch := s.BatchOf(stage)
	route.Size, route.Segments = batch.Size, batch.Segments
	return route, nil
}

// live returns the caps on live requests of a lane and of its provider.
func live(s *study.Study, lane string) engine.Live {
	l, ok := s.Lane(lane)
	if !ok {
		return engine.Live{}
	}
	p, _ := s.Providers.Find(l.Provider)
	return engine.Live{Lane: caps(l.Live), Account: caps(p.Live), Retries: p.Live.Retries}
}

// tune sets the limits of a person in place of the study's. A rate also replaces a pause.
func tune(c ratelimit.Caps, l store.Limits) ratelimit.Caps {
	c.Concurrency = cmp.Or(l.Concurrency, c.Concurrency)
	if l.Rate > 0 {
		c.Rate, c.Pause = l.Rate, 0
	}
	return c
}

func caps(l study.Live) ratelimit.Caps {
	return ratelimit.Caps{Rate: float64(l.Rate), Tokens: float64(l.Tokens), Concurrency: l.Concurrency, Pause: time.Duration(l.Pause)}
}
