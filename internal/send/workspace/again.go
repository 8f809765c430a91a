package workspace

import (
	"context"
	"encoding/json"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/script"
	"assay/internal/study/plan"
)

// Again is what a retry of a run would send.
type Again struct {
	Ended  int64 // requests that ended without an answer, and go out again
	Unsent int64 // of lanes that were stopped: requests that wait, or were never made
	Kept   int64 // answers that stand
	Left   map[assay.Ending]int64
	Cost   plan.Price // of all that goes: by what the lane has cost, else by what was expected of it
}

// Again counts what a retry of a run would send: what ended in one of these ways, and what lanes that were stopped still have
// to ask.
func (h *Home) Again(ctx context.Context, run store.Run, only []assay.Ending) (Again, error) {
	out := Again{Left: map[assay.Ending]int64{}}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return out, err
	}
	segments, err := h.Ledger.Reader.Segments(ctx, run.No)
	if err != nil {
		return out, err
	}
	for _, l := range lanes {
		var ended, again int64
		for e, n := range l.Endings {
			ended += n
			switch {
			case slices.Contains(only, e):
				again += n
			case e.Stands():
				out.Kept += n
			case n > 0:
				out.Left[e] += n
			}
		}
		unsent := int64(0)
		if l.State != store.LaneOpen && l.State != store.LanePaused {
			unsent = max(0, l.Planned-l.Spared-ended)
		}
		out.Ended, out.Unsent = out.Ended+again, out.Unsent+unsent
		cost, err := h.againCost(ctx, run, segments, store.Share{Stage: l.Stage, Lane: l.Name, Requests: again + unsent})
		if err != nil {
			return out, err
		}
		out.Cost = out.Cost.Plus(cost)
	}
	return out, nil
}

// Rejudged is what a retry of verdicts would send.
type Rejudged struct {
	Asked []store.Share // by stage and judge
	Kept  int64         // verdicts that stand
	Cost  plan.Price    // by what the judge has cost, else by what was expected of it
}

// Requests is how many go out.
func (r Rejudged) Requests() int64 {
	n := int64(0)
	for _, a := range r.Asked {
		n += a.Requests
	}
	return n
}

// Rejudge counts what a retry of verdicts in these states would send.
func (h *Home) Rejudge(ctx context.Context, run store.Run, what []string) (Rejudged, error) {
	var out Rejudged
	var err error
	if out.Asked, out.Kept, err = h.Planner.Library.Retries(ctx, run, what); err != nil {
		return out, err
	}
	segments, err := h.Ledger.Reader.Segments(ctx, run.No)
	if err != nil {
		return out, err
	}
	for _, a := range out.Asked {
		cost, err := h.againCost(ctx, run, segments, a)
		if err != nil {
			return out, err
		}
		out.Cost = out.Cost.Plus(cost)
	}
	return out, nil
}

// againCost is what so many more requests of a lane cost: by what they have cost, else by what was expected of them.
func (h *Home) againCost(ctx context.Context, run store.Run, segments []store.Segment, s store.Share) (plan.Price, error) {
	if s.Requests == 0 {
		return plan.Price{}, nil
	}
	if p, err := h.spreadCost(ctx, run, s); err != nil || p.Expected.Sum > 0 {
		return p, err
	}
	var expected assay.Money
	var priced int64
	for _, g := range segments {
		if g.Stage == s.Stage && g.Lane == s.Lane && g.Mode != store.Reuse {
			expected, priced = expected+g.Expected, priced+g.Requests-g.Unpriced
		}
	}
	cost := assay.Cost{Unknown: s.Requests}
	if priced > 0 {
		cost = assay.Cost{Sum: expected.Portion(s.Requests, priced), Priced: s.Requests}
	}
	return plan.Price{Low: cost, Expected: cost, High: cost}, nil
}

// TakeOver is what of a plan has its answer in earlier runs, at most, and what is new then.
type TakeOver struct {
	Most int64 // requests that have one
	Back int64 // of these: requests that are asked again, as they were before an earlier edit
	Away int64 // of the run that goes on: requests at the providers
	Over int64 // of the run that goes on: comparisons that were not bought, as its rounds ended before
	New  int64 // those left
	Cost plan.Price
}

// TakesOver estimates what a new run takes over. A lane with the same model and parameters has the same questions as far as
// their wording was not changed, which is seen only when they are made: so it is the most.
func (h *Home) TakesOver(ctx context.Context, p *plan.Plan, donors []store.Run) (TakeOver, error) {
	return h.takesOver(ctx, p, donors, has{})
}

// Has is what of a plan a run has already, as answers or in flight. What an edit changes is asked again.
func (h *Home) Has(ctx context.Context, p *plan.Plan, run store.Run, e *Edit) (TakeOver, error) {
	away, err := h.away(ctx, run)
	if err != nil {
		return TakeOver{}, err
	}
	var changes *script.Changes
	if e != nil {
		changes = e.Changes
	}
	ended := map[string]bool{} // stages that buy no more comparisons: a look says why
	for l, err := range h.Ledger.Reader.Looks(ctx, run.No) {
		if err != nil {
			return TakeOver{}, err
		}
		ended[l.Stage] = l.Stop != store.StopNone
	}
	return h.takesOver(ctx, p, []store.Run{run}, has{away: away, changes: changes, ended: ended})
}

// has is what is known of a run that goes on, besides its answers.
type has struct {
	away    map[store.Share]int64
	changes *script.Changes
	ended   map[string]bool // stages whose rounds have ended
}

func (h *Home) takesOver(ctx context.Context, p *plan.Plan, donors []store.Run, run has) (TakeOver, error) {
	var out TakeOver
	away, changes := run.away, run.changes
	if changes == nil {
		changes = &script.Changes{}
	}
	back := map[store.Share]int64{}
	for _, b := range changes.Back {
		back[store.Share{Stage: b.Stage, Lane: b.Lane}] = b.Requests
	}
	numbers := make([]int64, len(donors))
	for i, r := range donors {
		numbers[i] = r.No
	}
	stocks, err := h.Ledger.Reader.Stocks(ctx, numbers)
	if err != nil {
		return out, err
	}
	left := map[store.Stock]int64{}
	for _, t := range stocks {
		n := t.Requests
		t.Requests = 0
		for _, g := range changes.Asked {
			if g.Stage == t.Stage && g.Lane == t.Lane {
				n = max(0, n-g.Requests)
			}
		}
		left[t] += n
	}
	for _, part := range p.Parts {
		params, err := json.Marshal(part.Lane.Params)
		if err != nil {
			return out, err
		}
		of := store.Stock{Stage: part.Stage, Lane: part.Lane.Name, Provider: part.Lane.Provider, Model: part.Lane.Model, Params: string(params)}
		at := store.Share{Stage: part.Stage, Lane: part.Lane.Name}
		taken := min(left[of], part.Requests)
		flying := min(away[at], part.Requests-taken)
		left[of], out.Most, out.Away = left[of]-taken, out.Most+taken, out.Away+flying
		if flying > 0 {
			away[at] -= flying
		}
		again := min(back[at], part.Requests-taken-flying)
		back[at], out.Back, out.Most = back[at]-again, out.Back+again, out.Most+again
		fresh := part.Requests - taken - flying - again
		if run.ended[part.Stage] && taken > 0 { // what is left of it was not bought
			out.Over, fresh = out.Over+fresh, 0
		}
		out.New, out.Cost = out.New+fresh, out.Cost.Plus(part.Cost.Share(fresh, part.Requests))
	}
	return out, nil
}

// TryAgain gives lanes another try that a refused key or an empty account had stopped, and returns them: the person who goes on
// with a run has put it right. What was cancelled stays so.
func (h *Home) TryAgain(ctx context.Context, run store.Run) ([]store.Lane, error) {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil || run.Result == store.ResultCancelled {
		return nil, err
	}
	lanes = slices.DeleteFunc(lanes, func(l store.Lane) bool { return l.State != store.LaneStopped || !engine.StoppedByAccount(l) })
	if len(lanes) == 0 {
		return nil, nil
	}
	args, err := json.Marshal(engine.Retry{})
	if err != nil {
		return nil, err
	}
	_, err = h.PutOrder(ctx, run, store.Order{Kind: store.OrderRetry, Args: string(args)})
	return lanes, err
}
