package script

import (
	"context"
	"errors"
	"slices"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/study/plan"
)

// Absorb reads the newest answers and writes the verdicts they make possible: what judges said, and what rules and
// programs say. Every segment is read once a process; a verdict that is there already stays as it is. It returns the gates
// that can be decided now: Decide does, and the next Absorb goes on from there.
func (s *Script) Absorb(ctx context.Context) ([]Gate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.rereads(ctx); err != nil {
		return nil, err
	}
	settled, err := s.Reader.Segments(ctx, s.run.No, store.Settled)
	if err != nil {
		return nil, err
	}
	news := map[string]bool{}
	for _, g := range settled {
		if s.absorbed[g.No] {
			continue
		}
		if err := s.absorb(ctx, g); err != nil {
			return nil, err
		}
		s.absorbed[g.No], news[g.Stage] = true, true
	}
	if len(news) > 0 || s.donors == nil {
		if err := s.takeLabels(ctx); err != nil {
			return nil, err
		}
	}
	s.reopenAfter(news)
	return s.close(ctx)
}

func (s *Script) absorb(ctx context.Context, g store.Segment) error {
	w := &verdictWriter{Script: s, ctx: ctx}
	if source, ok := s.stages[g.Stage].(*asking); ok {
		return w.read(source, g)
	}
	rec, ok := s.stages[g.Stage].(reader)
	if !ok {
		return errors.New("answers of a stage that was never asked")
	}
	for a, err := range s.Reader.SegmentAnswers(ctx, g.No) {
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
		if err := w.judged(rec, a); err != nil {
			return err
		}
	}
	return w.flush()
}

// verdictWriter writes verdicts a block at a time.
type verdictWriter struct {
	*Script
	ctx    context.Context
	block  []store.Verdict
	second []store.Verdict // of judges that were asked once more
	final  bool            // nothing more can come: what has no answer is missing
}

const verdictBlock = 500

func (w *verdictWriter) add(v store.Verdict, said assay.Verdict) error {
	w.block = append(w.block, w.filled(v, said))
	if len(w.block) < verdictBlock {
		return nil
	}
	return w.flush()
}

func (w *verdictWriter) filled(v store.Verdict, said assay.Verdict) store.Verdict {
	v.Run = w.run.No
	v.State, v.Label, v.Score, v.Reason = said.State, said.Label, said.Score, firstNonEmpty(said.Why, said.Explanation)
	v.Fields = string(said.Fields)
	if v.Fields == "" {
		v.Fields = "{}"
	}
	v.Given = w.run.Created
	return v
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (w *verdictWriter) flush() error {
	if len(w.block) > 0 {
		if _, err := w.Runs.AddVerdicts(w.ctx, w.block); err != nil {
			return err
		}
		w.block = w.block[:0]
	}
	if len(w.second) > 0 {
		if err := w.Runs.SecondVerdicts(w.ctx, w.second); err != nil {
			return err
		}
		w.second = w.second[:0]
	}
	return nil
}

// judged reads what a judge said. A further try that brought nothing leaves the verdict before it as it is.
func (w *verdictWriter) judged(rec reader, a store.Answer) error {
	v, err := rec.frame(a.At)
	if err != nil {
		return err
	}
	v.Segment, v.Ord = a.Segment, a.Ord
	r, _ := rec.by()
	said := judge.Read(r.Rubric, a.Outcome)
	if a.At.Again == firstAsked {
		return w.add(v, said)
	}
	v.Again, v.By = a.At.Again, a.At.By
	if a.Outcome.Ending.Stands() {
		w.second = append(w.second, w.filled(v, said))
	}
	return nil
}

// read has the answers of a segment judged by every stage that needs no model for it.
func (w *verdictWriter) read(source *asking, g store.Segment) error {
	for _, st := range plan.InOrder(w.input.Study) {
		j, ok := w.stages[st.Name].(*judging)
		if !ok || !silent(j.rubric) || !w.settings.Wants(st.Name) || !slices.Contains(j.sources, source) || !j.reads(source, g.Turn) ||
			!j.about(g.Lane, source) {
			continue
		}
		var block []wanted
		for a, err := range w.Reader.SegmentAnswers(w.ctx, g.No) {
			if err != nil {
				return err
			}
			if !a.Ended || !a.Outcome.Ending.Stands() {
				continue
			}
			it, err := w.Reader.Item(w.ctx, w.run.No, source.items(), a.At.Item)
			if err != nil {
				return err
			}
			if !keeps(st, it) {
				continue
			}
			if block = append(block, wanted{it, j.request(a.At, "", j.voices()[0], 0)}); len(block) < verdictBlock {
				continue
			}
			if err := w.silently(j, block); err != nil {
				return err
			}
			block = block[:0]
		}
		if err := w.silently(j, block); err != nil {
			return err
		}
	}
	return w.flush()
}
