package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Covariance is the joint uncertainty of a fit: strengths with mean 0, then order effect, then log nu. The error of a
// single strength is against the mean of all; to compare two items take [Covariance.Difference].
type Covariance struct {
	items, order, nu int
	matrix           *symmetric
}

// Covariance returns the model-based covariance: the inverse of the information. It holds when comparisons are
// independent and the model is right; with half ties it is wrong in principle, because a tie is not half a coin toss.
// Under a ridge it is the posterior spread that the penalty implies.
func (f *BTFit) Covariance() (*Covariance, error) {
	m := f.model
	w := newWorkspace(m.size)
	m.evaluate(m.point(f.beta, nil), w)
	if !w.chol.factorize(w.info) {
		return nil, errors.New("invert the information of the fit: it is singular")
	}
	inverse, ok := w.chol.inverse()
	if !ok {
		return nil, fmt.Errorf("invert the information of the fit: its condition number is %.4e", w.chol.condition)
	}
	// The shift of all strengths is an eigenvector; its part of the inverse comes from our own pin, and is removed.
	moved := 0.0
	for i := range m.items {
		moved += w.info.at(0, i)
	}
	by := 1 / (float64(m.items) * moved)
	for i := range m.items {
		for j := i; j < m.items; j++ {
			inverse.set(i, j, inverse.at(i, j)-by)
		}
	}
	return m.covariance(inverse), nil
}

func (m *model) covariance(matrix *symmetric) *Covariance {
	return &Covariance{items: m.items, order: m.order, nu: m.nu, matrix: matrix}
}

// around is bread, meat, bread.
func (c *Covariance) around(meat *symmetric) *Covariance {
	size := c.matrix.n
	bread := c.matrix.whole() // general products are blocked, symmetric ones are not
	whole := product(size, product(size, bread, meat.whole()), bread)
	out := newSymmetric(size)
	for i := range size {
		for j := i; j < size; j++ {
			out.set(i, j, (whole[i*size+j]+whole[j*size+i])/2)
		}
	}
	return &Covariance{items: c.items, order: c.order, nu: c.nu, matrix: out}
}

// Correction is the small-sample factor of a cluster-robust covariance.
type Correction uint8

// The corrections.
const (
	CR1 Correction = iota // G/(G-1), G clusters
	CR0                   // none
)

// ClusterRobust returns the covariance when only clusters are independent, not the comparisons in them. It needs many
// clusters: below [FewClusters], or with fewer clusters than items, prefer the bootstrap.
func (f *BTFit) ClusterRobust(g *Grouped, correction Correction) (*Covariance, error) {
	if g.tally.items != f.model.items {
		return nil, fmt.Errorf("cluster-robust errors: %d items in the clusters, %d in the fit", g.tally.items, f.model.items)
	}
	if g.Clusters() < 2 {
		return nil, fmt.Errorf("cluster-robust errors: %d cluster", g.Clusters())
	}
	bread, err := f.Covariance()
	if err != nil {
		return nil, err
	}
	meat := newScores(f, g).squares()
	if correction == CR1 {
		by := float64(g.Clusters()) / float64(g.Clusters()-1)
		for k := range meat.data {
			meat.data[k] *= by
		}
	}
	return bread.around(meat), nil
}

// SE returns the standard errors of the strengths against their mean.
func (c *Covariance) SE() []float64 {
	se := make([]float64, c.items)
	for i := range se {
		se[i] = math.Sqrt(max(0, c.matrix.at(i, i)))
	}
	return se
}

// Difference returns the standard error of the difference of two strengths.
func (c *Covariance) Difference(i, j int) float64 {
	return math.Sqrt(max(0, c.matrix.at(i, i)+c.matrix.at(j, j)-2*c.matrix.at(i, j)))
}

// Between returns the covariance of two strengths.
func (c *Covariance) Between(i, j int) float64 { return c.matrix.at(i, j) }

// OrderSE returns the standard error of the order effect.
func (c *Covariance) OrderSE() Number { return c.extraSE(c.order, "no order effect in the model") }

// LogNuSE returns the standard error of the log of the tie parameter.
func (c *Covariance) LogNuSE() Number { return c.extraSE(c.nu, "no tie parameter in the model") }

func (c *Covariance) extraSE(at int, why string) Number {
	if at == 0 {
		return Undefined("%s", why)
	}
	return Known(math.Sqrt(max(0, c.matrix.at(at, at))))
}

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

// quasiLoss returns the sum of squared log ratios.
func quasiLoss(at, target []float64) float64 {
	loss := 0.0
	for k := range at {
		loss += square(math.Log(target[k] / at[k]))
	}
	return loss
}

// quasiStep returns a Gauss-Newton step: least squares on the sums, weighted to act on the log scale.
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

// scores are the gradients of a fit's clusters.
type scores struct {
	model   *model
	grouped *Grouped
	chances []chance // by cell
}

// chance holds the expectations of one comparison: the score of the item shown first, and a tie.
type chance struct{ mu, tie float64 }

// newScores asks the fit once about each cell, however many clusters have a part in it.
func newScores(f *BTFit, g *Grouped) *scores {
	s := &scores{model: f.model, grouped: g, chances: make([]chance, len(g.cells))}
	at := f.model.point(f.beta, nil)
	for k, c := range g.cells {
		first, _, tie := at.chances(c.i, c.j)
		s.chances[k] = chance{first + tie/2, tie}
	}
	return s
}

// of fills in the gradient of one cluster.
func (s *scores) of(cluster int, grad []float64) {
	clear(grad)
	for part := range s.grouped.cluster(cluster) {
		at := s.chances[part.cell]
		first, second, tie := float64(part.first), float64(part.second), float64(part.tie)
		n := first + second + tie
		s.model.addGradient(grad, &s.grouped.cells[part.cell], pull{advantage: first + tie/2 - n*at.mu, nu: tie - n*at.tie})
	}
}

const (
	scoreBlock = 256 // clusters whose gradients are held at once
	scoreRows  = 16  // rows of the sum that stay close at hand while a block is added to them
)

// squares returns the sum over clusters of the gradient times itself. Each element is added up in the order of the
// clusters, whichever goroutine does it.
func (s *scores) squares() *symmetric {
	size, clusters := s.model.size, s.grouped.Clusters()
	sum := newSymmetric(size)
	block := make([][]float64, min(scoreBlock, clusters))
	for k := range block {
		block[k] = make([]float64, size)
	}
	for from := 0; from < clusters; from += len(block) {
		held := block[:min(len(block), clusters-from)]
		together(len(held)*size, len(held), func(k int) { s.of(from+k, held[k]) })
		together(len(held)*size*size, (size+scoreRows-1)/scoreRows, func(tile int) {
			for _, grad := range held {
				for i := tile * scoreRows; i < min(size, (tile+1)*scoreRows); i++ {
					if v := grad[i]; v != 0 {
						floats.AddScaled(sum.data[i*size+i:(i+1)*size], v, grad[i:])
					}
				}
			}
		})
	}
	return sum
}

// together does so many pieces of work, on all cores where there is enough of it.
func together(work, pieces int, do func(piece int)) {
	const enough = 20_000
	if work < enough {
		for k := range pieces {
			do(k)
		}
		return
	}
	replicate(pieces, func() struct{} { return struct{}{} }, func(_ struct{}, k int) { do(k) })
}
