package checked_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/find/stats/checked"
)

// TestAQuoteFromAPilotComesTrue: 30 labelled items foretell the width of the intervals of 60.
func TestAQuoteFromAPilotComesTrue(t *testing.T) {
	t.Parallel()
	const items, pilot, planned = 400, 30, 60
	for _, right := range []float64{0.6, 0.85, 0.97} {
		var ratios []float64
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(37, seed))
			s := checked.NewSample(2)
			var labels []checked.Label
			for i := range items {
				for lane := range 2 {
					y, f := float64(r.IntN(2)), 0.0
					if f = y; r.Float64() > right {
						f = 1 - y
					}
					s.Judged(i, lane, f)
					if i < planned {
						labels = append(labels, checked.Label{Item: i, Cluster: i, Lane: lane, Verdict: f, Value: y, Weight: 1})
					}
				}
			}
			w := checked.Wanted{Level: 0.965, Tests: 1, Items: items}
			w.Residual, w.Label = s.With(labels[:2*pilot]).Pilot(checked.YesNo())
			for _, v := range s.With(labels).Correct(checked.Options{Scale: checked.YesNo(), Level: 0.965}).Values {
				ratios = append(ratios, w.HalfWidth(planned)*2/(v.Interval.High-v.Interval.Low))
			}
		}
		slices.Sort(ratios)
		n := len(ratios)
		if text := fmt.Sprintf("%.2f (%.2f to %.2f)", ratios[n/2], ratios[n/10], ratios[n*9/10]); ratios[n/2] < 0.85 || ratios[n/2] > 1.2 {
			t.Errorf("right in %g: quoted widths are %s times those that came", right, text)
		} else {
			t.Logf("right in %g: %s", right, text)
		}
	}
}

func TestNoLookIsBeforeAJudgesStateIsKnown(t *testing.T) {
	t.Parallel()
	for planned, want := range map[int][3]int{60: {20, 30, 60}, 200: {50, 100, 200}, 30: {20, 20, 30}, 12: {12, 12, 12}} {
		for i, l := range checked.Planned(planned, 0.05) {
			if l.Items != want[i] {
				t.Errorf("of %d items, look %d is at %d, not %d", planned, i, l.Items, want[i])
			}
		}
	}
}
