package findings

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// Spending is the cost of a lane in a stage.
type Spending struct {
	Stage, Lane string
	Cost        assay.Cost // of its answers, where they were paid for: here, in the run they were taken from, or elsewhere
	Spent       assay.Cost // by this run
	Answers     int64
	Valid       int // of its verdicts, those that are valid; 0: it gives none
}

// Per returns the cost of one of n; nil where a price is unknown, or where there is nothing to divide by.
func (s Spending) Per(n int64) *float64 {
	if n == 0 || !s.Cost.Known() {
		return nil
	}
	each := s.Cost.Sum.Float() / float64(n)
	return &each
}

// spending adds up what segments cost; by other prices, where there are any.
func spending(ctx context.Context, r *results.Reader, w *walk, prices *catalog.Catalog) ([]Spending, error) {
	segments, err := r.Ledger.Segments(ctx, w.run.No)
	if err != nil {
		return nil, err
	}
	var anew map[judgeOf]assay.Cost
	if prices != nil {
		if anew, err = repriced(ctx, r, segments, w.study, prices); err != nil {
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
		out[i].Cost, out[i].Spent = out[i].Cost.Add(g.Price()), out[i].Spent.Add(g.Spent())
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

// repriced returns what a run's lanes would cost by other prices, from the tokens that every attempt used; answers of other runs as if they
// were asked here. What no model worked on costs nothing.
func repriced(ctx context.Context, r *results.Reader, segments []store.Segment, st *study.Study,
	prices *catalog.Catalog) (map[judgeOf]assay.Cost, error) {
	prices, problems := plan.Prices(prices, st)
	if len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	desk := &plan.Input{Study: st, Catalog: prices}
	out := map[judgeOf]assay.Cost{}
	for _, g := range segments {
		l, ok := st.Lane(g.Lane)
		mode := modeOf(desk, g, l)
		at := judgeOf{g.Stage, g.Lane}
		for a, err := range r.Ledger.SegmentAnswers(ctx, g.No) {
			if err != nil {
				return nil, err
			}
			o := a.Outcome
			billed := a.Ended && (o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known)
			switch {
			case !billed:
			case !ok:
				out[at] = out[at].Add(assay.Cost{Unknown: 1})
			default:
				how := catalog.Billing{Mode: mode, Smallest: l.Params.ServerTools.CodeExecution}
				if mode == assay.ModeLive {
					how.Tier = o.Tier
				}
				out[at] = out[at].Add(desk.Route(&study.Stage{}, l, mode).Price.Bill(o.Usage, how))
			}
		}
	}
	return out, nil
}

// modeOf returns how the requests of a segment travelled; of those that were not asked here, how they would.
func modeOf(desk *plan.Input, g store.Segment, l *study.Lane) assay.Mode {
	stage, ok := desk.Study.Stage(g.Stage)
	switch {
	case g.Mode == store.Live:
		return assay.ModeLive
	case g.Mode == store.Batch || !ok || l == nil:
		return assay.ModeBatch
	}
	return desk.Mode(stage, l)
}
