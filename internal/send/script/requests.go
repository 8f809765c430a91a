package script

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/learned"
	"assay/internal/send/script/stages"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/tokens"
)

// Request is a request that can go out, with what it may cost.
type Request struct {
	At       assay.Coordinates
	Request  *assay.Request
	Expected assay.Cost
	High     assay.Cost
	Guessed  string // the kind of lane, of which no answer is known; empty: some are
}

// Sent finds which of some requests were sent before.
type Sent func(ctx context.Context, refs []assay.Ref) (map[assay.Key]int64, error)

// Requests walks over the requests of a group whose answers are there, in the order of the items, as they travel in a mode.
// Those that were sent before are left out; with nil, none were.
func (s *Script) Requests(ctx context.Context, g store.GroupKey, mode store.SegmentMode, sent Sent) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		m, err := s.maker(ctx, g.Stage, g.Lane, mode)
		if err == nil {
			err = s.refresh(ctx)
		}
		if err != nil {
			yield(Request{}, err)
			return
		}
		for block, err := range s.stages.Blocks(ctx, m.rec, g) {
			if err == nil {
				block, err = unsent(ctx, block, sent)
			}
			if err == nil {
				block, _, err = s.Conditions.Keep(ctx, m.rec, block)
			}
			if err != nil {
				yield(Request{}, err)
				return
			}
			if !m.yield(ctx, block, yield) {
				return
			}
		}
	}
}

// unsent returns the requests of a block that were not sent before.
func unsent(ctx context.Context, block []stages.Wanted, sent Sent) ([]stages.Wanted, error) {
	if sent == nil {
		return block, nil
	}
	before, err := sent(ctx, stages.RefsOf(block))
	if err != nil {
		return nil, err
	}
	left := block[:0]
	for _, w := range block {
		if _, ok := before[w.At.Key()]; !ok {
			left = append(left, w)
		}
	}
	return left, nil
}

// maker turns coordinates into requests of one lane in one stage.
type maker struct {
	*Script
	rec    stages.Stage
	route  plan.Route
	guess  string          // the kind of lane, where no answer of it is known
	tokens *tokens.Counter // counts prompts where the most is reserved for them; nil: their bytes do
}

// maker returns what makes the requests of a lane in a stage. They are expected to cost what its answers have cost so far.
func (s *Script) maker(ctx context.Context, stage, lane string, mode store.SegmentMode) (*maker, error) {
	rec, ok := s.stages.Of(stage)
	if !ok {
		return nil, fmt.Errorf("run %s has no stage %q", s.run.ID, stage)
	}
	r, err := s.Route(stage, lane, mode)
	if err != nil {
		return nil, err
	}
	_, judged := s.stages.Judging(stage)
	seen, err := s.learned.Now(ctx, stage, judged, r.Lane)
	r.Learn(seen)
	m := &maker{Script: s, rec: rec, route: r}
	if seen.N == 0 {
		m.guess = learned.Kind(r.Lane)
	}
	if err == nil && s.input.Study.Reserve == study.ReserveHigh {
		m.tokens = tokens.NewCounter()
	}
	return m, err
}

// yield makes the requests of a block that can be made, reading all answers they need at once. It reports whether the
// walk goes on.
func (m *maker) yield(ctx context.Context, block []stages.Wanted, yield func(Request, error) bool) (goes bool) {
	answered, err := m.answers.For(ctx, m.rec, block)
	if err != nil {
		yield(Request{}, err)
		return false
	}
	if m.route.Wire.CacheMarks {
		var flush func() bool
		yield, flush = m.marking(yield)
		defer func() { goes = flush() && goes }()
	}
	for _, w := range block {
		p, ok, err := m.rec.Prompt(w.Item, w.At, answered)
		if err != nil {
			yield(Request{}, fmt.Errorf("item %q in stage %s: %w", w.Item.ID, w.At.Stage, err))
			return false
		}
		if ok && !yield(m.request(w.At, &p), nil) {
			return false
		}
	}
	return true
}

// marking holds the requests of a block back until flush, so that a cache mark is set only where two of them share what it covers, and
// that is long enough: one that nobody reads costs more than none.
func (m *maker) marking(yield func(Request, error) bool) (hold func(Request, error) bool, flush func() bool) {
	var held []Request
	shared := map[[2]string]int{}
	prefix := func(r Request) [2]string { return [2]string{r.Request.Prompt.System, r.Request.Prompt.Context} }
	hold = func(r Request, err error) bool {
		if err != nil {
			return yield(r, err)
		}
		held = append(held, r)
		shared[prefix(r)]++
		return true
	}
	flush = func() bool {
		plain := m.route.Wire
		plain.CacheMarks = false
		for _, r := range held {
			few := shared[prefix(r)] < 2
			// the batch that goes first is of one request; later turns may come when nothing is kept any more
			if m.route.Wire.Carrier != "" {
				few = r.At.Turn > 1 && r.At.Judge == ""
			}
			if pre := prefix(r); few || len(pre[0])+len(pre[1]) < leastMarked {
				r.Request.Wire = &plain
			}
			if !yield(r, nil) {
				return false
			}
		}
		return true
	}
	return hold, flush
}

// leastMarked is the size of the shortest text that is worth a cache mark: 1,024 tokens.
const leastMarked = 4096

func (m *maker) request(at assay.Coordinates, p *assay.Prompt) Request {
	shown, bytes := m.route.Shown(p)
	expected, high := m.route.Estimate(p.Bytes(), shown)
	if m.tokens != nil {
		n := m.tokens.Count(p.System) + m.tokens.Count(p.Context)
		for _, message := range p.Messages {
			n += m.tokens.Count(message.Text)
		}
		high.Sum = max(high.Sum, m.route.AtMost(n, shown).Sum)
	}
	return Request{
		At: at, Expected: expected, High: high, Guessed: m.guess,
		Request: &assay.Request{Key: at.Key(), Lane: &m.route.Lane, Wire: &m.route.Wire, Prompt: p, Shown: bytes},
	}
}

// Build makes requests again from their coordinates, in the same order. Whether they are asked was decided when they were
// put into a segment: no condition is looked at again, so that a later verdict changes nothing about them.
func (s *Script) Build(ctx context.Context, mode store.SegmentMode, at []assay.Coordinates) ([]Request, error) {
	var err error
	out := make([]Request, 0, len(at))
	for len(at) > 0 {
		n := 1 // requests of one lane in one stage follow each other: they are made together
		for n < len(at) && at[n].Stage == at[0].Stage && at[n].Answering() == at[0].Answering() {
			n++
		}
		if out, err = s.build(ctx, mode, at[:n], out); err != nil {
			return nil, err
		}
		at = at[n:]
	}
	return out, nil
}

// Build makes requests of a run again from their coordinates, in the same order.
func (p *Library) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]Request, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.Build(ctx, mode, at)
}

// build makes requests of one lane in one stage again.
func (s *Script) build(ctx context.Context, mode store.SegmentMode, at []assay.Coordinates, out []Request) ([]Request, error) {
	m, err := s.maker(ctx, at[0].Stage, at[0].Answering(), mode)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(at))
	for i, c := range at {
		ids[i] = c.Item
	}
	items, err := s.lib.Reader.ItemsByID(ctx, s.run.No, m.rec.Items(), ids)
	if err != nil {
		return nil, fmt.Errorf("items of run %s: %w", s.run.ID, err)
	}
	block := make([]stages.Wanted, len(at))
	for i, c := range at {
		it, ok := items[c.Item]
		if !ok {
			return nil, fmt.Errorf("item %q of run %s: %w", c.Item, s.run.ID, store.ErrNotFound)
		}
		block[i] = stages.Wanted{Item: it, At: c}
	}
	made := len(out)
	m.yield(ctx, block, func(p Request, e error) bool {
		if err = e; e == nil {
			out = append(out, p)
		}
		return e == nil
	})
	for i, c := range at {
		if err == nil && (made+i >= len(out) || out[made+i].At != c) {
			err = fmt.Errorf("request %s cannot be made any more: an answer it needs is gone", c.Key())
		}
	}
	return out, err
}
