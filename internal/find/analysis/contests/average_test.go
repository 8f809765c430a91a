package contests

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/find/stats"
)

// TestTheErrorOfAnAverageWinRateIsThatOfResampling holds the error by leaving out clusters against the bootstrap.
func TestTheErrorOfAnAverageWinRateIsThatOfResampling(t *testing.T) {
	t.Parallel()
	const clusters, names = 200, 4
	r := rand.New(rand.NewPCG(1, 2))
	met := make([][]bout, clusters)
	var all []bout
	for c := range met {
		ease := 0.3 * r.Float64() // shared by all bouts of a cluster
		for against := 1; against < names; against++ {
			for range 1 + r.IntN(3) {
				score := 0.0
				if r.Float64() < 0.3+ease+0.1*float64(against) {
					score = 1
				}
				met[c] = append(met[c], bout{uint32(c), uint16(against), score})
			}
		}
		all = append(all, met[c]...)
	}
	average, variance := leftOut(slices.Values(all), clusters, names)
	got := stats.ShareInterval(average.Value, variance, 0.95, clusters)
	resampled, err := stats.Bootstrap(clusters, 4000, 7, func(drawn []int) stats.Number {
		by := make([]stats.Total, names)
		for _, c := range drawn {
			for _, b := range met[c] {
				by[b.against].Add(b.score)
			}
		}
		return averageOf(by)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := resampled.Interval(0.95)
	width := want.High - want.Low
	if math.Abs(got.Low-want.Low) > 0.06*width || math.Abs(got.High-want.High) > 0.06*width {
		t.Errorf("by leaving out clusters %v, by resampling %v", got, want)
	}
}
