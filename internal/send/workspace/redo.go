package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/study/plan"
)

// Redo names what is asked again, as further draws.
type Redo struct {
	Stage  string // empty: the one in which the lane answers
	Lane   string
	Items  []string
	Branch string // empty: all
	Draw   int    // 0: all
}

// LaneError reports a lane of a redo that cannot be found.
type LaneError struct {
	Run, Lane, Stage string
	Stages           []string // those in which it answers, if it is not clear which is meant
	Near             string   // a lane of a similar name
}

// Error names the lane.
func (e *LaneError) Error() string {
	switch {
	case len(e.Stages) > 0:
		return fmt.Sprintf("lane %s answers in several stages: %s", e.Lane, strings.Join(e.Stages, ", "))
	case e.Stage != "":
		return fmt.Sprintf("no lane %q answers in a stage %q of run %s", e.Lane, e.Stage, e.Run)
	}
	return fmt.Sprintf("run %s has no lane %q", e.Run, e.Lane)
}

// NotAskedError reports an item that was not asked like that.
type NotAskedError struct{ Run, Stage, Lane, Item string }

// Error names the item.
func (e *NotAskedError) Error() string {
	return fmt.Sprintf("item %q was not asked like that in lane %s of stage %s", assay.Clean(e.Item, 100), e.Lane, e.Stage)
}

// Redone is the result of a redo.
type Redone struct {
	Orders []store.Order
	Adds   []Added
	Cost   plan.Price // of all of it, by what the same lanes have cost in this run
	Stays  int64      // answers of the run, all of which stay
}

// Added is a redo's addition to one lane.
type Added struct {
	store.Share
	Cost plan.Price // by what the lane has cost so far
}

// Redo plans to ask something again, with its cost.
func (h *Home) Redo(ctx context.Context, run store.Run, r Redo) (Redone, error) {
	var out Redone
	var err error
	if r.Stage, err = h.redoStage(ctx, run, r); err != nil {
		return out, err
	}
	var shares []store.Share
	for _, item := range r.Items {
		one := engine.Redo{Stage: r.Stage, Lane: r.Lane, Item: item, Branch: r.Branch, Draw: r.Draw}
		some, err := h.Planner.Redo(ctx, run, one.Of(run.No))
		if err != nil {
			return out, err
		}
		if len(some) == 0 {
			return out, &NotAskedError{Run: run.ID, Stage: r.Stage, Lane: r.Lane, Item: item}
		}
		text, err := json.Marshal(one)
		if err != nil {
			return out, err
		}
		out.Orders = append(out.Orders, store.Order{Kind: store.OrderRedo, Args: string(text)})
		shares = addShares(shares, some)
	}
	for _, s := range shares {
		cost, err := h.spreadCost(ctx, run, s)
		if err != nil {
			return out, err
		}
		out.Adds, out.Cost = append(out.Adds, Added{Share: s, Cost: cost}), out.Cost.Plus(cost)
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	for _, l := range lanes {
		for e, n := range l.Endings {
			if e.Stands() {
				out.Stays += n
			}
		}
	}
	return out, err
}

// redoStage returns the stage in which the lane answers.
func (h *Home) redoStage(ctx context.Context, run store.Run, r Redo) (string, error) {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return "", err
	}
	var stages, names []string
	for _, l := range lanes {
		names = append(names, l.Name)
		if l.Name == r.Lane && (r.Stage == "" || r.Stage == l.Stage) {
			stages = append(stages, l.Stage)
		}
	}
	switch len(stages) {
	case 0:
		return "", &LaneError{Run: run.ID, Lane: r.Lane, Stage: r.Stage, Near: assay.DidYouMean(r.Lane, names)}
	case 1:
		return stages[0], nil
	}
	return "", &LaneError{Run: run.ID, Lane: r.Lane, Stages: stages}
}

func addShares(all, more []store.Share) []store.Share {
next:
	for _, m := range more {
		for i := range all {
			if all[i].Stage == m.Stage && all[i].Lane == m.Lane {
				all[i].Requests += m.Requests
				continue next
			}
		}
		all = append(all, m)
	}
	return all
}
