package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// Known is a request whose outcome is known without sending it.
type Known struct {
	Attempt store.Attempt
	Outcome store.Settlement
	Raw     *store.Artifact // where its bytes are; nil: nowhere here
}

// Keep takes a request whose outcome is known. Many of them are written at once, the last by SettleKnown.
func (c *Cutter) Keep(ctx context.Context, k Known) error {
	if c.instant = append(c.instant, k); len(c.instant) < attemptBlock {
		return nil
	}
	return c.SettleKnown(ctx)
}

// reject keeps a request that no provider would take: it has an outcome without being sent.
func (c *Cutter) reject(a store.Attempt, f assay.Fault) error {
	zero := assay.Money(0)
	c.instant = append(c.instant, Known{Attempt: a, Outcome: store.Settlement{Key: a.Key, Cost: &zero,
		Outcome: assay.Outcome{Ending: assay.Rejected, Fault: &f}}})
	return nil
}

// reuse takes the answers of other runs for those requests that equal theirs, and returns the others.
func (c *Cutter) reuse(ctx context.Context, block []engine.Planned, tries []int64) ([]engine.Planned, []int64, error) {
	if c.Policy.Reuse == nil || len(block) == 0 {
		return block, tries, nil
	}
	if err := c.SettleKnown(ctx); err != nil { // what was taken is not to be found again
		return nil, nil, err
	}
	found, err := c.donors(ctx, block)
	if err != nil {
		return nil, nil, err
	}
	var rest []engine.Planned
	var restTries []int64
	held := 0
	var gone lostAnswers
	for i, p := range block {
		old, ok := found[p.At.Key()]
		if !ok {
			rest, restTries = append(rest, p), append(restTries, tries[i])
			continue
		}
		source, err := c.Ledger.Reader.Segment(ctx, old.Segment)
		if err != nil {
			return nil, nil, err
		}
		old, err = c.whole(ctx, source.Run, old)
		if goneForGood(err) {
			gone.add(err)
			rest, restTries = append(rest, p), append(restTries, tries[i])
			continue
		}
		if err != nil { // what was announced as taken over is not paid for because a bucket is away
			return nil, nil, fmt.Errorf("take over an answer of an earlier run: %w", err)
		}
		if held += len(old.Outcome.Text) + len(old.Outcome.Thoughts); held > longHeld {
			held = 0
			if err := c.SettleKnown(ctx); err != nil {
				return nil, nil, err
			}
		}
		zero := assay.Money(0)
		a := store.Attempt{Key: p.At.Key(), Try: tries[i], At: p.At, Digest: c.Digest(p)}
		// its tokens were used and paid for there
		o := store.Settlement{Key: a.Key, Cost: &zero, Outcome: old.Outcome, Reused: source.Run, Price: old.Price,
			Unread: c.Route.Unread(old.Outcome)}
		c.instant = append(c.instant, Known{Attempt: a, Outcome: o})
	}
	return rest, restTries, c.noteLost(ctx, gone)
}

// longHeld bounds the bytes of answers that are held until they are written.
const longHeld = 16 << 20

// whole returns an answer of another run with all of its text. One too long for a row is read from the bytes that came.
func (c *Cutter) whole(ctx context.Context, run int64, a store.Answer) (store.Answer, error) {
	if !a.Over {
		return a, nil
	}
	reader, ok := c.Planner.(engine.Rereader)
	if !ok {
		return a, fmt.Errorf("the answer to %s cannot be read again here: %w", a.Key, fs.ErrNotExist)
	}
	source, err := c.Ledger.Reader.Run(ctx, run)
	if err != nil {
		return a, err
	}
	return reader.Whole(ctx, source, a)
}

// goneForGood reports whether the bytes of an answer cannot be read any more, now or later.
func goneForGood(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, artifacts.ErrDamaged)
}

// lostAnswers are those of earlier runs that cannot be taken over, because their bytes are gone.
type lostAnswers struct {
	n   int64
	why error // of the first
}

func (l *lostAnswers) add(err error) {
	if l.n++; l.n == 1 {
		l.why = err
	}
}

// noteLost writes into the history what is asked again although an earlier run had an answer.
func (c *Cutter) noteLost(ctx context.Context, l lostAnswers) error {
	if l.n == 0 {
		return nil
	}
	return c.Ledger.Work.Note(ctx, c.Run.No, 0, "asked again",
		fmt.Sprintf("lane %s in %s: %s of earlier runs cannot be taken over: %s", c.group.Lane, c.group.Stage,
			assay.Count(l.n, "answer"), l.why))
}

// donors returns the answers of other runs that are reused for requests of this one.
func (c *Cutter) donors(ctx context.Context, block []engine.Planned) (map[assay.Key]store.Answer, error) {
	from := *c.Policy.Reuse
	from.Run = c.Run.No
	asked := make([]store.Question, len(block))
	for i, p := range block {
		asked[i] = store.Question{Key: p.At.Key(), At: p.At, Digest: c.Digest(p)}
	}
	return c.Ledger.Reuse.Reusable(ctx, from, asked)
}

// SettleKnown writes the requests whose outcome is known as a segment that is settled at once.
func (c *Cutter) SettleKnown(ctx context.Context) error {
	if len(c.instant) == 0 {
		return nil
	}
	all := c.instant
	c.instant = nil
	g, err := c.Ledger.Work.AddSegment(ctx, store.NewSegment{Run: c.Run.No, GroupKey: c.group.GroupKey, Mode: store.Reuse,
		Purpose: c.purpose, Provider: c.Route.Lane.Provider, Model: c.Route.Lane.Model, Nonce: c.Nonce()}, c.Holder, c.Timing.Lease)
	if err != nil {
		return err
	}
	attempts, block := make([]store.Attempt, len(all)), make([]store.Settlement, len(all))
	for i, s := range all {
		attempts[i], block[i] = s.Attempt, s.Outcome
		attempts[i].Ord, block[i].Ord = int64(i), int64(i)
	}
	if err := c.Ledger.Work.AddAttempts(ctx, g.Lease, attempts); err != nil {
		return err
	}
	if err := c.Ledger.Work.Stage(ctx, g.Lease, store.Bytes{}, 0, 0, c.Clock.Now()); err != nil {
		return err
	}
	if err := c.Ledger.Work.GoLive(ctx, g.Lease, "", 0, c.Clock.Now()); err != nil {
		return err
	}
	if err := c.enterRaw(ctx, g.Lease, all, block); err != nil {
		return err
	}
	if _, err := c.Ledger.Work.SettleLive(ctx, g.Lease, block); err != nil {
		return err
	}
	if err := c.Ledger.Work.Finish(ctx, g.Lease, time.Time{}); err != nil {
		return err
	}
	c.Made++
	return c.Ledger.Leases.Release(ctx, g.Lease)
}

// enterRaw enters the files with the bytes of answers, so that each can be walked back to them.
func (c *Cutter) enterRaw(ctx context.Context, l store.Lease, all []Known, block []store.Settlement) error {
	numbers := map[string]int64{}
	for i, s := range all {
		if s.Raw == nil {
			continue
		}
		no, ok := numbers[s.Raw.Name]
		if !ok {
			var err error
			if no, err = c.Ledger.Work.AddArtifact(ctx, l, *s.Raw); err != nil {
				return err
			}
			numbers[s.Raw.Name] = no
		}
		block[i].Artifact = no
	}
	return nil
}
