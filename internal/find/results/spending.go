package results

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study/catalog"
)

// Spending is what a lane cost in a stage.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost
	Answers     int64
	Valid       int // of its verdicts, those that are valid; 0: it gives none
}

// Per is the cost of one of n; nil where a price is unknown, or where there is nothing to divide by.
func (s Spending) Per(n int64) *float64 {
	if n == 0 || !s.Cost.Known() {
		return nil
	}
	each := s.Cost.Sum.Float() / float64(n)
	return &each
}

// spending adds up what segments cost; by other prices, where there are any.
func (r *Reader) spending(ctx context.Context, w *walk, prices *catalog.Catalog) ([]Spending, error) {
	segments, err := r.Ledger.Segments(ctx, w.run.No)
	if err != nil {
		return nil, err
	}
	var anew map[judgeOf]assay.Cost
	if prices != nil {
		if anew, err = r.repriced(ctx, segments, w.study, prices); err != nil {
			return nil, err
		}
	}
	out := sumSegments(segments)
	for i := range out {
		at := judgeOf{out[i].Stage, out[i].Lane}
		out[i].Valid = w.valid[at]
		if prices != nil {
			out[i].Cost = anew[at]
		}
	}
	return out, nil
}

func sumSegments(segments []store.Segment) []Spending {
	var out []Spending
	for _, g := range segments {
		i := slices.IndexFunc(out, func(s Spending) bool { return s.Stage == g.Stage && s.Lane == g.Lane })
		if i < 0 {
			i = len(out)
			out = append(out, Spending{Stage: g.Stage, Lane: g.Lane})
		}
		out[i].Cost = out[i].Cost.Add(g.Cost)
		for e, n := range g.Endings {
			if e.Stands() {
				out[i].Answers += n
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		return cmp.Or(cmp.Compare(out[i].Stage, out[j].Stage), cmp.Compare(out[i].Lane, out[j].Lane)) < 0
	})
	return out
}

// Spent is what a run has cost so far.
func (r *Reader) Spent(ctx context.Context, run store.Run) (assay.Cost, error) {
	lanes, err := r.Ledger.Spending(ctx, run.No)
	var sum assay.Cost
	for _, l := range lanes {
		sum = sum.Add(l.Cost)
	}
	return sum, err
}
