package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Covariance is the joint uncertainty of a fit: strengths with mean 0, then order effect, then log nu. The error of a
// single strength is against the mean of all; to compare two items take [Covariance.Difference].
type Covariance struct {
	items, order, nu int
	matrix           *mat.SymDense
}

// Covariance is the model-based covariance: the inverse of the information. It holds when comparisons are independent and
// the model is right; with half ties it is wrong in principle, because a tie is not half a coin toss. Under a ridge it is
// the posterior spread that the penalty implies.
func (f *BTFit) Covariance() (*Covariance, error) {
	m := f.model
	w := newWorkspace(m.size)
	m.evaluate(m.point(f.beta, nil), w)
	raw := w.info.RawSymmetric()
	if !w.chol.Factorize(w.info) {
		return nil, errors.New("invert the information of the fit: it is singular")
	}
	inverse := mat.NewSymDense(m.size, nil)
	if err := w.chol.InverseTo(inverse); err != nil {
		return nil, fmt.Errorf("invert the information of the fit: %w", err)
	}
	// The shift of all strengths is an eigenvector; what the inverse says about it is our own pin, and goes.
	shift := mat.NewVecDense(m.size, nil)
	for i := range m.items {
		shift.SetVec(i, 1)
	}
	moved := mat.NewVecDense(m.size, nil)
	moved.MulVec(mat.NewSymDense(m.size, raw.Data), shift)
	inverse.SymRankOne(inverse, -1/(float64(m.items)*moved.AtVec(0)), shift)
	return m.covariance(inverse), nil
}

func (m *model) covariance(matrix *mat.SymDense) *Covariance {
	return &Covariance{items: m.items, order: m.order, nu: m.nu, matrix: matrix}
}

// Sandwich is the covariance that needs no more than independent comparisons (HC0): right also with half ties and where
// the model does not hold.
func (f *BTFit) Sandwich() (*Covariance, error) {
	bread, err := f.Covariance()
	if err != nil {
		return nil, err
	}
	m := f.model
	at := m.point(f.beta, nil)
	meat := mat.NewSymDense(m.size, nil)
	raw := meat.RawSymmetric()
	for k := range m.cells {
		m.addInformation(raw.Data, raw.Stride, &m.cells[k], at.squares(&m.cells[k]))
	}
	return bread.around(meat), nil
}

// around is bread, meat, bread.
func (c *Covariance) around(meat *mat.SymDense) *Covariance {
	size := c.matrix.SymmetricDim()
	bread := mat.DenseCopyOf(c.matrix) // general products are blocked, symmetric ones are not
	var half, whole mat.Dense
	half.Mul(bread, mat.DenseCopyOf(meat))
	whole.Mul(&half, bread)
	out := mat.NewSymDense(size, nil)
	for i := range size {
		for j := i; j < size; j++ {
			out.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
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
		meat.ScaleSym(float64(g.Clusters())/float64(g.Clusters()-1), meat)
	}
	return bread.around(meat), nil
}

// At is the covariance of the strengths of items i and j.
func (c *Covariance) At(i, j int) float64 { return c.matrix.At(i, j) }

// Items is the number of strengths.
func (c *Covariance) Items() int { return c.items }

// SE are the standard errors of the strengths against their mean.
func (c *Covariance) SE() []float64 {
	se := make([]float64, c.items)
	for i := range se {
		se[i] = math.Sqrt(max(0, c.matrix.At(i, i)))
	}
	return se
}

// Difference is the standard error of the difference of two strengths.
func (c *Covariance) Difference(i, j int) float64 {
	return math.Sqrt(max(0, c.matrix.At(i, i)+c.matrix.At(j, j)-2*c.matrix.At(i, j)))
}

// Against is the covariance of two strengths when a third stands at 0.
func (c *Covariance) Against(ref, i, j int) float64 {
	return c.matrix.At(i, j) - c.matrix.At(i, ref) - c.matrix.At(ref, j) + c.matrix.At(ref, ref)
}

// OrderAgainst is the covariance of the order effect and a strength when another strength stands at 0.
func (c *Covariance) OrderAgainst(ref, i int) Number {
	if c.order == 0 {
		return Undefined("no order effect in the model")
	}
	return Known(c.matrix.At(i, c.order) - c.matrix.At(ref, c.order))
}

// OrderSE is the standard error of the order effect.
func (c *Covariance) OrderSE() Number { return c.extraSE(c.order, "no order effect in the model") }

// LogNuSE is the standard error of log nu.
func (c *Covariance) LogNuSE() Number { return c.extraSE(c.nu, "no tie parameter in the model") }

func (c *Covariance) extraSE(at int, why string) Number {
	if at == 0 {
		return Undefined("%s", why)
	}
	return Known(math.Sqrt(max(0, c.matrix.At(at, at))))
}

// Wald is an estimate held against 0.
type Wald struct {
	Estimate, SE, Z, P Number
}

// OrderTest asks whether the position matters: the order effect against 0.
func (f *BTFit) OrderTest(c *Covariance) Wald { return wald(f.Order, c.OrderSE()) }

func wald(estimate, se Number) Wald {
	w := Wald{Estimate: estimate, SE: se}
	switch {
	case !estimate.OK:
		w.Z, w.P = estimate, estimate
	case !se.OK || se.Value == 0:
		w.Z = Undefined("no standard error")
		w.P = w.Z
	default:
		w.Z = Known(estimate.Value / se.Value)
		w.P = Known(normalTail(w.Z.Value))
	}
	return w
}
