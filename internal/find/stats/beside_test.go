package stats

import (
	"math"
)

// What reference programs print beside the numbers that commands print, computed from the same fits.

// Mean returns the mean over resamples.
func (r Replicates) Mean() Number { return Mean(r.Values) }

// WinProbability returns the chance that i, shown first, beats j.
func (f *BTFit) WinProbability(i, j int) float64 {
	first, _, _ := f.model.point(f.beta, nil).chances(int32(i), int32(j))
	return first
}

// Sandwich returns the covariance that needs no more than independent comparisons (HC0): right also with half ties and
// where the model does not hold.
func (f *BTFit) Sandwich() (*Covariance, error) {
	bread, err := f.Covariance()
	if err != nil {
		return nil, err
	}
	m := f.model
	at := m.point(f.beta, nil)
	meat := newSymmetric(m.size)
	for k := range m.cells {
		m.addInformation(meat.data, meat.n, &m.cells[k], at.squares(&m.cells[k]))
	}
	return bread.around(meat), nil
}

// Items returns the number of strengths.
func (c *Covariance) Items() int { return c.items }

// Against returns the covariance of two strengths when a third is fixed at 0.
func (c *Covariance) Against(ref, i, j int) float64 {
	return c.matrix.at(i, j) - c.matrix.at(i, ref) - c.matrix.at(ref, j) + c.matrix.at(ref, ref)
}

// OrderAgainst returns the covariance of the order effect and a strength when another strength is fixed at 0.
func (c *Covariance) OrderAgainst(ref, i int) Number {
	if c.order == 0 {
		return Undefined("no order effect in the model")
	}
	return Known(c.matrix.at(i, c.order) - c.matrix.at(ref, c.order))
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

// Goodness is how far the data are from the model, against one free probability for each ordered pair and result.
type Goodness struct {
	Deviance float64
	DF       int
	// BinomialLogLik is the log likelihood with its combinatorial terms, as generalised linear model software prints
	// it; half counts are rounded to even there.
	BinomialLogLik Number
}

// Goodness compares the fit with the tally it was made from, which must not have grown since.
func (f *BTFit) Goodness() Goodness {
	m := f.model
	g := Goodness{BinomialLogLik: Known(0), DF: -(m.size - 1)}
	at := m.point(f.beta, nil)
	for _, c := range f.tally.cells() {
		first, second, tie := at.chances(c.i, c.j)
		n := c.n()
		if m.nu > 0 {
			g.DF += 2
			g.Deviance += excess(c.first, n*first) + excess(c.second, n*second) + excess(c.tie, n*tie)
			continue
		}
		g.DF++
		y := c.score()
		g.Deviance += excess(y, n*first) + excess(n-y, n*second)
		k, whole := math.RoundToEven(y), math.RoundToEven(n)
		g.BinomialLogLik.Value += logChoose(whole, k) + k*math.Log(first) + (whole-k)*math.Log(second)
	}
	if m.nu > 0 {
		g.BinomialLogLik = Undefined("with a tie parameter the results are not binomial")
	}
	return g
}

// excess returns the deviance of a count against its expectation.
func excess(seen, expected float64) float64 {
	if seen == 0 {
		return 0
	}
	return 2 * seen * math.Log(seen/expected)
}

// squares returns the sum over a cell's comparisons of the squared gradient.
func (p *point) squares(c *cell) pull {
	first, _, tie := p.chances(c.i, c.j)
	mu := first + tie/2
	won, lost, tied := 1-mu, -mu, 0.5-mu
	return pull{
		aa: c.first*won*won + c.second*lost*lost + c.tie*tied*tied,
		an: -tie*(c.first*won+c.second*lost) + (1-tie)*c.tie*tied,
		nn: (c.first+c.second)*tie*tie + c.tie*square(1-tie),
	}
}
