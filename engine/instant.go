package engine

import (
	"context"
	"time"

	"assay"
	"assay/store"
)

// reject keeps a request that no provider would take: it has an outcome without being sent.
func (c *cutter) reject(a store.Attempt, f assay.Fault) error {
	zero := assay.Money(0)
	c.instant = append(c.instant, settledNow{attempt: a, outcome: store.Settlement{Key: a.Key, Cost: &zero, Outcome: assay.Outcome{Ending: assay.Rejected, Fault: &f}}})
	return nil
}

// reuse takes the answers of other runs for those requests that equal theirs, and returns the others.
func (c *cutter) reuse(ctx context.Context, block []Planned, tries []int64) ([]Planned, []int64, error) {
	if c.policy.Reuse == nil || len(block) == 0 {
		return block, tries, nil
	}
	if err := c.settleInstant(ctx); err != nil { // what was taken is not to be found again
		return nil, nil, err
	}
	found, err := c.donors(ctx, block)
	if err != nil {
		return nil, nil, err
	}
	var rest []Planned
	var restTries []int64
	held := 0
	for i, p := range block {
		old, ok := found[p.At.Key()]
		if !ok {
			rest, restTries = append(rest, p), append(restTries, tries[i])
			continue
		}
		source, err := c.Ledger.Segment(ctx, old.Segment)
		if err != nil {
			return nil, nil, err
		}
		if old, ok = c.whole(ctx, source.Run, old); !ok {
			rest, restTries = append(rest, p), append(restTries, tries[i])
			continue
		}
		if held += len(old.Outcome.Text); held > longHeld {
			held = 0
			if err := c.settleInstant(ctx); err != nil {
				return nil, nil, err
			}
		}
		zero := assay.Money(0)
		a := store.Attempt{Key: p.At.Key(), Try: tries[i], At: p.At, Digest: c.digest(p)}
		o := store.Settlement{Key: a.Key, Cost: &zero, Outcome: old.Outcome, Reused: source.Run} // its tokens were used there, and cost nothing here
		c.instant = append(c.instant, settledNow{attempt: a, outcome: o})
	}
	return rest, restTries, nil
}

// longHeld bounds the bytes of answers that are held until they are written.
const longHeld = 16 << 20

// whole is an answer of another run with all of its text. One too long for a row is read from the bytes that came; false where
// they are gone, or cannot be read here.
func (c *cutter) whole(ctx context.Context, run int64, a store.Answer) (store.Answer, bool) {
	if !a.Over {
		return a, true
	}
	reader, ok := c.Planner.(interface {
		Whole(ctx context.Context, run store.Run, a store.Answer) (store.Answer, error)
	})
	if !ok {
		return a, false
	}
	source, err := c.Ledger.Run(ctx, run)
	if err == nil {
		a, err = reader.Whole(ctx, source, a)
	}
	return a, err == nil && !a.Over
}

// donors are the answers of other runs that stand in for requests of this one.
func (c *cutter) donors(ctx context.Context, block []Planned) (map[assay.Key]store.Answer, error) {
	from := *c.policy.Reuse
	from.Run = c.run.No
	asked := make([]store.Question, len(block))
	for i, p := range block {
		asked[i] = store.Question{Key: p.At.Key(), At: p.At, Digest: c.digest(p)}
	}
	return c.Ledger.Reusable(ctx, from, asked)
}

// settleInstant writes the requests whose outcome is known as a segment that is settled at once.
func (c *cutter) settleInstant(ctx context.Context) error {
	if len(c.instant) == 0 {
		return nil
	}
	all := c.instant
	c.instant = nil
	g, err := c.Ledger.AddSegment(ctx, store.NewSegment{Run: c.run.No, GroupKey: c.group.GroupKey, Mode: store.Reuse,
		Purpose: c.purpose, Provider: c.route.Lane.Provider, Model: c.route.Lane.Model, Nonce: c.nonce()}, c.Holder, c.Timing.Lease)
	if err != nil {
		return err
	}
	attempts, block := make([]store.Attempt, len(all)), make([]store.Settlement, len(all))
	for i, s := range all {
		attempts[i], block[i] = s.attempt, s.outcome
		attempts[i].Ord, block[i].Ord = int64(i), int64(i)
	}
	if err := c.Ledger.AddAttempts(ctx, g.Lease, attempts); err != nil {
		return err
	}
	if err := c.Ledger.Stage(ctx, g.Lease, store.Bytes{}, 0, 0, c.Clock.Now()); err != nil {
		return err
	}
	if err := c.Ledger.GoLive(ctx, g.Lease, "", 0, c.Clock.Now()); err != nil {
		return err
	}
	if err := c.enterRaw(ctx, g.Lease, all, block); err != nil {
		return err
	}
	if _, err := c.Ledger.SettleLive(ctx, g.Lease, block); err != nil {
		return err
	}
	if err := c.Ledger.Finish(ctx, g.Lease, time.Time{}); err != nil {
		return err
	}
	c.made++
	return c.Ledger.Release(ctx, g.Lease)
}

// enterRaw enters the files with the bytes of answers, so that each can be walked back to them.
func (c *cutter) enterRaw(ctx context.Context, l store.Lease, all []settledNow, block []store.Settlement) error {
	numbers := map[string]int64{}
	for i, s := range all {
		if s.raw == nil {
			continue
		}
		no, ok := numbers[s.raw.Name]
		if !ok {
			var err error
			if no, err = c.Ledger.AddArtifact(ctx, l, *s.raw); err != nil {
				return err
			}
			numbers[s.raw.Name] = no
		}
		block[i].Artifact = no
	}
	return nil
}
