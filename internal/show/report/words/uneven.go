package words

import (
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report/plot"
)

// uneven returns the caveat that lanes were judged on different items, so that their values do not compare; nil: they do.
func uneven(r *ranked, noun string) *Caveat {
	two, uneven := r.Uneven()
	if !uneven || r.early() {
		return nil
	}
	a, b := r.Places[two.First], r.Places[two.Second]
	size := func(x float64) string {
		if r.Unit == analysis.Score {
			return scoreOf(math.Abs(x))
		}
		return pointsOf(math.Abs(x)) + " points"
	}
	gap, onShared := a.Value.Value-b.Value.Value, two.Difference.Value
	way := " apart"
	if gap*onShared < 0 {
		way = " the other way round"
	}
	return &Caveat{Title: "Different " + noun + ".",
		Text: fmt.Sprintf("In stage %s lanes do not have the same %s: %s and %s are %s apart, and %s%s on the %s that both have. "+
			"Tests and sentences on differences go by these; rates and means do not compare.", r.Stage, noun,
			assay.Clean(a.Name, plot.MaxName), assay.Clean(b.Name, plot.MaxName), size(gap), size(onShared), way,
			assay.Thousands(max(two.Items, two.Clusters)))}
}
