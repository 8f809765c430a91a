package checked

import (
	"math"

	"assay/internal/find/stats"
)

// Wanted is what labels are asked for.
type Wanted struct {
	Target   float64 // half the width of an interval; with a power, the difference that is to be told apart
	Power    float64 // 0: a width is wanted
	Level    float64
	Tests    int     // that are corrected for
	Residual float64 // variance of what verdicts leave open, of one item
	Label    float64 // variance of labels, of one item
	Items    int     // there are
}

// BeforeLabels returns what is wanted of a rate as long as nothing is known of the judge: it is taken to be wrong on 15 of 100 answers,
// half of which are yes.
func BeforeLabels(target float64, items int) Wanted {
	return Wanted{Target: target, Level: 0.95, Tests: 1, Residual: 0.15 * 0.85, Label: 0.25, Items: items}
}

// ItemsToLabel returns how many items are to be labelled; false: not with so many items.
func (w Wanted) ItemsToLabel() (int, bool) {
	power := 0.0
	if w.Power > 0 {
		power = stats.NormalQuantile(w.Power)
	}
	all := float64(w.Items)
	for n := 3; n <= w.Items; n++ {
		variance := w.Residual*(1/float64(n)-1/all) + w.Label/all
		if (stats.StudentCritical((1-w.Level)/float64(w.Tests), n)+power)*math.Sqrt(variance) <= w.Target {
			return n, true
		}
	}
	return 0, false
}

// Look is a planned time at which corrected numbers are computed.
type Look struct {
	Items int
	Alpha float64 // what it may spend of the whole error
}

// PlannedItems is how many items are labelled unless another number is planned.
const PlannedItems = 60

// Looks returns the planned looks of so many items.
func Looks(items int, alpha float64) []Look {
	return []Look{{(items + 3) / 4, 0.1 * alpha}, {(items + 1) / 2, 0.2 * alpha}, {items, 0.7 * alpha}}
}

// Worth is what a label is worth.
type Worth struct {
	Verdicts float64 // one label is worth so many more judged items
	Labels   float64 // with the judge the labelled items are as good as so many
}

// WorthOf returns it of so many labelled items of all, where the judge knows so much of the labels' variance.
func WorthOf(labelled, items int, r2 float64) Worth {
	n, all := float64(labelled), float64(items)
	return Worth{Verdicts: all / n * all / n * (1 - r2) / r2, Labels: 1 / ((1-r2)*(1/n-1/all) + 1/all)}
}
