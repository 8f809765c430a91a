package waves

import (
	"context"

	"assay"
	"assay/judge"
	"assay/pairs"
	"assay/store"
)

// close writes, for every judge and compare stage that nothing more can come for, the verdicts that nobody was asked for or
// that no judge gave: ties of identical answers, answers that are missing, judges that failed. They are states of their
// own, so that no table has to guess why a verdict is not there.
func (s *script) close(ctx context.Context) error {
	settled, err := s.settled(ctx)
	if err != nil {
		return err
	}
	moving, err := s.moving(ctx)
	if err != nil {
		return err
	}
	if n := s.redone.count(); n != s.closedAt {
		s.closed, s.closedAt = map[string]bool{}, n
	}
	for stage, rec := range s.recipes {
		if _, asks := rec.(*asking); asks || s.closed[stage] || moving[stage] || !s.settings.wants(stage) {
			continue
		}
		ready := true
		for turn := 1; turn <= rec.turns(); turn++ {
			for _, before := range rec.after("", turn) {
				ready = ready && settled[before]
			}
		}
		if !ready {
			continue
		}
		done, err := s.closeStage(ctx, rec)
		if err != nil {
			return err
		}
		s.closed[stage] = done
	}
	return nil
}

// moving tells which stages have requests on their way or waiting to be sent again.
func (s *script) moving(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	segments, err := s.Ledger.Segments(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		out[g.Stage] = out[g.Stage] || !g.State.Terminal()
	}
	for r, err := range s.Ledger.Resends(ctx, s.run.No) {
		if err != nil {
			return nil, err
		}
		out[r.At.Stage] = true
	}
	return out, nil
}

// closeStage looks at every request of a stage. It is false when one of them has yet to go out.
func (s *script) closeStage(ctx context.Context, rec recipe) (bool, error) {
	w := &verdictWriter{script: s, ctx: ctx}
	for _, l := range rec.lanes() {
		for turn := 1; turn <= rec.turns(); turn++ {
			ord := int64(-1)
			var block []wanted
			for it, err := range s.desk.Rows.Items(ctx, rec.items()) {
				if err != nil {
					return false, err
				}
				ord++
				for _, at := range rec.at(it, ord, l.Name, turn) {
					block = append(block, wanted{it, at})
				}
				if len(block) < blockSize {
					continue
				}
				if done, err := w.closeBlock(rec, block); !done || err != nil {
					return false, err
				}
				block = block[:0]
			}
			if done, err := w.closeBlock(rec, block); !done || err != nil {
				return false, err
			}
		}
	}
	return true, w.flush()
}

func (w *verdictWriter) closeBlock(rec recipe, block []wanted) (bool, error) {
	m := &maker{script: w.script}
	answered, err := m.answersFor(w.ctx, rec, block)
	if err != nil {
		return false, err
	}
	keys := make([]assay.Key, len(block))
	for i, b := range block {
		keys[i] = b.at.Key()
	}
	asked, err := w.Ledger.AnswersTo(w.ctx, w.run.No, keys)
	if err != nil {
		return false, err
	}
	for i, b := range block {
		a, sent := asked[keys[i]]
		_, makeable, err := rec.prompt(b.item, b.at, answered)
		switch {
		case err != nil:
			return false, err
		case sent && a.Ended && !a.Outcome.Ending.Stands():
			err = w.judged(rec, a)
		case sent:
		case makeable:
			return false, w.flush() // it has yet to go out
		default:
			err = w.unasked(rec, b, answered)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// unasked writes the verdict of a request that will never go out: a tie of identical answers, or nothing to judge.
func (w *verdictWriter) unasked(rec recipe, b wanted, answered answers) error {
	v := store.Verdict{At: b.at}
	switch rec := rec.(type) {
	case *judging:
		subject, _, err := rec.subject(b.at)
		if err != nil {
			return err
		}
		v.Subject = subject.Key()
	case *laneContest:
		first, second, err := rec.sides(b.at)
		if err != nil {
			return err
		}
		v.Subject, v.Against = first.Key(), second.Key()
		_, _, trait, err := rec.variant(b.at)
		if err != nil {
			return err
		}
		v.Trait, v.Direction = trait.ID, string(pairs.Direction(first.Lane, second.Lane))
		if tie, same := pairs.Identical(answered[v.Subject], answered[v.Against]); same {
			return w.add(v, tie)
		}
	}
	return w.add(v, judge.Missing("there is no answer to judge"))
}
