package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/script"
)

// BuySettling buys what an offer says, and opens the run for it. Where another process was first, nothing is bought and it is false.
func (h *Home) BuySettling(ctx context.Context, r *results.Reader, run store.Run, o results.Offer) (bool, error) {
	return h.buying(ctx, run, func(l store.Lease) (bool, error) { return h.buySettling(ctx, r, run, o, l) })
}

// buying holds a run while something is bought for it.
func (h *Home) buying(ctx context.Context, run store.Run, buy func(store.Lease) (bool, error)) (bool, error) {
	l, err := h.holdRun(ctx, run)
	if err != nil {
		return false, err
	}
	stop := h.Planner.Renewing(ctx, l, claimTime)
	done, err := buy(l)
	stop()
	if errors.Is(err, store.ErrLeaseLost) { // this process was asleep for long
		return false, nil
	}
	return done, errors.Join(err, h.Ledger.Release(context.WithoutCancel(ctx), l))
}

func (h *Home) buySettling(ctx context.Context, r *results.Reader, run store.Run, o results.Offer, l store.Lease) (bool, error) {
	s, err := h.Planner.Open(ctx, run)
	if err != nil {
		return false, err
	}
	found, err := r.Look(ctx, run, o.Stage)
	if err != nil {
		return false, err
	}
	look, adds, err := s.Buy(ctx, found, o.Settle)
	if err != nil {
		return false, err
	}
	if run, err = h.Ledger.Run(ctx, run.No); err != nil {
		return false, err
	}
	e := store.Extension{Run: run.No, Look: &look, Adds: adds, Lease: l, What: fmt.Sprintf("stage %s: %s more of %s and %s, to settle which is better", o.Stage, assay.Count(o.N, "comparison"), o.First, o.Second)}
	if run.Budget != nil {
		// Some cost more than the mean: what is bought is not left half way.
		need := run.Spent + run.Reserved + run.Perhaps + o.Cost + o.Cost/2
		e.Budget = &need
	}
	return h.Ledger.Buy(ctx, e)
}

// BuyItems buys the items of an offer for two lanes of a run, and opens the run for them. Where another process was first, nothing is bought
// and it is false. ErrMoved: the study or its items are others than those that were offered.
func (h *Home) BuyItems(ctx context.Context, want Wanted, run store.Run, o results.ItemOffer, budget *assay.Money) (bool, error) {
	return h.buying(ctx, run, func(l store.Lease) (bool, error) {
		now, err := h.Ledger.Run(ctx, run.No)
		if err != nil || now.Settings != run.Settings || now.State != store.RunClosed {
			return false, err
		}
		e, err := h.itemExtension(ctx, want, now, o)
		if err != nil {
			return false, err
		}
		e.Lease = l
		switch gone := now.Spent + now.Reserved + now.Perhaps; {
		case budget != nil:
			most := gone + *budget
			e.Cap = &most
		case now.Budget != nil:
			need := gone + o.Fees.Goes.Sum + o.Fees.Goes.Sum/2 // as above
			e.Budget = &need
		}
		return h.Ledger.Buy(ctx, e)
	})
}

// itemExtension is the purchase of an offer's items.
func (h *Home) itemExtension(ctx context.Context, want Wanted, run store.Run, o results.ItemOffer) (store.Extension, error) {
	e := store.Extension{Run: run.No, Was: run.Settings, What: fmt.Sprintf("stage %s: %s more for %s and %s, to settle which is better", o.Stage, assay.Count(o.N(), "item"), o.First, o.Second)}
	var settings script.Settings
	if err := json.Unmarshal([]byte(run.Settings), &settings); err != nil {
		return e, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	settings.Added = append(settings.Added, o.Added)
	text, err := json.Marshal(settings)
	if err != nil {
		return e, err
	}
	e.Is = string(text)
	for _, a := range o.Adds {
		e.Adds = append(e.Adds, a.Share)
	}
	if _, err := h.digest(ctx, want); err != nil { // a question may wait for long
		return e, err
	}
	e.Items, err = h.Planner.NewItems(ctx, run, o.Added, want.Input.FirstItems(ctx, o.Input, 0), h.check(ctx, want))
	return e, err
}
