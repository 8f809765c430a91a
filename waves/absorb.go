package waves

import (
	"context"
	"errors"

	"assay"
	"assay/judge"
	"assay/pairs"
	"assay/store"
	"assay/study"
)

// Absorb reads the newest answers and writes the verdicts they make possible: what judges said, and what rules say. Every
// segment is read once a process; a verdict that is there already stays as it is.
func (p *Planner) Absorb(ctx context.Context, run store.Run) error {
	s, err := p.script(ctx, run)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rereads(ctx); err != nil {
		return err
	}
	settled, err := s.Ledger.Segments(ctx, run.No, store.Settled)
	if err != nil {
		return err
	}
	for _, g := range settled {
		if s.absorbed[g.No] {
			continue
		}
		if err := s.absorb(ctx, g); err != nil {
			return err
		}
		s.absorbed[g.No] = true
	}
	return s.close(ctx)
}

func (s *script) absorb(ctx context.Context, g store.Segment) error {
	w := &verdictWriter{script: s, ctx: ctx}
	rec := s.recipes[g.Stage]
	for a, err := range s.Ledger.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return err
		}
		// What may still be asked again has no verdict yet.
		if !a.Ended || !a.Outcome.Ending.Stands() && a.Outcome.Ending != assay.Empty {
			continue
		}
		if a.Outcome.Text, err = s.text(ctx, a); err != nil {
			return err
		}
		if _, ok := rec.(*asking); ok {
			err = w.rules(g, a)
		} else {
			err = w.judged(rec, a)
		}
		if err != nil {
			return err
		}
	}
	return w.flush()
}

// verdictWriter writes verdicts a block at a time.
type verdictWriter struct {
	*script
	ctx   context.Context
	block []store.Verdict
}

const verdictBlock = 500

func (w *verdictWriter) add(v store.Verdict, said assay.Verdict) error {
	v.Run = w.run.No
	v.State, v.Label, v.Score, v.Reason = store.VerdictState(said.State), said.Label, said.Score, firstNonEmpty(said.Why, said.Explanation)
	v.Fields = string(said.Fields)
	if v.Fields == "" {
		v.Fields = "{}"
	}
	v.Given = w.run.Created
	if w.block = append(w.block, v); len(w.block) < verdictBlock {
		return nil
	}
	return w.flush()
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (w *verdictWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	_, err := w.Ledger.AddVerdicts(w.ctx, w.block)
	w.block = w.block[:0]
	return err
}

// judged reads what a judge said.
func (w *verdictWriter) judged(rec recipe, a store.Answer) error {
	v := store.Verdict{At: a.At, Segment: a.Segment, Ord: a.Ord}
	switch rec := rec.(type) {
	case *judging:
		subject, _, err := rec.subject(a.At)
		if err != nil {
			return err
		}
		v.Subject = subject.Key()
		return w.add(v, judge.Read(rec.rubric.Rubric, a.Outcome))
	case *laneContest:
		first, second, err := rec.sides(a.At)
		if err != nil {
			return err
		}
		v.Subject, v.Against = first.Key(), second.Key()
		return w.compared(v, &rec.contest, first.Lane, second.Lane, a)
	case *itemContest:
		second, err := rec.against(a.At)
		if err != nil {
			return err
		}
		v.Subject = assay.Coordinates{Stage: rec.input, Item: a.At.Item}.Key()
		v.Against = assay.Coordinates{Stage: rec.input, Item: second.ID}.Key()
		return w.compared(v, &rec.contest, a.At.Item, second.ID, a)
	}
	return errors.New("answers of a stage that nobody asked")
}

func (w *verdictWriter) compared(v store.Verdict, c *contest, first, second string, a store.Answer) error {
	_, _, trait, err := c.variant(a.At)
	if err != nil {
		return err
	}
	v.Trait, v.Direction = trait.ID, string(pairs.Direction(first, second))
	return w.add(v, judge.Read(c.rubric.Rubric, a.Outcome))
}

// rules judges an answer by every stage that needs no model for it.
func (w *verdictWriter) rules(g store.Segment, a store.Answer) error {
	for _, st := range w.desk.Study.Stages {
		j, ok := w.recipes[st.Name].(*judging)
		if !ok || j.rubric.Rule == nil || st.Verb() != study.VerbJudge {
			continue
		}
		for _, source := range j.sources {
			if source.talk.Stage.Name != g.Stage || !j.reads(source, a.At.Turn) {
				continue
			}
			it, err := w.Ledger.Item(w.ctx, w.run.No, source.items(), a.At.Item)
			if err != nil {
				return err
			}
			expect, err := j.expected(it)
			if err != nil {
				return err
			}
			at := j.request(a.At, "", "rule", 0)
			if err := w.add(store.Verdict{At: at, Subject: a.Key}, j.rubric.Rule(a.Outcome.Text, expect)); err != nil {
				return err
			}
		}
	}
	return nil
}
