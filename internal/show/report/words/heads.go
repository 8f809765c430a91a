package words

import (
	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
)

// Heads returns the lanes as the leaderboard of a stage ranks them, best first, with what the stage measured of each and what its answers
// cost. Where the stage has none, the leading one gives the order and there are no values. Nil: nothing ranks lanes.
func Heads(of *report.Document, stage string) []report.MatrixHead {
	if of.Report == nil {
		return nil
	}
	var all, own []*ranked
	for i := range of.Report.Leaderboards {
		if r := rank(&of.Report.Leaderboards[i]); r.Field == analysis.ByLane {
			if all = append(all, r); r.Stage == stage {
				own = append(own, r)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	by := leader(all)
	if len(own) > 0 {
		by = leader(own)
	}
	var out []report.MatrixHead
	for _, i := range by.Order() {
		h := report.MatrixHead{Name: by.Places[i].Name}
		if cost, ok := (document{of}).perThousand(h.Name); ok {
			h.Cost = assay.Dollars(cost).String()
		}
		if c := by.cell(h.Name); len(own) > 0 && c.Why == "" {
			h.Value, h.Between = c.Text, c.Between
		}
		out = append(out, h)
	}
	return out
}
