package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/workspace/earlier"
	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/plan"
)

// TakeOver is the part of a plan that has its answer in earlier runs, and the new part.
type TakeOver struct {
	Most  int64      // requests that have one; of later waves at most
	Away  int64      // of the run that goes on: requests at the providers
	Over  int64      // of the run that goes on: comparisons that were not bought, as its rounds ended before
	New   int64      // those left
	Exact bool       // every request is known and was compared
	Cost  plan.Price // of those left
	Parts []NewPart  // of the plan, with what is left of each

	Labels int64 // that people gave in those runs
}

// NewPart is what is left of a part of a plan.
type NewPart struct {
	plan.Part
	New  int64
	Cost plan.Price
}

// add counts a part of a plan of which so many requests have an answer, and so many are new.
func (t *TakeOver) add(part plan.Part, taken, fresh int64) {
	t.Most, t.New = t.Most+taken, t.New+fresh
	cost := part.CostOf(fresh)
	if t.Cost = t.Cost.Plus(cost); fresh > 0 {
		t.Parts = append(t.Parts, NewPart{Part: part, New: fresh, Cost: cost})
	}
}

// TakesOver returns what a new run takes over. Requests that are known before any answer is there are compared with those of earlier
// runs by what they ask. Later ones depend on answers: one can be taken over only where the answer it is about is.
func (h *Home) TakesOver(ctx context.Context, want Wanted, donors []store.Run) (TakeOver, error) {
	out := TakeOver{Exact: true}
	runs, err := reusedBy(ctx, h, want, donors)
	if err != nil {
		return out, err
	}
	old, err := earlierAnswers(ctx, h, want, runs)
	if err != nil {
		return out, err
	}
	for _, part := range want.Plan.Parts {
		if out.Exact = out.Exact && part.Turn == 1 && earlier.Known(want.Input, part) && !part.Gated; len(runs) == 0 {
			out.add(part, 0, part.Requests)
			continue
		}
		taken, err := old.Have(ctx, part)
		if err != nil {
			return out, err
		}
		out.add(part, taken, part.Requests-taken)
	}
	out.Labels, err = labelsIn(ctx, h, want, donors)
	return out, err
}

// reusedBy returns the runs whose answers a new run takes over: the donors and a pilot, else those that the study names.
func reusedBy(ctx context.Context, h *Home, want Wanted, donors []store.Run) ([]store.Run, error) {
	r := want.Input.Study.Reuse
	switch {
	case want.New || h.Rehearsal:
		return nil, nil
	case r == nil:
		digest, err := h.digest(ctx, want)
		if err != nil {
			return nil, err
		}
		pilot, err := h.pilotOf(ctx, want, digest)
		if err != nil || pilot == "" {
			return donors, err
		}
		run, err := h.Ledger.Reader.FindRun(ctx, pilot, "")
		return append(slices.Clone(donors), run), err
	case r.Run != "":
		run, err := h.Ledger.Reader.FindRun(ctx, r.Run, "")
		return []store.Run{run}, err
	}
	all, err := h.Ledger.Reader.Runs(ctx, r.Study)
	return slices.DeleteFunc(all, func(o store.Run) bool { return o.Rehearsal }), err
}

// earlierAnswers reads what runs have answered that a new one may take over.
func earlierAnswers(ctx context.Context, h *Home, want Wanted, runs []store.Run) (*earlier.Answers, error) {
	return earlier.Read(ctx, earlier.Plan{Input: want.Input, Limit: want.Settings.Limit, Ledger: h.Ledger.Reader,
		BaseURL: func(provider string) (string, error) {
			access, err := h.World.Accounts(want.Input.Study).Known(provider)
			return access.BaseURL, err
		},
		Reworded: func(ctx context.Context, since store.Run) (map[string]bool, error) {
			return anewSince(ctx, h, want, since)
		},
	}, runs)
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
func (h *Home) Has(ctx context.Context, want Wanted, p *plan.Plan, run store.Run) (TakeOver, error) {
	out := TakeOver{Exact: true}
	away, err := h.away(ctx, run)
	if err != nil {
		return out, err
	}
	ended := map[string]bool{} // stages that buy no more comparisons; an interim analysis has the reason
	for l, err := range h.Ledger.Reader.Looks(ctx, run.No) {
		if err != nil {
			return out, err
		}
		ended[l.Stage] = l.Stop != store.StopNone
	}
	stocks, err := h.Ledger.Reader.Stocks(ctx, []int64{run.No})
	if err != nil {
		return out, err
	}
	left := map[store.Stock]int64{}
	for _, t := range stocks {
		n := t.Requests
		t.Requests = 0
		left[t] += n
	}
	before, err := earlierOf(ctx, h, want, run)
	if err != nil {
		return out, err
	}
	for _, part := range p.Parts {
		of, err := earlier.StockOf(part)
		if err != nil {
			return out, err
		}
		at := store.Share{Stage: part.Stage, Lane: part.Lane.Name}
		taken := min(left[of], part.Requests)
		if before != nil { // a lane that comes back has its answers there
			n, err := before.Have(ctx, part)
			if err != nil {
				return out, err
			}
			taken = max(taken, n)
		}
		flying := min(away[at], part.Requests-taken)
		left[of] -= min(left[of], taken)
		if flying > 0 {
			away[at] -= flying
		}
		out.Exact = out.Exact && part.Turn == 1 && part.Verb == study.VerbAsk && !part.Gated
		fresh := part.Requests - taken - flying
		if out.Away += flying; ended[part.Stage] && taken > 0 { // what is left of it was not bought
			out.Over, fresh = out.Over+fresh, 0
		}
		out.add(part, taken, fresh)
	}
	return out, nil
}

// earlierOf returns the answers of a run that goes on and of those it was begun from; nil where there are no others.
func earlierOf(ctx context.Context, h *Home, want Wanted, run store.Run) (*earlier.Answers, error) {
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil || len(s.ReuseRuns) == 0 {
		return nil, err
	}
	runs := []store.Run{run}
	for _, id := range s.ReuseRuns {
		r, err := h.Ledger.Reader.FindRun(ctx, id, "")
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return earlierAnswers(ctx, h, want, runs)
}
