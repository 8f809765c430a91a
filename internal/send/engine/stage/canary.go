package stage

import (
	"context"
	"errors"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
)

// canaries sends one request of a lane before its first batch in a stage: live, or as a batch of its own where that has
// the provider's cache know what the others share. It takes up canaries whose process died.
func (x *Extension) canaries(ctx context.Context) error {
	asked, err := x.canarySegments(ctx)
	if err != nil {
		return err
	}
	for _, l := range x.Lanes {
		g, sent := asked[l.Stage+"\x00"+l.Name]
		switch {
		case l.State != store.LaneOpen:
		case l.Canary == store.CanaryDue && sent:
			_, err = x.Ledger.Work.SetCanary(ctx, x.Run.No, l.Stage, l.Name, store.CanaryDue, store.CanaryAsked)
		case l.Canary == store.CanaryAsked && sent && g.State.Terminal():
			err = judgeCanary(ctx, x, g)
		case l.Canary == store.CanaryDue:
			err = x.canary(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	return x.Reload(ctx)
}

// judgeCanary decides by the canary of a process that died before it did.
func judgeCanary(ctx context.Context, x *Extension, g store.Segment) error {
	route, err := x.Planner.Route(ctx, x.Run, g.Stage, g.Lane, g.Mode)
	if err != nil {
		return err
	}
	return hold.JudgeCanary(ctx, x.Ledger, g, x.Policy, route)
}

func (x *Extension) canarySegments(ctx context.Context) (map[string]store.Segment, error) {
	all, err := x.Ledger.Reader.Canaries(ctx, x.Run.No)
	if err != nil {
		return nil, err
	}
	found := map[string]store.Segment{}
	for _, g := range all {
		found[g.Stage+"\x00"+g.Lane] = g
	}
	return found, nil
}

// canaryFirst sends the canary of a group's lane ahead if one is due: segments that were staged before it would wait for
// it for ever, once nothing is left to send. It reports whether there may be less to send now.
func (x *Extension) canaryFirst(ctx context.Context, g engine.Group) (bool, error) {
	l, _ := x.LaneOf(g.Stage, g.Lane)
	if g.Mode != store.Batch || l.Canary != store.CanaryDue {
		return false, nil
	}
	if err := x.canary(ctx, l); err != nil {
		return false, err
	}
	return true, x.Reload(ctx)
}

// canary stages the first request that the lane can be asked in this stage.
func (x *Extension) canary(ctx context.Context, l store.Lane) error {
	access, err := x.Accounts(l.Provider)
	if err != nil {
		return err
	}
	mode, err := canaryMode(ctx, x, l)
	if err != nil {
		return err
	}
	if mode == store.Live && access.Live == nil {
		_, err := x.Ledger.Work.SetCanary(ctx, x.Run.No, l.Stage, l.Name, store.CanaryDue, store.CanaryOff)
		return err
	}
	groups, err := x.Groups(ctx, MayAsk)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if g.Stage != l.Stage || g.Lane != l.Name || g.Mode != store.Batch {
			continue
		}
		for p, err := range x.Fresh(ctx, travelling(g, mode)) {
			if err != nil {
				return err
			}
			if staged, err := x.stageCanary(ctx, g, mode, p); staged || err != nil {
				return err
			}
		}
	}
	return nil
}

// canaryMode returns how a lane's canary travels: batches that carry cache marks read what a batch has written.
func canaryMode(ctx context.Context, x *Extension, l store.Lane) (store.SegmentMode, error) {
	route, err := x.Planner.Route(ctx, x.Run, l.Stage, l.Name, store.Batch)
	if err == nil && route.Wire.CacheMarks {
		return store.Batch, nil
	}
	return store.Live, err
}

// stageCanary sends one request ahead, unless its answer is taken over from another run: then another one has to be found.
func (x *Extension) stageCanary(ctx context.Context, g engine.Group, mode store.SegmentMode, p engine.Planned) (bool, error) {
	c, err := x.NewCutter(ctx, g, mode, store.ForCanary)
	if err != nil {
		return false, err
	}
	if x.Policy.Reuse != nil {
		known, err := c.donors(ctx, []engine.Planned{p})
		if err != nil || len(known) > 0 {
			return false, err
		}
	}
	if err := c.add(ctx, p, 1); err != nil {
		return false, errors.Join(err, c.giveUp(ctx))
	}
	if err := c.finish(ctx); err != nil {
		return false, err
	}
	_, err = x.Ledger.Work.SetCanary(ctx, x.Run.No, g.Stage, g.Lane, store.CanaryDue, store.CanaryAsked)
	return true, err
}

// cold reports whether a batch of a group would find nothing in the provider's cache: no canary of the lane has
// travelled as a batch, or the last one came back too long ago. What is sent again may wait.
func cold(ctx context.Context, x *Extension, g engine.Group, purpose store.Purpose) (bool, error) {
	if purpose != store.ForWave {
		return purpose != store.ForCanary, nil
	}
	asked, err := x.canarySegments(ctx)
	c, sent := asked[g.Stage+"\x00"+g.Lane]
	return !sent || c.Mode != store.Batch || !c.EndedAt.IsZero() && x.Clock.Now().Sub(c.EndedAt) > keptWarm, err
}

// keptWarm is how long after a canary its lane's batches carry cache marks: a provider keeps what it wrote for an hour.
const keptWarm = 30 * time.Minute
