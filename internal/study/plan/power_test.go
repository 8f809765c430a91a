package plan

import (
	"math"
	"testing"
)

func TestWhatIsAssumedOfItemsClustersAndDraws(t *testing.T) {
	t.Parallel()
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	z := Size{Items: 100, Clusters: 20, What: OfRates}
	same("five items a cluster", z.effect(false), 1+4*clusterAlike)
	same("five items a cluster, measured", z.effect(true), 5)
	same("no clusters", (&Size{Items: 100}).effect(true), 1)
	same("a rate", z.variance(), 0.25)
	z.Draws = 5
	same("a rate, five draws", z.variance(), 0.125+0.025)
	same("a scale from 1 to 5", (&Size{What: OfMeans, Scale: 4}).variance(), 1)
	same("answers taken back", (&Size{What: OfExcess}).variance(), 0.2)
}

func TestNumbersAreRoundedToParts(t *testing.T) {
	t.Parallel()
	if a, b := rounded(12.345, 10), rounded(0.07, 100); a != 12.3 || b != 0.07 {
		t.Error(a, b)
	}
}
