package script

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Request is a request that can go out, with what it may cost.
type Request struct {
	At       assay.Coordinates
	Request  *assay.Request
	Expected assay.Cost
	High     assay.Cost
}

// Sent finds which of some requests were sent before.
type Sent func(ctx context.Context, keys []assay.Key) (map[assay.Key]int64, error)

// Requests walks over the requests of a group whose answers are there, in the order of the items, as they travel in a mode.
// Those that were sent before are left out; with nil, none were.
func (s *Script) Requests(ctx context.Context, g store.GroupKey, mode store.SegmentMode, sent Sent) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		rec, ok := s.stages[g.Stage]
		if !ok {
			yield(Request{}, fmt.Errorf("run %s has no stage %q", s.run.ID, g.Stage))
			return
		}
		maker, err := s.maker(g.Stage, g.Lane, mode)
		if err == nil {
			err = s.rereads(ctx)
		}
		if err != nil {
			yield(Request{}, err)
			return
		}
		var block []wanted
		ord := int64(-1)
		for it, err := range s.input.Rows.Items(ctx, rec.items()) {
			if err != nil {
				yield(Request{}, err)
				return
			}
			ord++
			for _, at := range requests(rec, it, ord, g) {
				block = append(block, wanted{it, at})
			}
			if len(block) < blockSize {
				continue
			}
			if !maker.wanted(ctx, rec, block, sent, yield) {
				return
			}
			block = block[:0]
		}
		maker.wanted(ctx, rec, block, sent, yield)
	}
}

// blockSize is how many requests are made at a time.
const blockSize = 256

// wanted is a request that is to be made.
type wanted struct {
	item assay.Item
	at   assay.Coordinates
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
	rec, ok := s.stages[at[0].Stage]
	if !ok {
		return nil, fmt.Errorf("run %s has no stage %q", s.run.ID, at[0].Stage)
	}
	maker, err := s.maker(at[0].Stage, at[0].Answering(), mode)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(at))
	for i, c := range at {
		ids[i] = c.Item
	}
	items, err := s.Reader.ItemsByID(ctx, s.run.No, rec.items(), ids)
	if err != nil {
		return nil, fmt.Errorf("items of run %s: %w", s.run.ID, err)
	}
	block := make([]wanted, len(at))
	for i, c := range at {
		it, ok := items[c.Item]
		if !ok {
			return nil, fmt.Errorf("item %q of run %s: %w", c.Item, s.run.ID, store.ErrNotFound)
		}
		block[i] = wanted{it, c}
	}
	made := len(out)
	maker.yield(ctx, rec, block, func(p Request, e error) bool {
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
