package script

import (
	"context"
	"fmt"
	"io/fs"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/dialect"
	"assay/internal/study/plan"
)

// maker turns coordinates into requests of one lane.
type maker struct {
	*Script
	route plan.Route
}

func (s *Script) maker(stage, lane string, mode store.SegmentMode) (*maker, error) {
	r, err := s.Route(stage, lane, mode)
	return &maker{Script: s, route: r}, err
}

// wanted makes the requests of a block that no condition leaves out. It reports whether the walk goes on.
func (m *maker) wanted(ctx context.Context, rec stage, block []wanted, sent Sent, yield func(Request, error) bool) bool {
	block, err := unsent(ctx, block, sent)
	if err != nil {
		yield(Request{}, err)
		return false
	}
	fates, err := m.fates(ctx, rec, block)
	if err != nil {
		yield(Request{}, err)
		return false
	}
	block, _ = alive(block, fates)
	return m.yield(ctx, rec, block, yield)
}

// unsent returns the requests of a block that were not sent before.
func unsent(ctx context.Context, block []wanted, sent Sent) ([]wanted, error) {
	if sent == nil || len(block) == 0 {
		return block, nil
	}
	keys := make([]assay.Key, len(block))
	for i, w := range block {
		keys[i] = w.at.Key()
	}
	before, err := sent(ctx, keys)
	if err != nil {
		return nil, err
	}
	left := block[:0]
	for i, w := range block {
		if _, ok := before[keys[i]]; !ok {
			left = append(left, w)
		}
	}
	return left, nil
}

// yield makes the requests of a block that can be made, reading all answers they need at once. It reports whether the
// walk goes on.
func (m *maker) yield(ctx context.Context, rec stage, block []wanted, yield func(Request, error) bool) bool {
	answered, err := m.answersFor(ctx, rec, block)
	if err != nil {
		yield(Request{}, err)
		return false
	}
	for _, w := range block {
		p, ok, err := rec.prompt(w.item, w.at, answered)
		if err != nil {
			yield(Request{}, fmt.Errorf("item %q in stage %s: %w", w.item.ID, w.at.Stage, err))
			return false
		}
		if ok && !yield(m.request(w.at, &p), nil) {
			return false
		}
	}
	return true
}

func (m *maker) request(at assay.Coordinates, p *assay.Prompt) Request {
	expected, high := m.route.Estimate(p.Bytes())
	return Request{
		At: at, Expected: expected, High: high,
		Request: &assay.Request{Key: at.Key(), Lane: &m.route.Lane, Wire: &m.route.Wire, Prompt: p},
	}
}

// answersFor reads the texts that a block of requests is made from.
func (m *maker) answersFor(ctx context.Context, rec stage, block []wanted) (answers, error) {
	seen := map[assay.Key]bool{}
	var keys []assay.Key
	for _, w := range block {
		needs, err := rec.needs(w.item, w.at)
		if err != nil {
			return nil, err
		}
		for _, n := range needs {
			if k := n.Key(); !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	out := answers{}
	if len(keys) == 0 {
		return out, nil
	}
	found, err := m.Reader.AnswersTo(ctx, m.run.No, keys)
	if err != nil {
		return nil, err
	}
	for k, a := range found {
		if !a.Ended || !a.Outcome.Ending.Stands() {
			continue
		}
		text, err := m.text(ctx, a)
		if err != nil {
			return nil, err
		}
		out[k] = answer{text, a.Outcome.Ending}
	}
	return out, nil
}

// Whole returns an answer with all of its text; one too long for a row is read from the bytes that came.
func (p *Library) Whole(ctx context.Context, run store.Run, a store.Answer) (store.Answer, error) {
	if !a.Over {
		return a, nil
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return a, err
	}
	o, err := s.reread(ctx, a)
	if err == nil {
		a.Outcome.Text, a.Outcome.Thoughts, a.Over = o.Text, o.Thoughts, false
	}
	return a, err
}

// text returns an answer's text; one too long for a row is read from the bytes that came.
func (s *Script) text(ctx context.Context, a store.Answer) (string, error) {
	if !a.Over {
		return a.Outcome.Text, nil
	}
	o, err := s.reread(ctx, a)
	return o.Text, err
}

// reread decodes an answer again from the bytes that came.
func (s *Script) reread(ctx context.Context, a store.Answer) (assay.Outcome, error) {
	var none assay.Outcome
	files, err := s.Reader.Artifacts(ctx, a.Segment)
	if err != nil {
		return none, err
	}
	l, ok := s.input.Study.Lane(a.Lane)
	if !ok {
		return none, fmt.Errorf("run %s has no lane %q", s.run.ID, a.Lane)
	}
	for _, f := range files {
		if f.No != a.Artifact {
			continue
		}
		line, err := artifacts.Line(ctx, s.Files, s.run.ID, f.Name, a.Offset, a.Length)
		if err == nil {
			err = artifacts.Verify(line, a.Sum)
		}
		if err != nil {
			return none, fmt.Errorf("read the answer to %s: %w", a.Key, err)
		}
		var d dialect.Decoder
		o := none
		if f.Kind == "live" {
			o = d.Body(s.input.Route(l, assay.ModeLive).Wire.Dialect, line)
		} else {
			o = d.Line(s.input.Route(l, assay.ModeBatch).Wire, line).Outcome
		}
		if o.Ending != a.Outcome.Ending { // other bytes are there now
			return none, fmt.Errorf("read the answer to %s: %w: read again they are %s, and were %s", a.Key, artifacts.ErrDamaged, o.Ending,
				a.Outcome.Ending)
		}
		return o, nil
	}
	return none, fmt.Errorf("the bytes of the answer to %s are gone: %w", a.Key, fs.ErrNotExist)
}
