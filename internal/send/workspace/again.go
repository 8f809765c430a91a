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
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// Again is the set of requests that a retry of a run would send.
type Again struct {
	Ended  int64 // requests that ended without an answer, and go out again
	Unsent int64 // of lanes that were stopped: requests that wait, or were never made
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

// TakeOver is the part of a plan that has its answer in earlier runs, at most, and the new part.
type TakeOver struct {
	Most  int64 // requests that have one
	Rough bool  // what was reworded is counted by stages: a few more or less may have one
	Away  int64 // of the run that goes on: requests at the providers
	Over  int64 // of the run that goes on: comparisons that were not bought, as its rounds ended before
	New   int64 // those left
	Cost  plan.Price

	Labels int64 // that people gave in those runs
}

// TakesOver estimates what a new run takes over. A lane with the same model and parameters has the same questions, but for the stages that
// an edit reworded since a run; whether one is the same is seen only when it is made.
func (h *Home) TakesOver(ctx context.Context, want Wanted, donors []store.Run, since *Edit) (TakeOver, error) {
	var out TakeOver
	of := map[string][]int64{} // runs that may have answers, by stage
	for _, r := range donors {
		anew, err := anewSince(ctx, h, want, r)
		if err != nil {
			return out, err
		}
		out.Rough = out.Rough || len(anew) > 0
		for i := range want.Input.Study.Stages {
			if name := want.Input.Study.Stages[i].Name; !anew[name] {
				of[name] = append(of[name], r.No)
			}
		}
	}
	edited := map[string]share{}
	if since != nil && len(donors) == 1 { // an earlier run may have what was taken back
		var err error
		if edited, err = editedShares(ctx, want, since.Difference); err != nil {
			return out, err
		}
	}
	over, err := h.takesOver(ctx, want.Plan, of, has{edited: edited})
	if err != nil {
		return out, err
	}
	over.Rough = out.Rough || len(edited) > 0
	over.Labels, err = labelsIn(ctx, h, want, donors)
	return over, err
}

// share is how many of some items are meant.
type share struct{ some, all int64 }

// of returns so much of a number of requests, at least one where any is meant.
func (s share) of(n int64) int64 {
	if s.some == 0 || n == 0 {
		return 0
	}
	return max(1, n*s.some/s.all)
}

// editedShares returns how many items of a stage's input are others by now, by stage.
func editedShares(ctx context.Context, want Wanted, d edit.Difference) (map[string]share, error) {
	out := map[string]share{}
	for _, c := range d {
		if c.Section != edit.Inputs || c.Key != edit.Items || len(c.Edited) == 0 {
			continue
		}
		of := share{some: int64(len(c.Edited))}
		for _, err := range want.Input.FirstItems(ctx, c.Name, want.Settings.Limit) {
			if err != nil {
				return nil, err
			}
			of.all++
		}
		for i := range want.Input.Study.Stages {
			if st := &want.Input.Study.Stages[i]; want.Input.Root(st) == c.Name {
				out[st.Name] = of
			}
		}
	}
	return out, nil
}

// anewSince returns the stages of a study that are reworded since a run.
func anewSince(ctx context.Context, h *Home, want Wanted, run store.Run) (map[string]bool, error) {
	was, _, err := h.Planner.Kept(ctx, run)
	if _, unreadable := errors.AsType[assay.Problems](err); unreadable {
		return nil, nil // a later program has stricter rules
	}
	if err != nil {
		return nil, err
	}
	return edit.Compare(was, want.Input.Study).Anew(want.Input.Study), nil
}

// labelsIn counts the labels of people that a new run may take over, each person's on each answer or pair once.
func labelsIn(ctx context.Context, h *Home, want Wanted, donors []store.Run) (int64, error) {
	seen := map[assay.Key]bool{}
	for _, r := range donors {
		for i := range want.Input.Study.Stages {
			for v, err := range h.Ledger.Reader.PeopleVerdicts(ctx, r.No, want.Input.Study.Stages[i].Name) {
				if err != nil {
					return 0, err
				}
				seen[v.At.Key()] = true
			}
		}
	}
	return int64(len(seen)), nil
}

// Has returns what of a plan a run has already, as answers or in flight.
func (h *Home) Has(ctx context.Context, p *plan.Plan, run store.Run) (TakeOver, error) {
	away, err := h.away(ctx, run)
	if err != nil {
		return TakeOver{}, err
	}
	ended := map[string]bool{} // stages that buy no more comparisons; an interim analysis has the reason
	for l, err := range h.Ledger.Reader.Looks(ctx, run.No) {
		if err != nil {
			return TakeOver{}, err
		}
		ended[l.Stage] = l.Stop != store.StopNone
	}
	of := map[string][]int64{}
	for _, part := range p.Parts {
		of[part.Stage] = []int64{run.No}
	}
	return h.takesOver(ctx, p, of, has{away: away, ended: ended})
}

// has holds the state of a run that goes on, besides its answers.
type has struct {
	away  map[store.Share]int64
	ended map[string]bool // stages whose rounds have ended

	edited map[string]share // items that are others in a new run, by stage
}

// takesOver counts what of a plan has an answer in some runs, given by stage.
func (h *Home) takesOver(ctx context.Context, p *plan.Plan, runs map[string][]int64, run has) (TakeOver, error) {
	var out TakeOver
	left, err := stocksOf(ctx, h, runs)
	if err != nil {
		return out, err
	}
	for _, part := range p.Parts {
		params, err := json.Marshal(part.Lane.Params)
		if err != nil {
			return out, err
		}
		of := store.Stock{Stage: part.Stage, Lane: part.Lane.Name, Provider: part.Lane.Provider, Model: part.Lane.Model,
			Params: string(params)}
		at := store.Share{Stage: part.Stage, Lane: part.Lane.Name}
		taken := min(left[of], part.Requests-run.edited[part.Stage].of(part.Requests))
		flying := min(run.away[at], part.Requests-taken)
		left[of], out.Most, out.Away = left[of]-taken, out.Most+taken, out.Away+flying
		if flying > 0 {
			run.away[at] -= flying
		}
		fresh := part.Requests - taken - flying
		if run.ended[part.Stage] && taken > 0 { // what is left of it was not bought
			out.Over, fresh = out.Over+fresh, 0
		}
		out.New, out.Cost = out.New+fresh, out.Cost.Plus(part.Cost.Share(fresh, part.Requests))
	}
	return out, nil
}

// stocksOf counts the requests with an answer in some runs, given by stage.
func stocksOf(ctx context.Context, h *Home, runs map[string][]int64) (map[store.Stock]int64, error) {
	left := map[store.Stock]int64{}
	counted := map[string][]store.Stock{} // by the numbers of runs
	for stage, numbers := range runs {
		key := fmt.Sprint(numbers)
		all, ok := counted[key]
		if !ok {
			var err error
			if all, err = h.Ledger.Reader.Stocks(ctx, numbers); err != nil {
				return nil, err
			}
			counted[key] = all
		}
		for _, t := range all {
			if n := t.Requests; t.Stage == stage {
				t.Requests = 0
				left[t] += n
			}
		}
	}
	return left, nil
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
