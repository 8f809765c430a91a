package stats

import (
	"fmt"
	"math"
)

// QuasiVariances give each item a variance of its own such that the variance of any difference is nearly the sum of two
// (Firth and de Menezes). They minimise the squared log ratio over all pairs, and may be negative for single items. The
// iteration starts and stops as the R package qvcalc does, so that tables agree in every digit.
func (c *Covariance) QuasiVariances() ([]float64, error) {
	if c.items < 3 {
		return nil, fmt.Errorf("quasi-variances: %d items, they need three", c.items)
	}
	target := differences(c.items, c.Difference)
	for k := range target {
		if target[k] *= target[k]; target[k] == 0 {
			return nil, fmt.Errorf("quasi-variances: two items do not differ in error")
		}
	}
	const maxSteps, settled = 100, 1e-8
	at, loss := append([]float64(nil), target...), 0.0
	var q []float64
	for range maxSteps {
		next, err := quasiStep(c.items, at, target)
		if err != nil {
			return nil, err
		}
		for half := 0; !quasiSums(next, at); half++ {
			if q == nil || half > 30 {
				return nil, fmt.Errorf("quasi-variances: the variances of differences are no sums")
			}
			for i := range next {
				next[i] = (next[i] + q[i]) / 2
			}
		}
		q = next
		before := loss
		loss = quasiLoss(at, target)
		if math.Abs(loss-before) < settled*(loss+0.1) {
			return q, nil
		}
	}
	return nil, fmt.Errorf("quasi-variances: not settled in %d steps", maxSteps)
}

// quasiSums writes the sum of every two variances and reports whether all are positive.
func quasiSums(q, sums []float64) bool {
	k, positive := 0, true
	for i := range q {
		for j := range i {
			sums[k] = q[i] + q[j]
			positive = positive && sums[k] > 0
			k++
		}
	}
	return positive
}

// quasiLoss is the sum of squared log ratios.
func quasiLoss(at, target []float64) float64 {
	loss := 0.0
	for k := range at {
		loss += square(math.Log(target[k] / at[k]))
	}
	return loss
}

// quasiStep is a Gauss-Newton step: least squares on the sums, weighted to act on the log scale.
func quasiStep(items int, at, target []float64) ([]float64, error) {
	normal, side := newSymmetric(items), make([]float64, items)
	k := 0
	for i := range items {
		for j := range i {
			weight := 1 / square(at[k])
			z := weight * at[k] * (1 + math.Log(target[k]/at[k]))
			side[i] += z
			side[j] += z
			normal.set(i, i, normal.at(i, i)+weight)
			normal.set(j, j, normal.at(j, j)+weight)
			normal.set(i, j, weight)
			k++
		}
	}
	var chol cholesky
	if !chol.factorize(normal) || !chol.solve(side) {
		return nil, fmt.Errorf("quasi-variances: singular step")
	}
	return side, nil
}
