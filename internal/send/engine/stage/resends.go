package stage

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
)

// resends stages what is to be sent again, lane by lane.
func (x *Extension) resends(ctx context.Context) error {
	queues, err := x.Ledger.Work.Queues(ctx, x.Run.No)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(x.Ledger.Reader.Resends(ctx, x.Run.No))
	defer stop()
	r, err, ok := next()
	for ok && err == nil {
		g := engine.Group{GroupKey: r.Group(), Wave: 2, Mode: r.Mode, Final: true}
		l, known := x.LaneOf(g.Stage, g.Lane)
		open := known && l.State == store.LaneOpen // else they wait with their lane
		if open {
			wait, err := x.gathers(g, queues)
			if err != nil {
				return err
			}
			open = !wait
		}
		// The requests of one group follow each other; take is the walk over them.
		take := func(yield func(store.Resend) bool) {
			for ok && err == nil && r.Group() == g.GroupKey && r.Mode == g.Mode {
				switch {
				case !open:
				case r.After.After(x.Clock.Now()):
					x.wake(r.After)
				case !yield(r):
					return
				}
				r, err, ok = next()
			}
		}
		if e := x.resend(ctx, g, take); e != nil {
			return e
		}
	}
	return err
}

// gathers reports whether requests that are many enough for a batch still wait for the last of them: one by one they would go
// live, at twice the price. It notes until when.
func (x *Extension) gathers(g engine.Group, queues []store.Queue) (bool, error) {
	for _, q := range queues {
		if q.GroupKey != g.GroupKey || q.Mode != g.Mode {
			continue
		}
		mode, err := x.modeOf(g, q.Requests)
		if errors.Is(err, engine.ErrNoKey) || err == nil && mode != store.Batch {
			return false, nil
		}
		at := q.Last
		if cut := q.First.Add(x.Timing.Cut); cut.Before(at) {
			at = cut
		}
		if err != nil || !at.After(x.Clock.Now()) {
			return false, err
		}
		x.wake(at)
		return true, nil
	}
	return false, nil
}

// resend stages one group of the queue: few of them live, where the lane can.
func (x *Extension) resend(ctx context.Context, g engine.Group, take iter.Seq[store.Resend]) error {
	var c *Cutter
	var block []store.Resend
	for r := range take {
		if block = append(block, r); len(block) < max(500, x.Policy.LiveBelow) {
			continue
		}
		if err := x.stageBlock(ctx, g, &c, block); err != nil {
			return err
		}
		block = block[:0]
	}
	if err := x.stageBlock(ctx, g, &c, block); err != nil || c == nil {
		return err
	}
	return c.finish(ctx)
}

// stageBlock builds requests of the queue again and puts them into segments. The first block decides how they travel.
func (x *Extension) stageBlock(ctx context.Context, g engine.Group, c **Cutter, block []store.Resend) (err error) {
	if len(block) == 0 {
		return nil
	}
	if *c == nil {
		mode, err := x.modeOf(g, int64(len(block)))
		if err != nil {
			return err
		}
		if *c, err = x.NewCutter(ctx, g, mode, store.ForAgain); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, (*c).giveUp(ctx))
		}
	}()
	pieces := map[assay.Key]piece{}
	coords, tries := make([]assay.Coordinates, len(block)), make([]int64, len(block))
	for i, r := range block {
		coords[i], tries[i] = r.At, r.Try
		if r.Cause == hold.CauseRecut || r.Cause == hold.CauseBisect {
			(*c).recuts = max((*c).recuts, r.Recuts+1)
		}
		if r.Cause == hold.CauseBisect {
			pieces[r.Key] = piece{r.Segment, r.Second}
		}
	}
	built, err := x.Planner.Build(ctx, x.Run, (*c).mode, coords)
	if err != nil {
		return err
	}
	if len(built) != len(block) {
		return fmt.Errorf("the planner built %d of %d requests", len(built), len(block))
	}
	rest, restTries, err := (*c).reuse(ctx, built, tries)
	if err != nil {
		return err
	}
	for i, p := range rest {
		if err := (*c).apart(ctx, pieces[p.At.Key()]); err != nil {
			return err
		}
		if err := (*c).add(ctx, p, restTries[i]); err != nil {
			return err
		}
	}
	return nil
}

// piece is one half of a segment that failed.
type piece struct {
	segment int64
	second  bool
}

// apart begins a new segment where a request belongs to another half than the one before it.
func (c *Cutter) apart(ctx context.Context, p piece) error {
	if c.piece == p {
		return nil
	}
	c.piece = p
	return c.close(ctx)
}
