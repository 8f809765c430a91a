package words

import (
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// An interval of what is taken back over the re-ask is told as its value is: in points, and so many less where there are fewer.
func TestTheIntervalOfAnExcessIsInPoints(t *testing.T) {
	t.Parallel()
	for want, x := range map[string][3]float64{
		" (95% interval 51 to 90 points)": {-0.708, -0.9, -0.514}, " (95% interval -3 to 41 points)": {0.19, -0.03, 0.41},
	} {
		place := analysis.Place{Value: stats.Known(x[0]), Interval: stats.Interval{Low: x[1], High: x[2], OK: true}}
		r := &ranked{Leaderboard: &analysis.Leaderboard{What: analysis.WhatExcess, Unit: analysis.Gap, Level: 0.95,
			Places: []analysis.Place{place}}}
		if got := between95(r, 0); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
