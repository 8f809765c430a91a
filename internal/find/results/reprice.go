package results

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// repriced is what a run's lanes would cost by other prices, from the tokens that every attempt used. What was reused, and
// what no model worked on, costs nothing.
func (r *Reader) repriced(ctx context.Context, segments []store.Segment, st *study.Study, prices *catalog.Catalog) (map[judgeOf]assay.Cost, error) {
	prices, problems := plan.Prices(prices, st)
	if len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	desk := &plan.Input{Study: st, Catalog: prices}
	out := map[judgeOf]assay.Cost{}
	for _, g := range segments {
		l, ok := st.Lane(g.Lane)
		mode := assay.ModeBatch
		if g.Mode == store.Live {
			mode = assay.ModeLive
		}
		at := judgeOf{g.Stage, g.Lane}
		for a, err := range r.Ledger.SegmentAnswers(ctx, g.No) {
			if err != nil {
				return nil, err
			}
			o := a.Outcome
			billed := a.Ended && (o.Ending.Stands() || o.Ending == assay.Empty || o.Usage.Known) && a.Reused == 0 && g.Mode != store.Reuse
			switch {
			case !billed:
			case !ok:
				out[at] = out[at].Add(assay.Cost{Unknown: 1})
			default:
				how := catalog.Billing{Mode: mode}
				if mode == assay.ModeLive {
					how.Tier = o.Tier
				}
				out[at] = out[at].Add(desk.Route(l, mode).Price.Bill(o.Usage, how))
			}
		}
	}
	return out, nil
}
