package stats

import (
	"flag"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

var replications = flag.Int("replications", 300, "how many studies the proof of the intervals simulates")

// covers counts, over many simulated studies of a fixed design, how many of the intervals of each hold the truth.
func covers(seed uint64, one func(r *rand.Rand) (held, of int)) float64 {
	var held, of atomic.Int64
	replicate(*replications, func() struct{} { return struct{}{} }, func(_ struct{}, k int) {
		h, n := one(stream(seed, k))
		held.Add(int64(h))
		of.Add(int64(n))
	})
	return float64(held.Load()) / float64(of.Load())
}

// TestIntervalsHoldTheirLevel is the proof that 95% intervals hold the truth in 93 to 97 of 100 studies; with few studies the
// bounds leave room for chance.
func TestIntervalsHoldTheirLevel(t *testing.T) {
	t.Parallel()
	room := 3 * math.Sqrt(0.95*0.05/float64(*replications))
	if *replications >= 2000 {
		room = 0
	}
	for name, study := range map[string]func(r *rand.Rand) (held, of int){
		"Bradley-Terry by cluster":      proveStrengths,
		"rates by cluster":              proveRates(120, 0.3, func(*rand.Rand) int { return 5 }),
		"paired differences (Newcombe)": provePairs,
		"paired differences by cluster": proveClusteredPairs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := covers(2026, study)
			t.Logf("%d studies: %.2f%% of the intervals hold the truth", *replications, 100*got)
			if got < 0.93-room || got > 0.97+room {
				t.Errorf("covered %.4f", got)
			}
		})
	}
}

// TestFewClustersHoldTheirLevel is the same for studies of twelve clusters, where plain formulae and percentiles promise too
// much. Rates may promise too little: whether twelve clusters are of one mind cannot be seen from them.
func TestFewClustersHoldTheirLevel(t *testing.T) {
	t.Parallel()
	room := 3 * math.Sqrt(0.95*0.05/float64(*replications))
	if *replications >= 2000 {
		room = 0
	}
	for name, study := range map[string]func(r *rand.Rand) (held, of int){
		"rates, even":                 proveRates(12, 0.3, func(*rand.Rand) int { return 3 }),
		"rates, uneven":               proveRates(12, 0.5, func(r *rand.Rand) int { return 1 + r.IntN(6) }),
		"rates, rare":                 proveRates(12, 0.1, func(r *rand.Rand) int { return 1 + r.IntN(6) }),
		"means, uneven":               proveFewMeans,
		"Bradley-Terry by resampling": proveFewStrengths,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := covers(2026, study)
			t.Logf("%d studies: %.2f%% of the intervals hold the truth", *replications, 100*got)
			if got < 0.93-room || got == 1 {
				t.Errorf("covered %.4f", got)
			}
		})
	}
}

// proveRates: clusters of so many answers each, half of the clusters of one mind.
func proveRates(clusters int, share float64, size func(*rand.Rand) int) func(r *rand.Rand) (held, of int) {
	return func(r *rand.Rand) (held, of int) {
		counts := make([]Count, clusters)
		for g := range counts {
			own, alike := oneIf(r.Float64() < share), r.Float64() < 0.5
			counts[g].N = size(r)
			for range counts[g].N {
				if !alike {
					own = oneIf(r.Float64() < share)
				}
				counts[g].K += int(own)
			}
		}
		rate, err := RateByCluster(counts, 0.95)
		if err != nil {
			return 0, 1
		}
		return int(oneIf(rate.Interval.Contains(share))), 1
	}
}

// proveFewMeans: twelve clusters of one to six scores, with a level of their own.
func proveFewMeans(r *rand.Rand) (held, of int) {
	totalsOf := make([]Total, 12)
	for g := range totalsOf {
		own := 0.7 * r.NormFloat64()
		totalsOf[g].N = 1 + r.IntN(6)
		for range totalsOf[g].N {
			totalsOf[g].Sum += 3 + own + r.NormFloat64()
		}
	}
	return int(oneIf(MeanByCluster(totalsOf, 0.95).Interval.Contains(3))), 1
}

// proveFewStrengths: four items meet on twelve prompts, every two both ways round, twice.
func proveFewStrengths(r *rand.Rand) (held, of int) {
	theta := []float64{-0.8, -0.2, 0.3, 0.7}
	var p Pairs
	var cluster []uint32
	for g := range 12 {
		for i := range theta {
			for j := range theta {
				if i == j {
					continue
				}
				for range 2 {
					won := SecondWon
					if r.Float64() < logistic(theta[i]-theta[j]) {
						won = FirstWon
					}
					p.Append(uint16(i), uint16(j), won)
					cluster = append(cluster, uint32(g))
				}
			}
		}
	}
	grouped, err := Group(len(theta), p, cluster)
	if err != nil {
		return 0, 1
	}
	boot, err := BootstrapBT(grouped, BTOptions{}, 200, r.Uint64())
	if err != nil {
		return 0, 1
	}
	for i := range theta {
		of++
		held += int(oneIf(boot.Strength(i).Student(Known(boot.Fit.Theta[i]), 0.95, 12).Contains(theta[i])))
	}
	return held, of
}

// proveStrengths: eight items meet on 200 prompts, every two once on each, three judges who always agree.
func proveStrengths(r *rand.Rand) (held, of int) {
	theta := []float64{-1.2, -0.7, -0.3, -0.1, 0.1, 0.4, 0.7, 1.1}
	var p Pairs
	var cluster []uint32
	for g := range 200 {
		for i := range theta {
			for j := i + 1; j < len(theta); j++ {
				won := SecondWon
				if r.Float64() < logistic(theta[i]-theta[j]) {
					won = FirstWon
				}
				for range 3 {
					p.Append(uint16(i), uint16(j), won)
					cluster = append(cluster, uint32(g))
				}
			}
		}
	}
	grouped, err := Group(len(theta), p, cluster)
	if err != nil {
		return 0, 1
	}
	fit, err := FitBT(grouped.Tally(), BTOptions{})
	if err != nil {
		return 0, 1
	}
	c, err := fit.ClusterRobust(grouped, CR1)
	if err != nil {
		return 0, 1
	}
	for i, se := range c.SE() {
		of++
		held += int(oneIf(NormalInterval(fit.Theta[i], se, 0.95).Contains(theta[i])))
	}
	return held, of
}

// provePairs: two lanes on the same 150 items, right or wrong, that tend to be right on the same ones.
func provePairs(r *rand.Rand) (held, of int) {
	first, second := make([]bool, 150), make([]bool, 150)
	for i := range first {
		easy := r.Float64() < 0.5
		a, b := 0.45, 0.35
		if easy {
			a, b = 0.9, 0.8
		}
		first[i], second[i] = r.Float64() < a, r.Float64() < b
	}
	table, err := NewPairTable(first, second)
	if err != nil {
		return 0, 1
	}
	return int(oneIf(table.Difference(0.95).Interval.Contains(0.1))), 1
}

// proveClusteredPairs: differences of scores on three items of each of 60 clusters.
func proveClusteredPairs(r *rand.Rand) (held, of int) {
	var d []float64
	var clusters []int
	for g := range 60 {
		own := 0.5 * r.NormFloat64()
		for range 3 {
			d, clusters = append(d, 0.2+own+r.NormFloat64()), append(clusters, g)
		}
	}
	return int(oneIf(MeanByCluster(totalsOf(d, clusters), 0.95).Interval.Contains(0.2))), 1
}
