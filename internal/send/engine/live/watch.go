package live

import (
	"context"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
)

// watch looks, now and then, whether this segment has to stop, and keeps for what it waits.
func (a *sender) watch(ctx context.Context) {
	tick := time.NewTicker(a.Timing.Look)
	defer tick.Stop()
	run, noted := a.Run, pauseNote{until: a.Seg.Wait, kind: string(a.Seg.Reason)}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		a.pastDeadline()
		a.trouble(a.look(ctx))
		err := a.notePause(ctx, &noted)
		a.trouble(err)
		if run, err = a.retune(ctx, run); err != nil && ctx.Err() == nil {
			a.trouble(err)
		}
	}
}

// look sees whether a person or an event wants this segment to stop. One that has stopped already is not looked at.
func (a *sender) look(ctx context.Context) error {
	err := a.lookAt(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a *sender) lookAt(ctx context.Context) error {
	var orders []store.Order
	err := a.Insist(ctx, func() (err error) { orders, err = a.Ledger.Reader.Orders(ctx, a.Run.No); return err })
	if err != nil {
		return err
	}
	for _, o := range orders {
		if o.Kind == store.OrderCancel && (o.Segment == 0 || o.Segment == a.Seg.No) {
			err := a.Insist(ctx, func() error { return a.Ledger.Work.AskCancel(ctx, a.Lease, store.ByUser, a.Clock.Now()) })
			a.stop()
			return err
		}
	}
	return a.Insist(ctx, func() error {
		g, err := a.Ledger.Reader.Segment(ctx, a.Seg.No)
		if err != nil {
			return err
		}
		lane, err := a.Lane(ctx)
		if err != nil {
			return err
		}
		stopped, err := hold.StopForErrors(ctx, a.Ledger, lane, a.Policy.StopAbove[a.Seg.Lane])
		if err == nil && (stopped || g.CancelCause != "" || lane.State != store.LaneOpen) {
			a.stop()
		}
		return err
	})
}

// retune applies what a person has changed since a run was last read: limits, budget, or the study. It returns the
// current run.
func (a *sender) retune(ctx context.Context, seen store.Run) (store.Run, error) {
	now := seen
	err := a.Insist(ctx, func() (err error) { now, err = a.Ledger.Reader.Run(ctx, seen.No); return err })
	if err != nil {
		return seen, err
	}
	a.budget.limited.Store(now.Budget != nil)
	spent, err := a.overspent(ctx, now)
	if spent {
		a.stop() // the next step sees that there is no money
	}
	if err != nil {
		return seen, err
	}
	if now.Tuned == seen.Tuned && now.Digest == seen.Digest {
		return now, nil
	}
	route, err := a.Planner.Route(ctx, now, a.Seg.Stage, a.Seg.Lane, a.Seg.Mode)
	if err != nil {
		return seen, err
	}
	a.queue.allow(a.own, route.Live)
	return now, nil
}
