package checked_test

import (
	"fmt"
	"math"
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

func TestHowManyItemsTellTwoLanesApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		difference   float64
		lanes, items int
		want         int
	}{{0.10, 2, 400, 225}, {0.15, 4, 400, 139}} {
		if got, ok := checked.ApartBefore(c.difference, c.lanes, c.items).ItemsToLabel(); !ok || got != c.want {
			t.Errorf("%v among %d lanes: %d of %d items, want %d", c.difference, c.lanes, got, c.items, c.want)
		}
	}
	if n, ok := checked.ApartBefore(0.02, 2, 400).ItemsToLabel(); ok {
		t.Errorf("2 points are told apart by %d of 400 items", n)
	}
}

// A judge that is always right leaves nothing open but the least that labels may scatter; one that says the same of all leaves everything.
func TestAPilotTellsHowFarDifferencesScatter(t *testing.T) {
	t.Parallel()
	scatter := func(judge func(value float64) float64) (residual, label float64) {
		s := checked.NewSample(2)
		var labels []checked.Label
		for i := range 40 {
			for lane, value := range []float64{float64(i % 2), float64(i / 2 % 2)} {
				s.Judged(i, lane, judge(value))
				labels = append(labels, checked.Label{Item: i, Cluster: i, Lane: lane, Verdict: judge(value), Value: value, Weight: 1})
			}
		}
		residual, label, ok := s.With(labels).PilotApart(checked.YesNo())
		if !ok {
			t.Fatal("no pilot")
		}
		return residual, label
	}
	const most = 20.0 / 39 // 20 of 40 items differ by one
	if residual, label := scatter(func(x float64) float64 { return x }); residual != 1.0/40 || math.Abs(label-most) > 1e-12 {
		t.Errorf("a judge that is right leaves %v of %v", residual, label)
	}
	if residual, label := scatter(func(float64) float64 { return 1 }); math.Abs(residual-most) > 1e-12 || math.Abs(label-most) > 1e-12 {
		t.Errorf("a judge that says nothing leaves %v of %v", residual, label)
	}
	if _, _, ok := checked.NewSample(2).PilotApart(checked.YesNo()); ok {
		t.Error("a pilot without labels")
	}
}
