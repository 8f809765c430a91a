package stats

import (
	"errors"
	"fmt"
	"math"
)

// Covariance is the joint uncertainty of a fit: strengths with mean 0, then order effect, then log nu. The error of a
// single strength is against the mean of all; to compare two items take [Covariance.Difference].
type Covariance struct {
	items, order, nu int
	matrix           *symmetric
}

// Covariance is the model-based covariance: the inverse of the information. It holds when comparisons are independent and
// the model is right; with half ties it is wrong in principle, because a tie is not half a coin toss. Under a ridge it is
// the posterior spread that the penalty implies.
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
	// The shift of all strengths is an eigenvector; what the inverse says about it is our own pin, and goes.
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

// ClusterRobust is the covariance when only clusters are independent, not the comparisons in them. It needs many
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

// SE are the standard errors of the strengths against their mean.
func (c *Covariance) SE() []float64 {
	se := make([]float64, c.items)
	for i := range se {
		se[i] = math.Sqrt(max(0, c.matrix.at(i, i)))
	}
	return se
}

// Difference is the standard error of the difference of two strengths.
func (c *Covariance) Difference(i, j int) float64 {
	return math.Sqrt(max(0, c.matrix.at(i, i)+c.matrix.at(j, j)-2*c.matrix.at(i, j)))
}

// Between is the covariance of two strengths.
func (c *Covariance) Between(i, j int) float64 { return c.matrix.at(i, j) }

// OrderSE is the standard error of the order effect.
func (c *Covariance) OrderSE() Number { return c.extraSE(c.order, "no order effect in the model") }

// LogNuSE is the standard error of the log of the tie parameter.
func (c *Covariance) LogNuSE() Number { return c.extraSE(c.nu, "no tie parameter in the model") }

func (c *Covariance) extraSE(at int, why string) Number {
	if at == 0 {
		return Undefined("%s", why)
	}
	return Known(math.Sqrt(max(0, c.matrix.at(at, at))))
}
