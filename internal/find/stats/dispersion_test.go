package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// comparedTexts are texts of which pairs are drawn, each judged so often in both orders, with a view of the pair that all
// judges share.
func comparedTexts(t *testing.T, r *rand.Rand, theta []float64, pairs, judges int, shared float64) *Grouped {
	t.Helper()
	var all [][2]int
	for i := range theta {
		for j := range i {
			all = append(all, [2]int{j, i})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var p Pairs
	var cluster []uint32
	for c, two := range all[:pairs] {
		ahead := theta[two[0]] - theta[two[1]] + shared*r.NormFloat64()
		for k := range 2 * judges {
			first, second, x := two[0], two[1], ahead
			if k%2 == 1 {
				first, second, x = second, first, -x
			}
			won := SecondWon
			if r.Float64() < logistic(x) {
				won = FirstWon
			}
			p.Append(uint16(first), uint16(second), won)
			cluster = append(cluster, uint32(c))
		}
	}
	g, err := Group(len(theta), p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestFewPairsOfManyTextsClaimNothingThatIsNotThere(t *testing.T) {
	t.Parallel()
	const texts, studies = 20, 60
	for _, pairs := range []int{40, 100} {
		for _, shared := range []float64{0, 0.8} {
			held, intervals, claimed, robust := 0, 0, 0, 0
			for k := range studies {
				g := comparedTexts(t, rand.New(rand.NewPCG(uint64(pairs), uint64(k))), make([]float64, texts), pairs, 10, shared)
				if !g.ByPair() {
					t.Fatal("a cluster is a pair")
				}
				f, err := FitBT(g.Tally(), BTOptions{Order: true})
				if err != nil {
					continue
				}
				d, err := f.Dispersion(g)
				if err != nil {
					t.Fatal(err)
				}
				c := mustCovariance(t, f.Covariance).Widened(d.Factor)
				for i, se := range c.SE() {
					intervals++
					held += int(oneIf(StudentInterval(f.Theta[i], se, 0.95, d.Units()).Contains(0)))
				}
				cr1, err := f.ClusterRobust(g, CR1)
				if err != nil {
					t.Fatal(err)
				}
				claimed += int(oneIf(claims(t, f.Theta, c.Difference, d.Units())))
				robust += int(oneIf(claims(t, f.Theta, cr1.Difference, pairs)))
			}
			if share := float64(held) / float64(intervals); share < 0.935 || share > 0.975 {
				t.Errorf("%d pairs, shared view %g: %.1f%% of intervals hold", pairs, shared, 100*share)
			}
			if claimed > studies/12 || robust < studies/10 {
				t.Errorf("%d pairs, shared view %g: %d of %d studies claim what is not so (CR1: %d)", pairs, shared, claimed,
					studies, robust)
			}
		}
	}
}

// claims reports whether any two are told apart (Holm).
func claims(t *testing.T, theta []float64, spread func(i, j int) float64, units int) bool {
	t.Helper()
	var p []float64
	for i := range theta {
		for j := range i {
			p = append(p, StudentTest(Known(theta[i]-theta[j]), Known(spread(i, j)), units).Value)
		}
	}
	adjusted, err := Holm(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range adjusted {
		if v < 0.05 {
			return true
		}
	}
	return false
}

func TestDispersionIsPearsonsStatisticByItsDegreesOfFreedom(t *testing.T) {
	t.Parallel()
	var p Pairs
	var cluster []uint32
	won := [][3]int{{0, 1, 7}, {0, 2, 9}, {1, 2, 2}, {2, 3, 6}, {1, 3, 5}} // of 10
	for c, w := range won {
		for k := range 10 {
			result := SecondWon
			if k < w[2] {
				result = FirstWon
			}
			p.Append(uint16(w[0]), uint16(w[1]), result)
			cluster = append(cluster, uint32(c))
		}
	}
	g, err := Group(4, p, cluster)
	if err != nil {
		t.Fatal(err)
	}
	f := mustFit(t, g.Tally(), BTOptions{})
	d, err := f.Dispersion(g)
	if err != nil {
		t.Fatal(err)
	}
	pearson := 0.0
	for _, w := range won {
		q := logistic(f.Theta[w[0]] - f.Theta[w[1]])
		pearson += square(float64(w[2])-10*q) / (10 * q * (1 - q))
	}
	if math.Abs(d.Free-2) > 1e-9 || math.Abs(d.Factor-pearson/2) > 1e-9 || d.Units() != 3 {
		t.Errorf("factor %g with %g degrees of freedom and %d units, want %g with 2 and 3", d.Factor, d.Free, d.Units(), pearson/2)
	}
}

// Clusters of one pair each are thin where pairs share none, or where several items have few of them; never where items are few.
func TestWhichClustersAreThin(t *testing.T) {
	t.Parallel()
	byPair := func(items, times int) bool {
		var p Pairs
		var cluster []uint32
		for i := range items {
			for j := range i {
				for range times {
					p.Append(uint16(j), uint16(i), FirstWon)
					cluster = append(cluster, uint32(len(cluster)))
				}
			}
		}
		g, err := Group(items, p, cluster)
		if err != nil {
			t.Fatal(err)
		}
		return g.ByPair()
	}
	for _, c := range []struct {
		items, times int
		want         bool
	}{{3, 1, true}, {3, 2, false}, {4, 2, true}, {4, 13, true}, {4, 14, false}} {
		if got := byPair(c.items, c.times); got != c.want {
			t.Errorf("%d items, each pair in %d clusters: %t", c.items, c.times, got)
		}
	}
}
