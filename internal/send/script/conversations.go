package script

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/stages"
)

// Exchange is one message of a conversation and the answer to it.
type Exchange struct {
	At      assay.Coordinates
	Message string // the last one sent to the model; empty: not known, or never sent
	Answer  store.Answer
	Sent    bool // false: it was never asked, and Answer is zero
	Spared  bool // it was never asked because a condition leaves it out
}

// Conversation is everything that an ask, continue or import stage asks about one item: turn by turn, in each turn lane by lane.
type Conversation struct {
	Item      assay.Item
	Ord       int64 // of the item in its input, from 0
	Exchanges []Exchange
}

// Conversations walks over the conversations of a stage in the order of its items, a block at a time.
func (p *Library) Conversations(ctx context.Context, run store.Run, stage string) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		s, err := p.Open(ctx, run)
		if err != nil {
			yield(Conversation{}, err)
			return
		}
		rec, ok := s.stages.Asking(stage)
		if !ok {
			yield(Conversation{}, fmt.Errorf("stage %q of run %s has no conversations", stage, run.ID))
			return
		}
		g := &gatherer{Script: s, rec: rec}
		for r, err := range s.stages.Rows(ctx, rec) {
			if err != nil {
				yield(Conversation{}, err)
				return
			}
			g.add(r)
			if g.n >= conversationBlock && !g.flush(ctx, yield) {
				return
			}
		}
		g.flush(ctx, yield)
	}
}

// conversationBlock is how many exchanges are read at a time.
const conversationBlock = 256

// gatherer gathers the conversations of some items.
type gatherer struct {
	*Script
	rec   *stages.Asking
	block []Conversation
	n     int // exchanges in the block
}

func (g *gatherer) add(r stages.Row) {
	c := Conversation{Item: r.Item, Ord: r.Ord}
	for turn := 1; turn <= g.rec.Turns(); turn++ {
		for _, l := range g.rec.Lanes() {
			for _, at := range g.rec.At(r.Item, r.Ord, l.Name, turn) {
				c.Exchanges = append(c.Exchanges, Exchange{At: at})
			}
		}
	}
	g.n += len(c.Exchanges)
	g.block = append(g.block, c)
}

// flush reads what was answered and yields the block; it reports whether the walk goes on.
func (g *gatherer) flush(ctx context.Context, yield func(Conversation, error) bool) bool {
	if err := g.read(ctx); err != nil {
		return yield(Conversation{}, err)
	}
	for _, c := range g.block {
		if !yield(c, nil) {
			return false
		}
	}
	g.block, g.n = g.block[:0], 0
	return true
}

func (g *gatherer) read(ctx context.Context) error {
	var refs []assay.Ref
	var all []stages.Wanted
	for _, c := range g.block {
		for _, e := range c.Exchanges {
			refs = append(refs, e.At.Ref())
			all = append(all, stages.Wanted{Item: c.Item, At: e.At})
		}
	}
	found, err := g.lib.Reader.AnswersTo(ctx, g.run.No, refs)
	if err != nil {
		return err
	}
	answered, err := g.answers.For(ctx, g.rec, all)
	if err != nil {
		return err
	}
	decisions, err := g.Conditions.Decide(ctx, g.rec, all)
	if err != nil {
		return err
	}
	k := -1
	for _, c := range g.block {
		for i := range c.Exchanges {
			e := &c.Exchanges[i]
			k++
			if e.Answer, e.Sent = found[e.At.Key()]; e.Sent {
				if e.Answer, err = g.answers.Whole(ctx, e.Answer); err != nil {
					return err
				}
			}
			e.Spared = !e.Sent && decisions != nil && decisions[k] == conditions.Dropped
			p, ok, err := g.rec.Prompt(c.Item, e.At, answered)
			if err != nil {
				return err
			}
			if n := len(p.Messages); ok && n > 0 {
				e.Message = p.Messages[n-1].Text
			}
		}
	}
	return nil
}
