package engine

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/send/ratelimit"
)

// retune follows what a person has changed since a run was last read: limits, budget, or the study. It returns the run as it is now.
func (a *asking) retune(ctx context.Context, seen store.Run) (store.Run, error) {
	now := seen
	err := a.insist(ctx, func() (err error) { now, err = a.Ledger.Run(ctx, seen.No); return err })
	if err != nil {
		return seen, err
	}
	a.till.limited.Store(now.Budget != nil)
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
	route, err := a.Planner.Route(ctx, now, a.g.Stage, a.g.Lane, a.g.Mode)
	if err != nil {
		return seen, err
	}
	a.queue.allow(a.own, route.Live)
	return now, nil
}

// overspent reports whether the budget was lowered to what has been paid, or below: nothing of what it had been promised goes then.
func (w *work) overspent(ctx context.Context, run store.Run) (bool, error) {
	if run.Budget == nil || w.g.Expected == 0 || run.Spent+run.Reserved+run.Perhaps <= *run.Budget {
		return false, nil
	}
	all, err := w.Ledger.Spending(ctx, run.No)
	paid := run.Perhaps
	for _, p := range all {
		paid += p.Cost.Sum
	}
	return err == nil && paid >= *run.Budget, err
}

// allow sets the caps of a lane and of the account, and lets out all who may go now.
func (d *accountQueue) allow(lane *quota, l Live) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lane.allow(l.Lane)
	d.whole.allow(l.Account)
	d.pump()
}

// allow sets the caps. What was leased under others is given up.
func (q *quota) allow(caps ratelimit.Caps) {
	if caps == q.caps {
		return
	}
	if caps.Concurrency != q.caps.Concurrency {
		q.has, q.asked = 0, q.asked.Add(-shareAgain)
	}
	if caps.Every() != q.caps.Every() {
		q.slots = ratelimit.Slots{}
	}
	if caps.Tokens != q.caps.Tokens {
		q.purse = ratelimit.TokenBudget{}
	}
	q.caps = caps
}
