package script

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Exchange is one message of a conversation and the answer to it.
type Exchange struct {
	At     assay.Coordinates
	Said   string // the last message sent to the model; empty: not known, or never said
	Answer store.Answer
	Sent   bool // false: it was never asked, and Answer is zero
	Spared bool // it was never asked because a condition leaves it out
}

// Talk is everything that an ask, continue or import stage asks about one item: turn by turn, in each turn lane by lane.
type Talk struct {
	Item      assay.Item
	Ord       int64 // of the item in its input, from 0
	Exchanges []Exchange
}

// Talks walks over the conversations of a stage in the order of its items, a block at a time.
func (p *Library) Talks(ctx context.Context, run store.Run, stage string) iter.Seq2[Talk, error] {
	return func(yield func(Talk, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(Talk{}, err)
			return
		}
		rec, ok := s.stages[stage].(*asking)
		if !ok {
			yield(Talk{}, fmt.Errorf("stage %q of run %s has no conversations", stage, run.ID))
			return
		}
		t := &talker{Script: s, rec: rec}
		ord := int64(-1)
		for it, err := range s.input.Rows.Items(ctx, rec.items()) {
			if err != nil {
				yield(Talk{}, err)
				return
			}
			ord++
			t.add(it, ord)
			if t.n >= blockSize && !t.flush(ctx, yield) {
				return
			}
		}
		t.flush(ctx, yield)
	}
}

// talker gathers the conversations of some items.
type talker struct {
	*Script
	rec   *asking
	block []Talk
	n     int // exchanges in the block
}

func (t *talker) add(it assay.Item, ord int64) {
	talk := Talk{Item: it, Ord: ord}
	for turn := 1; turn <= t.rec.turns(); turn++ {
		for _, l := range t.rec.lanes() {
			for _, at := range t.rec.at(it, ord, l.Name, turn) {
				talk.Exchanges = append(talk.Exchanges, Exchange{At: at})
			}
		}
	}
	t.n += len(talk.Exchanges)
	t.block = append(t.block, talk)
}

// flush reads what was answered and yields the block; it reports whether the walk goes on.
func (t *talker) flush(ctx context.Context, yield func(Talk, error) bool) bool {
	if err := t.read(ctx); err != nil {
		return yield(Talk{}, err)
	}
	for _, talk := range t.block {
		if !yield(talk, nil) {
			return false
		}
	}
	t.block, t.n = t.block[:0], 0
	return true
}

func (t *talker) read(ctx context.Context) error {
	var keys []assay.Key
	var all []wanted
	for _, talk := range t.block {
		for _, e := range talk.Exchanges {
			keys = append(keys, e.At.Key())
			all = append(all, wanted{talk.Item, e.At})
		}
	}
	found, err := t.Reader.AnswersTo(ctx, t.run.No, keys)
	if err != nil {
		return err
	}
	answered, err := (&maker{Script: t.Script}).answersFor(ctx, t.rec, all)
	if err != nil {
		return err
	}
	fates, err := t.fates(ctx, t.rec, all)
	if err != nil {
		return err
	}
	k := -1
	for _, talk := range t.block {
		for i := range talk.Exchanges {
			e := &talk.Exchanges[i]
			k++
			if e.Answer, e.Sent = found[e.At.Key()]; e.Sent {
				if e.Answer, err = t.Whole(ctx, t.run, e.Answer); err != nil {
					return err
				}
			}
			e.Spared = !e.Sent && fates != nil && fates[k] == dropped
			p, ok, err := t.rec.prompt(talk.Item, e.At, answered)
			if err != nil {
				return err
			}
			if n := len(p.Messages); ok && n > 0 {
				e.Said = p.Messages[n-1].Text
			}
		}
	}
	return nil
}
