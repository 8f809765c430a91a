package stats

import (
	"math"
)

// Mean is the arithmetic mean.
func Mean(x []float64) Number {
	if len(x) == 0 {
		return Undefined("no values")
	}
	return Known(mean(x))
}

// SD is the standard deviation of a sample (divisor n-1).
func SD(x []float64) Number {
	if len(x) < 2 {
		return Undefined("a spread needs two values, there are %d", len(x))
	}
	return Known(math.Sqrt(variance(x)))
}

// sortedQuantile is the type 7 quantile of values in ascending order.
func sortedQuantile(x []float64, p float64) float64 {
	at := p * float64(len(x)-1)
	below := int(math.Floor(at))
	if below+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[below] + (at-float64(below))*(x[below+1]-x[below])
}

// Pearson is the linear correlation of paired values.
func Pearson(x, y []float64) Number {
	if len(x) != len(y) {
		return Undefined("%d values against %d", len(x), len(y))
	}
	if len(x) < 2 {
		return Undefined("a correlation needs two pairs, there are %d", len(x))
	}
	mx, my := mean(x), mean(y)
	var sxx, syy, sxy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		sxx, syy, sxy = sxx+dx*dx, syy+dy*dy, sxy+dx*dy
	}
	if sxx == 0 || syy == 0 {
		return Undefined("no variation on one side")
	}
	return Known(max(-1, min(1, sxy/math.Sqrt(sxx*syy))))
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

// variance is the sample variance of at least two values.
func variance(x []float64) float64 {
	m, s := mean(x), 0.0
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return s / float64(len(x)-1)
}

// center moves the values to mean 0.
func center(x []float64) {
	m := mean(x)
	for i := range x {
		x[i] -= m
	}
}

// largest is the largest absolute value.
func largest(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	return top
}
