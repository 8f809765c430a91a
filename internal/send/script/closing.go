package script

import (
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// close goes through the stages in their order: it lists the gates that can be decided, and writes, for every judge and
// compare stage that nothing more can come for, the verdicts that no judge was asked for or that no judge gave: ties of
// identical answers, answers that are missing, judges that failed. They are states of their own, so that no table has to
// guess why a verdict is not there.
func (s *Script) close(ctx context.Context) ([]Gate, error) {
	settled, err := s.settled(ctx)
	if err != nil {
		return nil, err
	}
	moving, err := s.moving(ctx)
	if err != nil {
		return nil, err
	}
	var gates []Gate
	s.reopen()
	for _, st := range plan.InOrder(s.input.Study) {
		rec, ok := s.stages[st.Name]
		if !ok || !s.settings.Wants(st.Name) {
			continue
		}
		gates = append(gates, s.openGates(st, rec)...)
		if a, ok := rec.(*asking); ok {
			if err := s.spareAsked(ctx, st, a); err != nil {
				return nil, err
			}
			continue
		}
		r, ok := rec.(reader)
		if !ok || s.isClosed(st.Name) || moving[st.Name] || !s.ready(st, rec, settled) {
			continue
		}
		done, err := s.closeStage(ctx, st, r)
		if err != nil {
			return nil, err
		}
		if round, open := s.openRound(st, rec); open {
			if done {
				gates = append(gates, round)
			}
			continue
		}
		s.setClosed(st.Name, done)
	}
	return gates, nil
}

// reopen looks at all stages again when something was ordered since they were closed.
func (s *Script) reopen() {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	if n := s.redone.count(); n != s.closedAt {
		s.closed, s.spared, s.closedAt = map[string]bool{}, map[string]bool{}, n
	}
}

// reopenAfter looks again at stages that are about answers which have come since they were closed: a retry brought them.
func (s *Script) reopenAfter(news map[string]bool) {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	for _, st := range plan.InOrder(s.input.Study) {
		news[st.Name] = news[st.Name] || slices.ContainsFunc(st.Needs(), func(name string) bool { return news[name] })
		if news[st.Name] {
			delete(s.closed, st.Name)
		}
	}
}

// ready reports whether all that a judge or compare stage reads is there, and all its conditions look at.
func (s *Script) ready(st *study.Stage, rec stage, settled map[store.GroupKey]bool) bool {
	for turn := 1; turn <= rec.turns(); turn++ {
		for _, before := range rec.after("", turn) {
			if !settled[before] {
				return false
			}
		}
	}
	return s.certain(st, "")
}

// moving returns the stages that have requests in flight or waiting to be sent again, or answers that no Absorb has read. The
// queue is read before the segments: what leaves it meanwhile is in one of them.
func (s *Script) moving(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	for r, err := range s.Reader.Resends(ctx, s.run.No) {
		if err != nil {
			return nil, err
		}
		out[r.At.Stage] = true
	}
	segments, err := s.Reader.Segments(ctx, s.run.No)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		out[g.Stage] = out[g.Stage] || s.unread(g)
	}
	return out, nil
}

// unread reports whether a segment may bring verdicts that are not written yet: it is in flight, or it settled since the
// last Absorb read the answers.
func (s *Script) unread(g store.Segment) bool {
	return !g.State.Terminal() || g.State == store.Settled && !s.absorbed[g.No]
}

// blocks walks over a group, of a lane, a rule or a program, a block at a time.
func (s *Script) blocks(ctx context.Context, rec stage, g store.GroupKey) iter.Seq2[[]wanted, error] {
	return func(yield func([]wanted, error) bool) {
		ord := int64(-1)
		var block []wanted
		for it, err := range s.input.Rows.Items(ctx, rec.items()) {
			if err != nil {
				yield(nil, err)
				return
			}
			ord++
			for _, at := range requests(rec, it, ord, g) {
				block = append(block, wanted{it, at})
			}
			if len(block) < blockSize {
				continue
			}
			if !yield(block, nil) {
				return
			}
			block = block[:0]
		}
		if len(block) > 0 {
			yield(block, nil)
		}
	}
}

// closeStage looks at every request of a stage. It is false when one of them has yet to go out, or to be decided about.
func (s *Script) closeStage(ctx context.Context, st *study.Stage, rec reader) (bool, error) {
	w := &verdictWriter{Script: s, ctx: ctx, final: true}
	r, _ := rec.by()
	voices := rec.voices()
	for _, l := range rec.lanes() {
		if !slices.Contains(voices, l.Name) { // it is asked in their place
			voices = append(voices, l.Name)
		}
	}
	for _, name := range voices {
		asked := int64(0)
		for _, g := range groupsOf(rec, st.Name, name) {
			if g.Again != firstAsked { // what is asked again follows from the verdicts before
				if err := w.flush(); err != nil {
					return false, err
				}
			}
			for block, err := range s.blocks(ctx, rec, g) {
				if err != nil {
					return false, err
				}
				if silent(r) {
					if err := w.silently(rec, block); err != nil {
						return false, err
					}
					continue
				}
				n, done, err := w.closeBlock(rec, block)
				if !done || err != nil {
					return false, err
				}
				asked += n
			}
		}
		if !s.over(st, rec) {
			continue // how much is spared is known when the last round is
		}
		if err := s.spare(ctx, st.Name, name, asked); err != nil {
			return false, err
		}
	}
	return true, w.flush()
}

// closeBlock writes the verdicts that no judge gives. It counts the requests that a judge is needed for, and is false
// where one of them has yet to go out.
func (w *verdictWriter) closeBlock(rec reader, block []wanted) (int64, bool, error) {
	fates, err := w.fates(w.ctx, rec, block)
	if err != nil {
		return 0, false, err
	}
	block, certain := alive(block, fates)
	if !certain {
		return 0, false, w.flush()
	}
	answered, err := (&maker{Script: w.Script}).answersFor(w.ctx, rec, block)
	if err != nil {
		return 0, false, err
	}
	keys := make([]assay.Key, len(block))
	for i, b := range block {
		keys[i] = b.at.Key()
	}
	sent, err := w.Reader.AnswersTo(w.ctx, w.run.No, keys)
	if err != nil {
		return 0, false, err
	}
	asked := int64(0)
	for i, b := range block {
		a, ok := sent[keys[i]]
		_, makeable, err := rec.prompt(b.item, b.at, answered)
		switch {
		case err != nil:
			return 0, false, err
		case ok && a.Ended && !a.Outcome.Ending.Stands():
			err = w.judged(rec, a)
			asked++
		case ok:
			asked++
		case makeable:
			return 0, false, w.flush() // it has yet to go out
		default:
			var needed bool
			needed, err = w.unasked(rec, b, answered)
			if needed {
				asked++
			}
		}
		if err != nil {
			return 0, false, err
		}
	}
	return asked, true, nil
}

// unasked writes the verdict of a request that will never go out: one that is known without a judge, or nothing to judge.
// It reports whether the request is missed.
func (w *verdictWriter) unasked(rec reader, b wanted, answered answers) (bool, error) {
	if b.at.Again > 0 {
		return true, nil
	}
	v, err := rec.frame(b.at)
	if err != nil {
		return false, err
	}
	said, known, err := rec.known(b.at, answered)
	if err != nil {
		return false, err
	}
	if known {
		return false, w.add(v, said)
	}
	return true, w.add(v, judge.Missing("there is no answer to judge"))
}

// spareAsked counts what the conditions of a stage that asks leave of its plan, once they are all decided.
func (s *Script) spareAsked(ctx context.Context, st *study.Stage, a *asking) error {
	if s.spared[st.Name] || a.imported || !s.narrowed(a) {
		return nil
	}
	for x := a; x != nil; x = x.from {
		for _, l := range a.chosen {
			if !s.certain(x.talk.Stage, l.Name) {
				return nil
			}
		}
	}
	for _, l := range a.chosen {
		asked := int64(0)
		for _, g := range groupsOf(a, st.Name, l.Name) {
			for block, err := range s.blocks(ctx, a, g) {
				if err != nil {
					return err
				}
				fates, err := s.fates(ctx, a, block)
				if err != nil {
					return err
				}
				kept, certain := alive(block, fates)
				if !certain {
					return nil
				}
				asked += int64(len(kept))
			}
		}
		if err := s.spare(ctx, st.Name, l.Name, asked); err != nil {
			return err
		}
	}
	s.spared[st.Name] = true
	return nil
}

// narrowed reports whether a conversation, or one that it goes on with, has conditions.
func (s *Script) narrowed(a *asking) bool {
	for ; a != nil; a = a.from {
		if a.talk.Stage.Keep != nil || a.conditional() {
			return true
		}
	}
	return false
}

// spare writes how many of a lane's planned requests need no asking, given how many do.
func (s *Script) spare(ctx context.Context, stage, lane string, asked int64) error {
	lanes, err := s.Reader.Lanes(ctx, s.run.No)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.Stage == stage && l.Name == lane && max(0, l.Planned-asked) != l.Spared {
			return s.Runs.SetSpared(ctx, s.run.No, stage, lane, max(0, l.Planned-asked))
		}
	}
	return nil
}

var _ = []reader{(*judging)(nil), (*laneContest)(nil), (*itemContest)(nil)}
