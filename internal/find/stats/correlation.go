package stats

import (
	"math"
	"slices"
)

// Pearson returns the linear correlation of paired values.
func Pearson[T float64 | int8](x, y []T) Number {
	if len(x) != len(y) {
		return Undefined("%d values against %d", len(x), len(y))
	}
	if len(x) < 2 {
		return Undefined("a correlation needs two pairs, there are %d", len(x))
	}
	mx, my := mean(x), mean(y)
	var sxx, syy, sxy float64
	for i := range x {
		dx, dy := float64(x[i])-mx, float64(y[i])-my
		sxx, syy, sxy = sxx+dx*dx, syy+dy*dy, sxy+dx*dy
	}
	if sxx == 0 || syy == 0 {
		return Undefined("no variation on one side")
	}
	return Known(max(-1, min(1, sxy/math.Sqrt(sxx*syy))))
}

// Correlation is how far two lists go together, with its error by Fisher's transformation.
type Correlation struct {
	R        Number // -1 to 1
	SE       Number
	Interval Interval
	P        Number // two-sided, of no correlation, by the method of the interval
	N        int
}

// NewPearson returns the linear correlation of paired values.
func NewPearson(x, y []float64, level float64) Correlation {
	return correlation(Pearson(x, y), len(x), level, func(float64) float64 { return 1 })
}

// NewSpearman returns the correlation of their ranks; its variance is that of Bonett and Wright (2000).
func NewSpearman(x, y []float64, level float64) Correlation {
	return correlation(Pearson(midranks(x), midranks(y)), len(x), level, func(r float64) float64 { return 1 + r*r/2 })
}

// correlation adds the error: atanh of r is nearly normal with variance factor/(n-3).
func correlation(r Number, n int, level float64, factor func(r float64) float64) Correlation {
	c := Correlation{R: r, N: n}
	none := func(format string, args ...any) Correlation {
		c.SE = Undefined(format, args...)
		c.P, c.Interval = c.SE, NoInterval("%s", c.SE.Why)
		return c
	}
	switch {
	case !r.OK:
		return none("%s", r.Why)
	case n < 4:
		return none("an error needs four pairs, there are %d", n)
	case math.Abs(r.Value) > 1-1e-12:
		return none("the two lists go together without exception: nothing shows how far they could differ")
	}
	z, se := math.Atanh(r.Value), math.Sqrt(factor(r.Value)/float64(n-3))
	between := NormalInterval(z, se, level)
	if between.OK {
		between = Between(math.Tanh(between.Low), math.Tanh(between.High))
	}
	c.SE, c.Interval, c.P = Known((1-r.Value*r.Value)*se), between, Known(normalTail(z/se))
	return c
}

// midranks returns the ranks of values from 1; equal ones share the mean of theirs.
func midranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && x[order[k]] == x[order[i]] {
			k++
		}
		for _, at := range order[i:k] {
			out[at] = float64(i+k+1) / 2
		}
		i = k
	}
	return out
}

// Reliability returns the share of the spread of the strengths that is not error: 1 - mean(se^2)/var(theta). It falls
// below 0 when there is more error than spread.
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
