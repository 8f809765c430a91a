package batch

import (
	"context"
	"errors"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// recut rejects the lines that the provider names, and sends the others again without them.
func (w *work) recut(ctx context.Context, st provider.Status) error {
	places, err := w.Ledger.Work.AttemptPlaces(ctx, w.Seg.No, w.Seg.Requests)
	if err != nil {
		return err
	}
	byOrd := make(map[int64]assay.Key, len(st.Problems))
	for key, place := range places {
		byOrd[place.Ord] = key
	}
	var block []store.Settlement
	for _, p := range st.Problems {
		key, ord, ok := w.blamed(p, places, byOrd)
		if !ok {
			continue
		}
		zero := assay.Money(0)
		fault := p.Fault
		block = append(block, store.Settlement{Ord: ord, Key: key, Cost: &zero,
			Outcome: assay.Outcome{Ending: assay.Rejected, Fault: &fault}})
	}
	if len(block) == 0 {
		return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: "no line at fault could be found"}),
			w.StopLane(ctx, hold.LaneHeld("the job failed at its validation: "+st.Word)))
	}
	if _, err := w.Ledger.Work.Settle(ctx, w.Lease, block); err != nil {
		return err
	}
	end := store.EndOpen{Ending: assay.Cancelled, Message: "the job failed because of other lines",
		Again: &store.Again{Mode: store.Batch, After: w.Clock.Now(), Cause: hold.CauseRecut, Cap: hold.NoCap}}
	if err := w.Ledger.Work.EndOpen(ctx, w.Lease, end); err != nil {
		return err
	}
	return w.Ledger.Work.Fail(ctx, w.Lease, assay.Count(len(block), "line")+assay.Verb(len(block), " was", " were")+" invalid")
}

// blamed returns the attempt that a provider's complaint is about.
func (w *work) blamed(p provider.LineProblem, places map[assay.Key]store.AttemptPlace, byOrd map[int64]assay.Key) (assay.Key, int64, bool) {
	if p.CustomID != "" {
		nonce, key, err := assay.ParseCustomID(p.CustomID)
		place, ok := places[key]
		return key, place.Ord, err == nil && ok && nonce == w.Seg.Nonce
	}
	ord := int64(p.Line) - 1
	key, ok := byOrd[ord]
	return key, ord, ok
}

// bisect looks for the request that fails its whole job at a provider that does not name it: both halves go again, and
// a request that fails alone is the one. Nothing of a failed job is billed; halves of n requests are cut log2(n) times
// at most.
func (w *work) bisect(ctx context.Context, f *assay.Fault) error {
	if w.Seg.Requests > 1 {
		return w.halve(ctx, "one of its requests is invalid")
	}
	places, err := w.Ledger.Work.AttemptPlaces(ctx, w.Seg.No, w.Seg.Requests)
	if err != nil {
		return err
	}
	for key, place := range places {
		zero := assay.Money(0)
		rejected := store.Settlement{Ord: place.Ord, Key: key, Cost: &zero, Outcome: assay.Outcome{Ending: assay.Rejected, Fault: f}}
		if _, err := w.Ledger.Work.Settle(ctx, w.Lease, []store.Settlement{rejected}); err != nil {
			return err
		}
	}
	return w.Ledger.Work.Fail(ctx, w.Lease, "the request is invalid")
}

// halve sends both halves of a job again that did nothing as a whole.
func (w *work) halve(ctx context.Context, why string) error {
	end := store.EndOpen{Ending: assay.Cancelled, Message: "the job did nothing: " + why,
		Again: &store.Again{Mode: store.Batch, After: w.Clock.Now(), Cause: hold.CauseBisect, Cap: hold.NoCap}}
	if err := w.Ledger.Work.EndOpen(ctx, w.Lease, end); err != nil {
		return err
	}
	return w.Ledger.Work.Fail(ctx, w.Lease, why+": both halves go again")
}
