package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/study/plan"
)

// Again is the set of requests that a retry of a run would send.
type Again struct {
	Ended  int64 // requests that ended without an answer, and go out again
	Unsent int64 // of lanes that were stopped: requests that wait, or were never made
	Follow int64 // of the others: requests that were never made, since they follow such ones; at most
	Kept   int64 // current answers
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
	var shares []store.Share
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
		unsent, follow := int64(0), int64(0)
		if l.State != store.LaneOpen && l.State != store.LanePaused {
			unsent = max(0, l.Planned-l.Spared-ended)
		} else {
			follow = max(0, l.Planned-l.Spared-ended-l.Open)
		}
		out.Ended, out.Unsent, out.Follow = out.Ended+again, out.Unsent+unsent, out.Follow+follow
		shares = append(shares, store.Share{Stage: l.Stage, Lane: l.Name, Requests: again + unsent + follow})
	}
	if out.Ended+out.Unsent == 0 {
		out.Follow = 0
		return out, nil
	}
	prices := h.prices(ctx, run)
	for _, s := range shares {
		cost, err := h.againCost(ctx, run, segments, s)
		if err != nil {
			return out, err
		}
		if part, ok := prices[store.Share{Stage: s.Stage, Lane: s.Lane}]; ok && s.Requests > 0 { // one by one, and each at its limit
			cost.High = part.Live.Share(s.Requests, part.Requests).High
		}
		out.Cost = out.Cost.Plus(cost)
	}
	return out, nil
}

// Rejudged is the set of requests that a retry of verdicts would send.
type Rejudged struct {
	Asked []store.Share // by stage and judge
	Kept  int64         // current verdicts
	Cost  plan.Price    // by what the judge has cost, else by what was expected of it
}

// Requests returns how many go out.
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

// againCost estimates the cost of so many more requests of a lane, from their cost so far, else from the plan.
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
		cost = assay.Cost{Sum: expected.Share(s.Requests, priced), Priced: s.Requests}
	}
	return plan.Price{Low: cost, Expected: cost, High: cost}, nil
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

// PutOrder writes an order for the process that drives a run.
func (h *Home) PutOrder(ctx context.Context, run store.Run, o store.Order) (no int64, err error) {
	o.Run, o.By = run.No, h.World.User()
	if o.Args == "" {
		o.Args = "{}"
	}
	return h.Ledger.Runs.PutOrder(ctx, o)
}

// UndecidableError reports a segment of a run that has nothing to decide.
type UndecidableError struct {
	Run     string
	Segment int64
	State   store.State // empty: the run has no such segment
}

// Error returns the reason.
func (e *UndecidableError) Error() string {
	if e.State == "" {
		return fmt.Sprintf("run %s has no segment %d", e.Run, e.Segment)
	}
	return fmt.Sprintf("segment %d is %s, not held: there is nothing to decide", e.Segment, e.State)
}

// Decidable wants the segment of an order to be one of the run, and to wait for a decision.
func (h *Home) Decidable(ctx context.Context, run store.Run, o store.Order) error {
	if o.Segment == 0 {
		return nil
	}
	g, err := h.Ledger.Reader.Segment(ctx, o.Segment)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && g.Run != run.No:
		return &UndecidableError{Run: run.ID, Segment: o.Segment}
	case err != nil:
		return err
	case g.State != store.Held:
		return &UndecidableError{Run: run.ID, Segment: g.No, State: g.State}
	}
	return nil
}
