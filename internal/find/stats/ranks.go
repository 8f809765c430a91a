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

// Ranks are simultaneous rank intervals by the largest standardised difference over the resamples, which is taken to be
// larger where clusters are few, as Student's t is than a normal score.
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

// root returns a matrix whose square is the covariance of the strengths.
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

// largestT returns the largest standardised difference.
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

// Same reports whether two values differ by rounding alone: a fit gives equal contestants strengths that are equal but for the
// last digits.
func Same(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y)) }

// rankIntervals counts for each item who is certainly better and who certainly worse.
func rankIntervals(theta []float64, better func(i, j int) bool) []RankInterval {
	out := make([]RankInterval, len(theta))
	for i := range theta {
		r := RankInterval{Rank: 1, Best: 1, Worst: len(theta)}
		for j := range theta {
			if j == i {
				continue
			}
			if theta[j] > theta[i] && !Same(theta[i], theta[j]) {
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

// BestChances returns the chances that each value is the highest, were they drawn again round what was found: with
// Student's t of the clusters, and together, from the errors of all differences. A flat prior gives the same numbers.
// Equal draws share the chance. They do not exist where an error is not known.
func BestChances(values []float64, difference func(i, j int) Number, clusters, draws int, seed uint64) []Number {
	n := len(values)
	out := make([]Number, n)
	fill := func(why string) []Number {
		for i := range out {
			out[i] = Undefined("%s", why)
		}
		return out
	}
	if n < 2 || clusters < 2 || draws < 1 {
		return fill("it takes two with errors from two clusters")
	}
	spread := newSymmetric(n)
	for i := range n {
		for j := range i {
			se := difference(i, j)
			if !se.OK {
				return fill("the error of a difference is not known")
			}
			spread.set(i, j, se.Value*se.Value)
		}
	}
	root, ok := spread.centred().root()
	if !ok {
		return fill("the errors have no common distribution")
	}
	won := make([][]float64, draws)
	replicate(draws, func() []float64 { return make([]float64, 2*n) }, func(w []float64, k int) {
		r := stream(seed, k)
		z, x := w[:n], w[n:]
		for i := range z {
			z[i] = r.NormFloat64()
		}
		wide := 0.0 // a chi-square of the degrees of freedom
		for range min(clusters-1, mostNormal) {
			g := r.NormFloat64()
			wide += g * g
		}
		scale := math.Sqrt(float64(min(clusters-1, mostNormal)) / wide)
		times(n, root, z, x)
		for i := range x {
			x[i] = values[i] + scale*x[i]
		}
		won[k] = highest(x)
	})
	sums := make([]float64, n)
	for _, w := range won {
		for i, share := range w {
			sums[i] += share
		}
	}
	for i := range out {
		out[i] = Known(sums[i] / float64(draws))
	}
	return out
}

// mostNormal is from how many degrees of freedom on Student's t is taken for that of so many.
const mostNormal = 200

// centred returns the covariance of values round their mean that has these variances of differences.
func (s *symmetric) centred() *symmetric {
	n := float64(s.n)
	rows, all := make([]float64, s.n), 0.0
	for i := range s.n {
		for j := range s.n {
			if i != j {
				rows[i] += s.at(i, j) / n
			}
		}
		all += rows[i] / n
	}
	out := newSymmetric(s.n)
	for i := range s.n {
		for j := i; j < s.n; j++ {
			d := 0.0
			if i != j {
				d = s.at(i, j)
			}
			out.set(i, j, (rows[i]+rows[j]-all-d)/2)
		}
	}
	return out
}

// highest shares one among the largest values.
func highest(x []float64) []float64 {
	top, n := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, v)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		if top-v <= 1e-12*math.Abs(top) {
			out[i], n = 1, n+1
		}
	}
	for i := range out {
		out[i] /= n
	}
	return out
}
