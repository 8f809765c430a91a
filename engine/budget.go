package engine

import (
	"context"
	"fmt"

	"assay"
	"assay/store"
)

// limit is how many items of every lane the budget covers.
type limit struct {
	items int64 // the first so many
	short bool  // something is left out; false: everything goes
}

// ranker walks along the items of one lane and says which of them are covered.
type ranker struct {
	limit
	last string
	rank int64
}

func (l limit) ranker() *ranker { return &ranker{limit: l, rank: -1} }

// covers reports whether a request on the next item of the walk is covered; requests on one item follow each other.
func (r *ranker) covers(item string) bool {
	if r.rank < 0 || item != r.last {
		r.rank++
		r.last = item
	}
	return !r.short || r.rank < r.items
}

// affordable finds how many items of all lanes fit into what is left of the budget, so that what is paid for can be
// compared. Requests without a known price do not count: a study has to allow them.
func (x *extension) affordable(ctx context.Context, groups []Group) (limit, error) {
	if x.run.Budget == nil {
		return limit{}, nil
	}
	left, err := x.left(ctx)
	if err != nil {
		return limit{}, err
	}
	var ranks []assay.Money // what the item of each rank costs in all lanes together
	for _, g := range groups {
		r := limit{}.ranker()
		for p, err := range x.fresh(ctx, g) {
			if err != nil {
				return limit{}, err
			}
			r.covers(p.At.Item)
			for int64(len(ranks)) <= r.rank {
				ranks = append(ranks, 0)
			}
			cost := p.Expected
			if x.policy.ReserveHigh {
				cost = p.High
			}
			ranks[r.rank] += cost.Sum
		}
	}
	for n, cost := range ranks {
		if left -= cost; left < 0 {
			x.short = true
			text := fmt.Sprintf("%d of %d items of every lane fit into the budget", n, len(ranks))
			return limit{items: int64(n), short: true}, x.Ledger.Note(ctx, x.run.No, 0, "budget", text)
		}
	}
	return limit{}, nil
}

// left is what the run may still promise: the budget without what is spent, reserved, or waiting to be reserved.
func (x *extension) left(ctx context.Context) (assay.Money, error) {
	r, err := x.Ledger.Run(ctx, x.run.No)
	if err != nil {
		return 0, err
	}
	left := *r.Budget - r.Spent - r.Reserved
	waiting, err := x.Ledger.Segments(ctx, x.run.No, store.Staged, store.Uploaded)
	if err != nil {
		return 0, err
	}
	for _, g := range waiting {
		left -= g.Expected
	}
	return left, nil
}
