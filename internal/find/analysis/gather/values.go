package gather

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// ResultOf reads the label of a comparison. Whatever is neither side nor a tie decides nothing.
func ResultOf(label string) (stats.Result, bool) {
	switch label {
	case assay.LabelA:
		return stats.FirstWon, true
	case assay.LabelB:
		return stats.SecondWon, true
	case assay.LabelTie:
		return stats.Tied, true
	}
	return 0, false
}

// ValueOf returns a verdict as a number: yes or no, its score, or whether it is the expected one. Scored takes the
// score where a label has both.
func ValueOf(r *analysis.Row, yes []string, scored bool) (float64, bool) {
	switch {
	case len(yes) > 0 && !scored && r.Label != "":
		return float64(One(slices.Contains(yes, r.Label))), true
	case r.Score != nil:
		return *r.Score, true
	case r.Expect != "":
		return float64(One(r.Label == r.Expect)), true
	}
	return 0, false
}
