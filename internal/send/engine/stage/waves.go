package stage

import (
	"context"
	"errors"
	"iter"
	"math"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// waves stages what the planner has ready.
func (x *Extension) waves(ctx context.Context) error {
	groups, err := x.Groups(ctx, MayAsk)
	if err != nil {
		return err
	}
	items, err := x.affordable(ctx, groups)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := x.wave(ctx, g, items); err != nil {
			return err
		}
	}
	return nil
}

// MayAsk reports whether a lane's requests go out.
func MayAsk(l store.Lane) bool { return l.State == store.LaneOpen }

// isStopped reports whether a lane was stopped or held, by the program and not by a person.
func isStopped(l store.Lane) bool {
	return l.Shut() && !engine.CancelledByUser(l)
}

// Unsent reports whether lanes that were stopped or held have requests that never went out.
func (x *Extension) Unsent(ctx context.Context) (bool, error) {
	groups, err := x.Groups(ctx, isStopped)
	for _, g := range groups {
		for _, err := range x.Fresh(ctx, g) {
			return err == nil, err
		}
	}
	return false, err
}

// Groups returns those that may have something to send: not complete, and of some lanes.
func (x *Extension) Groups(ctx context.Context, of func(store.Lane) bool) ([]engine.Group, error) {
	all, err := x.Planner.Groups(ctx, x.Run)
	if err != nil {
		return nil, err
	}
	known, err := x.Ledger.Reader.Groups(ctx, x.Run.No)
	if err != nil {
		return nil, err
	}
	var some []engine.Group
	for _, g := range all {
		l, ok := x.LaneOf(g.Stage, g.Lane)
		if !ok {
			return nil, errors.New("lane " + g.Lane + " of stage " + g.Stage + " is not in the plan")
		}
		if of(l) && !complete(known, g) {
			some = append(some, g)
		}
	}
	return some, nil
}

func complete(known []store.Group, g engine.Group) bool {
	for _, k := range known {
		if k.GroupKey == g.GroupKey {
			return k.Complete
		}
	}
	return false
}

// wave stages one group, as far as the budget and the rules for cutting allow: a group that may still grow goes out when
// it fills a segment, or some time after its first request was ready.
func (x *Extension) wave(ctx context.Context, g engine.Group, items limit) error {
	least, err := x.fewest(g)
	if err != nil {
		return err
	}
	enough := max(int64(x.Policy.LiveBelow), least, 1)
	ready, err := x.ready(ctx, g, items, enough)
	if err != nil {
		return err
	}
	if ready > 0 {
		// What is ready may have become so since canaries were looked at.
		if sent, err := x.canaryFirst(ctx, g); err != nil {
			return err
		} else if sent {
			if ready, err = x.ready(ctx, g, items, enough); err != nil {
				return err
			}
		}
	}
	if ready == 0 {
		if g.Final && !items.short {
			x.Completed = true
			return x.Ledger.Work.PutGroup(ctx, store.Group{Run: x.Run.No, GroupKey: g.GroupKey, Complete: true})
		}
		return nil
	}
	n := ready
	if items.short { // a slice of the budget is not few: the rest of its wave comes later
		n = countAll
	}
	mode, err := x.modeOf(g, n)
	if err != nil {
		return err
	}
	if ready < least { // also a slice: a job of so few fails
		mode = store.Live
	}
	c, err := x.NewCutter(ctx, g, mode, store.ForWave)
	if err != nil {
		return err
	}
	most := int64(-1)
	if !g.Final && !g.Whole {
		if wait, err := x.waitForMore(ctx, g, ready, c.limits().requests); wait || err != nil {
			return err
		}
		if full := c.limits().requests; full > 0 && ready >= full {
			most = ready - ready%full
		}
	}
	if mode == store.Batch && (c.Route.Segments > 0 || least > 0 && most < 0) {
		if ready, err = x.ready(ctx, g, items, countAll); err != nil {
			return err
		}
		c.divide(ready, c.parts(ready, least))
	}
	if err := c.stageAll(ctx, x.Fresh(ctx, travelling(g, mode)), items, most); err != nil {
		return errors.Join(err, c.giveUp(ctx))
	}
	group := store.Group{Run: x.Run.No, GroupKey: g.GroupKey, Complete: g.Final && !items.short}
	return x.Ledger.Work.PutGroup(ctx, group)
}

// waitForMore reports whether a group that may grow should wait, and notes since when it does. If nothing moves that could add to it,
// as when lanes before it are stopped, it does not wait.
func (x *Extension) waitForMore(ctx context.Context, g engine.Group, ready, full int64) (bool, error) {
	if full > 0 && ready >= full {
		return false, nil
	}
	if x.Still && x.Made == 0 && !x.Completed {
		return false, nil
	}
	known, err := x.Ledger.Reader.Groups(ctx, x.Run.No)
	if err != nil {
		return false, err
	}
	now := x.Clock.Now()
	first := now
	for _, k := range known {
		if k.GroupKey == g.GroupKey && !k.First.IsZero() {
			first = k.First
		}
	}
	if cut := first.Add(x.Timing.Cut); now.Before(cut) {
		x.wake(cut)
		return true, x.Ledger.Work.PutGroup(ctx, store.Group{Run: x.Run.No, GroupKey: g.GroupKey, First: first})
	}
	return false, nil
}

// fewest returns how many requests a batch of a group's lane must have; 0: any number, or the lane has no other way.
func (x *Extension) fewest(g engine.Group) (int64, error) {
	l, _ := x.LaneOf(g.Stage, g.Lane)
	access, err := x.Accounts(l.Provider)
	if errors.Is(err, engine.ErrNoKey) || err == nil && (g.Mode == store.Live || access.Batch == nil || access.Live == nil) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int64(access.Batch.Limits().Least), nil
}

// modeOf returns how a group's requests travel: as it wishes, where the provider can; few of a later wave go live, and so does
// what is too few for a batch of this provider.
func (x *Extension) modeOf(g engine.Group, ready int64) (store.SegmentMode, error) {
	l, _ := x.LaneOf(g.Stage, g.Lane)
	access, err := x.Accounts(l.Provider)
	if err != nil {
		return "", err
	}
	switch {
	case g.Mode == store.Live || access.Batch == nil:
		return store.Live, nil
	case g.Wave > 1 && ready < int64(x.Policy.LiveBelow) && access.Live != nil,
		ready < int64(access.Batch.Limits().Least) && access.Live != nil:
		return store.Live, nil
	}
	return store.Batch, nil
}

// travelling returns a group whose requests are made, and priced, for the way in which they go.
func travelling(g engine.Group, mode store.SegmentMode) engine.Group {
	g.Mode = mode
	return g
}

// countAll asks ready to count to the end.
const countAll = math.MaxInt64

// ready counts the requests of a group that wait to be sent and are paid for: none waits for company for the others. Of a
// group that is complete, more than enough makes no difference.
func (x *Extension) ready(ctx context.Context, g engine.Group, items limit, enough int64) (int64, error) {
	n := int64(0)
	paid := items.ranker(g.GroupKey)
	for p, err := range x.Fresh(ctx, g) {
		if err != nil {
			return 0, err
		}
		if !paid.covers(p.At.Item) {
			break
		}
		if n++; g.Final && n >= enough {
			break
		}
	}
	return n, nil
}

// fewAsked is how many keys of a group's attempts are kept in memory while it is walked over. There are none when a wave
// begins, and few after a canary; of more, each block asks the ledger.
const fewAsked = 1000

// Fresh walks over the requests of a group that were never sent.
func (x *Extension) Fresh(ctx context.Context, g engine.Group) iter.Seq2[engine.Planned, error] {
	return func(yield func(engine.Planned, error) bool) {
		few, all, err := x.Ledger.Work.AskedOf(ctx, store.Group{Run: x.Run.No, GroupKey: g.GroupKey}, fewAsked)
		if err != nil {
			yield(engine.Planned{}, err)
			return
		}
		var sent engine.Sent
		switch {
		case !all:
			sent = func(ctx context.Context, refs []assay.Ref) (map[assay.Key]int64, error) {
				return x.Ledger.Reader.Asked(ctx, x.Run.No, refs)
			}
		case len(few) > 0:
			sent = func(context.Context, []assay.Ref) (map[assay.Key]int64, error) { return few, nil }
		}
		x.Planner.Requests(ctx, x.Run, g, sent)(yield)
	}
}

// stageAll cuts requests into segments, at most so many of them, of the items the budget covers.
func (c *Cutter) stageAll(ctx context.Context, requests iter.Seq2[engine.Planned, error], items limit, most int64) error {
	block := make([]engine.Planned, 0, 500)
	flush := func() error {
		tries := make([]int64, len(block))
		for i := range tries {
			tries[i] = 1
		}
		rest, tries, err := c.reuse(ctx, block, tries)
		if err != nil {
			return err
		}
		for i, p := range rest {
			if err := c.add(ctx, p, tries[i]); err != nil {
				return err
			}
		}
		block = block[:0]
		return nil
	}
	rank := items.ranker(c.group.GroupKey)
	n := int64(0)
	for p, err := range requests {
		if err != nil {
			return err
		}
		if n == most || !rank.covers(p.At.Item) {
			break
		}
		n++
		if block = append(block, p); len(block) == cap(block) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return c.finish(ctx)
}
