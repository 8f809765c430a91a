package stats

import (
	"fmt"
	"math"
)

// Test is what a study must be able to show: a two-sided level such as 0.05, and the chance of showing it such as 0.8.
type Test struct {
	Alpha, Power float64
}

// z is the sum of the two normal quantiles.
func (t Test) z() (float64, error) {
	if !validLevel(t.Alpha) || !validLevel(t.Power) {
		return 0, fmt.Errorf("plan a test: level %g with power %g", t.Alpha, t.Power)
	}
	return normalQuantile(1-t.Alpha/2) + normalQuantile(t.Power), nil
}

// ComparisonsNeeded is how many comparisons, spread evenly over all pairs, tell two of so many contestants apart whose strengths differ by
// this much. Information is what one comparison says about a difference of strengths: 1/4 where the two are even and never tie.
func ComparisonsNeeded(contestants int, difference, information float64, t Test) (int, error) {
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if contestants < 2 || difference == 0 || !Known(difference).OK || !(information > 0) {
		return 0, fmt.Errorf("plan a test: %d contestants, a difference of %g, %g known from one comparison", contestants, difference, information)
	}
	return upTo(float64(contestants-1) * square(z/difference) / information), nil
}

// DetectableStrength is the smallest difference of two strengths that so many comparisons show.
func DetectableStrength(contestants int, comparisons int64, information float64, t Test) (float64, error) {
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if contestants < 2 || comparisons < 1 || !(information > 0) {
		return 0, fmt.Errorf("plan a test: %d comparisons of %d contestants, %g known from each", comparisons, contestants, information)
	}
	return z * math.Sqrt(float64(contestants-1)/(float64(comparisons)*information)), nil
}

// Design is what a paired comparison of two lanes on the same items is made of (Miller 2024): the variance of the true
// difference over items, and for each lane the variance of one draw and the number of draws.
type Design struct {
	Items          float64 // variance over items of the difference of expected scores
	DrawA, DrawB   float64 // variance of one answer's score round its item's expectation
	DrawsA, DrawsB int
}

// variance is that of the difference of one item.
func (d Design) variance() (float64, error) {
	if d.DrawsA < 1 || d.DrawsB < 1 || !(d.Items >= 0) || !(d.DrawA >= 0) || !(d.DrawB >= 0) {
		return 0, fmt.Errorf("plan a test: design %+v", d)
	}
	return d.Items + d.DrawA/float64(d.DrawsA) + d.DrawB/float64(d.DrawsB), nil
}

// ItemsNeeded is how many items show a difference of this size.
func (d Design) ItemsNeeded(difference float64, t Test) (int, error) {
	v, err := d.variance()
	if err != nil {
		return 0, err
	}
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if difference == 0 || !Known(difference).OK {
		return 0, fmt.Errorf("plan a test: no number of items shows a difference of %g", difference)
	}
	return upTo(square(z/difference) * v), nil
}

// Detectable is the smallest difference that so many items show.
func (d Design) Detectable(items int, t Test) (float64, error) {
	v, err := d.variance()
	if err != nil {
		return 0, err
	}
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if items < 1 {
		return 0, fmt.Errorf("plan a test: %d items", items)
	}
	return z * math.Sqrt(v/float64(items)), nil
}

func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// upTo rounds up, but not for rounding errors.
func upTo(n float64) int { return int(math.Ceil(n - 1e-9*n)) }
