package stats

import (
	"fmt"
	"math"
	"slices"
)

// RankInterval is an item's rank (1 is best) and the ranks it may have; all intervals of a table hold together at the
// level they were made for.
type RankInterval struct {
	Rank, Best, Worst int
}

// MaxTRanks are simultaneous rank intervals by the largest standardised difference (max-t), whose distribution is drawn
// from the covariance; sharper than Holm's where strengths are correlated.
func MaxTRanks(theta []float64, c *Covariance, level float64, draws int, seed uint64) ([]RankInterval, error) {
	if err := checkRanks(theta, c.items, level); err != nil {
		return nil, err
	}
	if draws < 1 {
		return nil, fmt.Errorf("rank items: %d draws", draws)
	}
	root, err := c.root()
	if err != nil {
		return nil, err
	}
	spread := differences(len(theta), c.Difference)
	top := make([]float64, draws)
	replicate(draws, func() []float64 { return make([]float64, len(theta)) }, func(x []float64, k int) {
		r := stream(seed, k)
		z := make([]float64, len(theta))
		for i := range z {
			z[i] = r.NormFloat64()
		}
		times(len(z), root, z, x)
		top[k] = largestT(x, spread)
	})
	return cut(theta, spread, Replicates{Values: top}, level)
}

// Ranks are simultaneous rank intervals by the largest standardised difference over the resamples, which is taken to be larger
// where clusters are few, as Student's t is than a normal score.
func (b *BTBootstrap) Ranks(level float64) ([]RankInterval, error) {
	theta := b.Fit.Theta
	if err := checkRanks(theta, len(theta), level); err != nil {
		return nil, err
	}
	spread := differences(len(theta), b.Difference)
	top := make([]float64, len(b.Theta))
	replicate(len(top), func() []float64 { return make([]float64, len(theta)) }, func(x []float64, k int) {
		for i := range x {
			x[i] = b.Theta[k][i] - theta[i]
		}
		top[k] = largestT(x, spread)
	})
	if z, t := criticalZ(level), criticalT(level, b.Clusters-1); t.OK {
		for k := range top {
			top[k] *= t.Value / z.Value
		}
	}
	return cut(theta, spread, Replicates{Values: top, Undefined: b.Undefined}, level)
}

func checkRanks(theta []float64, items int, level float64) error {
	if len(theta) != items || items == 0 {
		return fmt.Errorf("rank items: %d strengths with a covariance of %d", len(theta), items)
	}
	if !validLevel(level) {
		return fmt.Errorf("rank items: %s", badLevel(level).Why)
	}
	return nil
}

// root is a matrix whose square is the covariance of the strengths.
func (c *Covariance) root() ([]float64, error) {
	sub := newSymmetric(c.items)
	for i := range c.items {
		for j := i; j < c.items; j++ {
			sub.set(i, j, c.matrix.at(i, j))
		}
	}
	root, ok := sub.root()
	if !ok {
		return nil, fmt.Errorf("rank items: no eigenvalues of the covariance")
	}
	return root, nil
}

// differences tabulates the error of every difference, row by row below the diagonal.
func differences(n int, of func(i, j int) float64) []float64 {
	table := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			table = append(table, of(i, j))
		}
	}
	return table
}

// largestT is the largest standardised difference.
func largestT(x, spread []float64) float64 {
	top, at := 0.0, 0
	for i := range x {
		for j := range i {
			if s := spread[at]; s > 0 {
				top = max(top, math.Abs(x[i]-x[j])/s)
			}
			at++
		}
	}
	return top
}

// cut reads off the critical value and makes the intervals.
func cut(theta, spread []float64, top Replicates, level float64) ([]RankInterval, error) {
	all := len(top.Values) + top.Undefined
	if float64(top.Undefined) > (1-level)*float64(all) || len(top.Values) == 0 {
		return nil, fmt.Errorf("rank items: %d of %d resamples have no estimate", top.Undefined, all)
	}
	// A resample without an estimate counts as an arbitrarily large difference.
	values := slices.Sorted(slices.Values(top.Values))
	for range top.Undefined {
		values = append(values, math.Inf(1))
	}
	critical := sortedQuantile(values, level)
	return rankIntervals(theta, func(i, j int) bool {
		high, low := max(i, j), min(i, j)
		return theta[i]-theta[j] > critical*spread[high*(high-1)/2+low]
	}), nil
}

// rankIntervals counts for each item who is certainly better and who certainly worse.
func rankIntervals(theta []float64, better func(i, j int) bool) []RankInterval {
	out := make([]RankInterval, len(theta))
	for i := range theta {
		r := RankInterval{Rank: 1, Best: 1, Worst: len(theta)}
		for j := range theta {
			if j == i {
				continue
			}
			if theta[j] > theta[i] {
				r.Rank++
			}
			if better(j, i) {
				r.Best++
			}
			if better(i, j) {
				r.Worst--
			}
		}
		out[i] = r
	}
	return out
}
