package stats

import "math"

// Reliability is the share of the spread of the strengths that is not error: 1 - mean(se^2)/var(theta). It falls below 0
// when there is more error than spread.
func Reliability(theta, se []float64) Number {
	if len(theta) != len(se) {
		return Undefined("%d strengths with %d errors", len(theta), len(se))
	}
	if len(theta) < 2 {
		return Undefined("a spread needs two items, there are %d", len(theta))
	}
	spread := variance(theta)
	if spread == 0 {
		return Undefined("all strengths are equal")
	}
	noise := 0.0
	for _, s := range se {
		noise += s * s
	}
	return Known(1 - noise/float64(len(se))/spread)
}

// Goodness is how far the data are from the model, against one free probability for each ordered pair and result.
type Goodness struct {
	Deviance float64
	DF       int
	// BinomialLogLik is the log likelihood with its combinatorial terms, as generalised linear model software prints it;
	// half counts are rounded to even there.
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

// excess is the deviance of a count against its expectation.
func excess(seen, expected float64) float64 {
	if seen == 0 {
		return 0
	}
	return 2 * seen * math.Log(seen/expected)
}
