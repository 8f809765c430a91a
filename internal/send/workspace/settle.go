package workspace

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
)

// BuySettling buys an offer, and opens the run for it. If another process was first, nothing is bought and it returns
// false.
func (h *Home) BuySettling(ctx context.Context, r *results.Reader, run store.Run, o rounds.Settle, cost assay.Money) (bool, error) {
	l, err := h.holdRun(ctx, run)
	if err != nil {
		return false, err
	}
	stop := h.Planner.Renewing(ctx, l, claimTime)
	done, err := h.buySettling(ctx, r, run, o, cost, l)
	stop()
	if errors.Is(err, store.ErrLeaseLost) { // this process was asleep for long
		return false, nil
	}
	return done, errors.Join(err, h.Ledger.Leases.Release(context.WithoutCancel(ctx), l))
}

func (h *Home) buySettling(ctx context.Context, r *results.Reader, run store.Run, o rounds.Settle, cost assay.Money,
	l store.Lease) (bool, error) {
	s, err := h.Planner.Open(ctx, run)
	if err != nil {
		return false, err
	}
	found, err := findings.Look(ctx, r, run, o.Stage)
	if err != nil {
		return false, err
	}
	look, adds, err := s.Buy(found, o)
	if err != nil {
		return false, err
	}
	if run, err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
		return false, err
	}
	e := store.Extension{Run: run.No, Look: look, Adds: adds, Lease: l, What: fmt.Sprintf(
		"stage %s: %s more of %s and %s, to settle which is better", o.Stage, assay.Count(o.N, "comparison"), o.First, o.Second)}
	if run.Budget != nil {
		// Some cost more than the mean: what is bought is not left half way.
		e.Budget = new(run.Spent + run.Reserved + run.Perhaps + cost + cost/2)
	}
	return h.Ledger.Runs.Buy(ctx, e)
}
