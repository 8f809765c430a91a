package stage

import (
	"context"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// limit is how many items of every lane the budget covers.
type limit struct {
	items int64                    // the first so many
	short bool                     // something is left out; false: everything goes
	ahead map[store.GroupKey]int64 // items that groups were asked before others of their stage
	only  map[store.GroupKey]bool  // nothing of other groups goes; nil: all may
}

// ranker walks along the items of one lane and reports which of them are covered.
type ranker struct {
	limit
	last string
	rank int64
	any  bool // it was asked about an item
}

func (l limit) ranker(g store.GroupKey) *ranker {
	if l.only != nil && !l.only[g] {
		l.items = 0
	}
	return &ranker{limit: l, rank: l.ahead[g]}
}

// covers reports whether a request on the next item of the walk is covered; requests on one item follow each other.
func (r *ranker) covers(item string) bool {
	if r.any && item != r.last {
		r.rank++
	}
	r.any, r.last = true, item
	return !r.short || r.rank < r.items
}

// leastSlice is how many items the budget has to cover while others are in flight, whose answers may cost less than was set
// aside for them. Fewer wait until all of them are home: a budget is spent in a few slices, not in hundreds.
const leastSlice = 50

// affordable finds how many items of all lanes fit into what is left of the budget, so that what is paid for can be
// compared. Requests without a known price do not count: a study has to allow them. No lane is looked at further than the
// budget would last for it alone.
func (x *Extension) affordable(ctx context.Context, groups []engine.Group) (limit, error) {
	if x.Run.Budget == nil {
		return limit{}, nil
	}
	left, away, err := x.left(ctx)
	if err != nil {
		return limit{}, err
	}
	t := newTally(x, left)
	if err := t.walk(ctx, groups); err != nil {
		return limit{}, err
	}
	if !x.Policy.ReserveHigh {
		left = withMargin(left, x.Lanes)
	}
	for n, cost := range t.ranks {
		if left -= cost; left >= 0 {
			continue
		}
		x.Short = true
		if l, ok, err := t.scouting(ctx, n); ok || err != nil {
			return l, err
		}
		switch {
		case away > 0 && (n < leastSlice || canariesAway(x.Lanes)):
			return limit{short: true}, nil
		case n == 0:
			return limit{short: true}, x.Ledger.Work.Note(ctx, x.Run.No, 0, store.BudgetEvent,
				"one more item of every lane needs "+cost.String())
		case x.tail(groups, int64(n)):
			return limit{short: true}, x.Ledger.Work.Note(ctx, x.Run.No, 0, store.BudgetEvent,
				"the budget covers "+assay.Count(n, "more item")+" of every lane, too few for a batch; one item of all lanes needs "+
					cost.String())
		}
		return limit{items: int64(n), short: true, ahead: t.ahead}, x.Ledger.Work.Note(ctx, x.Run.No, 0, store.BudgetEvent,
			assay.Count(n, "more item")+" of every lane "+assay.Verb(n, "fits", "fit")+" into the budget")
	}
	return limit{}, nil
}

// canariesAway reports whether some lane's first answer is to come soon: what it costs is worth the wait.
func canariesAway(lanes []store.Lane) bool {
	return slices.ContainsFunc(lanes, func(l store.Lane) bool { return l.State == store.LaneOpen && l.Canary == store.CanaryAsked })
}

// withMargin returns how much of the money that is left goes by the mean cost of the answers until now: the mean of further
// ones differs, the less the more answers it is known from. A reserve of the most needs no margin, and before the first
// answer there is nothing but a guess.
func withMargin(left assay.Money, lanes []store.Lane) assay.Money {
	answers := 0.0
	for _, l := range lanes {
		answers += float64(l.Ended() - l.Reused - l.Imported)
	}
	if answers <= 0 {
		return left
	}
	return assay.Money(float64(left) / (1 + 1/math.Sqrt(answers)))
}

// leastJob returns how many requests the jobs of a last slice have at least: the more jobs there are, the more.
func leastJob(jobs int64) int64 { return min(max(10, 2*jobs), leastSlice) }

// tail reports whether so many more items of every lane are not worth a job for each: few, and less than half of what they
// were asked before.
func (x *Extension) tail(groups []engine.Group, items int64) bool {
	ended, batches := int64(0), int64(0)
	for _, g := range groups {
		if l, _ := x.LaneOf(g.Stage, g.Lane); g.Mode == store.Batch {
			ended += l.Ended()
			batches++
		}
	}
	return batches > 0 && items < leastJob(batches) && 2*items*batches < ended
}

// left returns what the run may still promise: the budget without what is spent, perhaps spent, reserved, or waiting to be
// reserved. The last two
// are away: some of it may come back.
func (x *Extension) left(ctx context.Context) (left, away assay.Money, err error) {
	r, err := x.Ledger.Reader.Run(ctx, x.Run.No)
	if err != nil {
		return 0, 0, err
	}
	waiting, err := x.Ledger.Reader.Segments(ctx, x.Run.No, store.Staged, store.Uploaded)
	if err != nil {
		return 0, 0, err
	}
	away = r.Reserved
	for _, g := range waiting {
		away += g.Expected
	}
	return *r.Budget - r.Spent - r.Perhaps - away, away, nil
}
