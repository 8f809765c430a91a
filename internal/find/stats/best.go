package stats

import (
	"math"
)

// BestChances are the chances that each value is the highest, were they drawn again round what was found: with Student's t of the clusters, and
// together, from the errors of all differences. A flat prior gives the same numbers. Equal draws share the chance. They do not exist where
// an error is not known.
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

// centred is the covariance of values round their mean that has these variances of differences.
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
