package script

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/study"
)

// roundsOf returns the rounds of a stage; nil: it has none, or all its pairs were planned at once and none was bought besides.
func roundsOf(rec stage) *rounds.Rounds {
	if r := anyRounds(rec); r != nil && r.Begun() {
		return r
	}
	return nil
}

func anyRounds(rec stage) *rounds.Rounds {
	switch rec := rec.(type) {
	case *laneContest:
		return rec.rounds
	case *itemContest:
		return rec.rounds
	}
	return nil
}

// recallLooks takes in the looks of the run that this process does not know.
func (s *Script) recallLooks(ctx context.Context) error {
	all := map[string]*rounds.Rounds{}
	for name, rec := range s.stages {
		if r := anyRounds(rec); r != nil {
			all[name] = r
		}
	}
	if len(all) == 0 {
		return nil
	}
	for l, err := range s.Reader.Looks(ctx, s.run.No) {
		if err != nil {
			return err
		}
		if r, ok := all[l.Stage]; ok {
			if err := r.Take(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// openRound returns the round of a stage that is done and was not looked at: all its requests have gone out, and
// nothing more comes of them.
func (s *Script) openRound(st *study.Stage, rec stage) (Gate, bool) {
	r := roundsOf(rec)
	if r == nil {
		return Gate{}, false
	}
	looks, stop := r.Done()
	if s.gated(st, "") == dropped {
		return Gate{}, false
	}
	return Gate{Reads: []string{st.Name}, Round: looks + 1, stage: st}, stop == store.StopNone
}

// over reports whether a stage buys nothing more.
func (s *Script) over(st *study.Stage, rec stage) bool {
	r := roundsOf(rec)
	if r == nil || s.gated(st, "") == dropped {
		return true
	}
	_, stop := r.Done()
	return stop != store.StopNone
}

// Look decides what follows a round. What is decided is written before anything follows from it, and is never decided again: where
// another process looked first, its decision stands. It is false where nothing is decided yet: the round brought no verdict that can be
// used, and waits until it is asked again.
func (s *Script) Look(ctx context.Context, g Gate, f rounds.Found) (bool, error) {
	r := roundsOf(s.stages[g.stage.Name])
	if r == nil {
		return false, fmt.Errorf("stage %s of run %s buys no rounds", g.stage.Name, s.run.ID)
	}
	affordable, err := s.affordable(ctx, g.stage, r)
	if err != nil {
		return false, err
	}
	l, done, err := r.Look(g.Round, f, rounds.Limits{Affordable: affordable, Once: s.settings.Pilot})
	if err != nil {
		return false, fmt.Errorf("look at round %d of stage %s: %w", g.Round, g.stage.Name, err)
	}
	if l == nil {
		return done, nil
	}
	l.Run, l.Stage = s.run.No, g.stage.Name
	first, err := s.Runs.PutLook(ctx, *l)
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
	segments, err := s.Reader.Segments(ctx, s.run.No)
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
	rec, ok := s.stages[st.Name].(reader)
	if !ok || paid.Priced == 0 || paid.Sum <= 0 {
		return -1, nil // no price is known
	}
	by, _ := rec.by()
	requests := int64(max(1, len(rec.voices())) * max(1, len(by.Prompts)) * max(1, st.Repeats.N))
	one := paid.Sum.Portion(requests, paid.Priced)
	return max(0, int((budget.Money-spent.Sum)/max(1, one))), nil
}

// worth returns what the requests of a segment would cost that took its answers from other runs.
func (s *Script) worth(ctx context.Context, st *study.Stage, g store.Segment) (assay.Cost, error) {
	var out assay.Cost
	l, ok := s.input.Study.Lane(g.Lane)
	if !ok {
		return out, nil
	}
	way := s.input.Route(l, s.input.Mode(st, l))
	for a, err := range s.Reader.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return out, err
		}
		if cost := way.Bill(a.Outcome.Usage); cost.Known() {
			out = out.Add(cost)
		}
	}
	return out, nil
}
