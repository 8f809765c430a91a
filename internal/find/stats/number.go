// Package stats turns counts and scores into estimates that carry their error, or the reason why they do not exist.
//
// Every function is pure: it reads what it is given, takes its randomness as a seed, and gives the same numbers for any
// GOMAXPROCS. A value that cannot be known is never 0, never NaN: it is a [Number] or an [Interval] whose Why gives the
// reason, or an error. Strengths are on the natural-log scale with mean 0.
//
// Items, clusters, judges and categories are dense indexes from 0; the caller keeps the names.
package stats

import (
	"fmt"
	"math"
	"strconv"
)

// Number is an estimate that may not exist. Value means something only when OK; else Why gives the reason. The zero
// value does not exist.
type Number struct {
	Value float64
	OK    bool
	Why   string
}

// Known returns a number that exists. NaN and the infinities are no estimates: they become undefined.
func Known(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Undefined("not a finite number")
	}
	return Number{Value: v, OK: true}
}

// Undefined returns a number that does not exist, with the reason.
func Undefined(format string, args ...any) Number {
	return Number{Why: fmt.Sprintf(format, args...)}
}

// String shows the value, or the reason why there is none.
func (n Number) String() string {
	if !n.OK {
		return "undefined (" + n.Why + ")"
	}
	return strconv.FormatFloat(n.Value, 'g', -1, 64)
}

// OrNil returns the value for a document in which null means that it does not exist.
func (n Number) OrNil() *float64 {
	if !n.OK {
		return nil
	}
	return &n.Value
}

// Interval is a pair of bounds that may not exist, by the same rule as [Number].
type Interval struct {
	Low, High float64
	OK        bool
	Why       string
}

// OrNil returns the bounds for a document in which null means that they do not exist.
func (i Interval) OrNil() (low, high *float64) {
	if !i.OK {
		return nil, nil
	}
	return &i.Low, &i.High
}

// Between returns an interval that exists, unless a bound is not finite.
func Between(low, high float64) Interval {
	if !Known(low).OK || !Known(high).OK {
		return NoInterval("a bound is not a finite number")
	}
	return Interval{Low: low, High: high, OK: true}
}

// NoInterval returns an interval that does not exist, with the reason.
func NoInterval(format string, args ...any) Interval {
	return Interval{Why: fmt.Sprintf(format, args...)}
}

// Contains reports whether x lies in the interval; nothing lies in one that does not exist.
func (i Interval) Contains(x float64) bool { return i.OK && i.Low <= x && x <= i.High }

// LeavesOut reports whether x lies outside the interval; one that does not exist leaves nothing out.
func (i Interval) LeavesOut(x float64) bool { return i.OK && (x < i.Low || x > i.High) }

// Clipped returns the interval inside the range that its value has; nil: open.
func (i Interval) Clipped(low, high *float64) Interval {
	if i.OK && low != nil {
		i.Low, i.High = max(i.Low, *low), max(i.High, *low)
	}
	if i.OK && high != nil {
		i.Low, i.High = min(i.Low, *high), min(i.High, *high)
	}
	return i
}

// String shows the bounds, or the reason why there are none.
func (i Interval) String() string {
	if !i.OK {
		return "undefined (" + i.Why + ")"
	}
	return fmt.Sprintf("[%g, %g]", i.Low, i.High)
}

// NormalInterval returns the estimate and its normal error bars at a confidence level such as 0.95.
func NormalInterval(estimate, se, level float64) Interval {
	z := criticalZ(level)
	if !z.OK {
		return NoInterval("%s", z.Why)
	}
	return Between(estimate-z.Value*se, estimate+z.Value*se)
}

// StudentInterval returns the estimate and its error bars by Student's t, for an error that comes from so many
// clusters.
func StudentInterval(estimate, se, level float64, clusters int) Interval {
	return tInterval(Known(estimate), Known(se), level, clusters-1)
}

// StudentTest returns the two-sided p-value of an estimate of 0 whose error comes from so many clusters. There is none
// without an error: clusters that are alike are no certainty.
func StudentTest(estimate, se Number, clusters int) Number {
	switch {
	case !estimate.OK:
		return estimate
	case !se.OK:
		return se
	case clusters < 2:
		return Undefined(NoErrorBar)
	case Same(se.Value, 0) && Same(estimate.Value, 0):
		return Known(1)
	case Same(se.Value, 0):
		return Undefined(AlikeClusters)
	}
	return Known(studentTail(estimate.Value/se.Value, clusters-1))
}

// ratio divides; a division by zero is undefined, for the given reason.
func ratio(over, under float64, why string) Number {
	if under == 0 {
		return Undefined("%s", why)
	}
	return Known(over / under)
}

// tInterval returns the estimate and its error bars by Student's t.
func tInterval(estimate, se Number, level float64, df int) Interval {
	t := criticalT(level, df)
	switch {
	case !estimate.OK:
		return NoInterval("%s", estimate.Why)
	case !se.OK:
		return NoInterval("%s", se.Why)
	case !t.OK:
		return NoInterval("%s", t.Why)
	}
	return Between(estimate.Value-t.Value*se.Value, estimate.Value+t.Value*se.Value)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Mean returns the arithmetic mean.
func Mean(x []float64) Number {
	if len(x) == 0 {
		return Undefined("no values")
	}
	return Known(mean(x))
}

// SD returns the standard deviation of a sample (divisor n-1).
func SD(x []float64) Number {
	if len(x) < 2 {
		return Undefined("a spread needs two values, there are %d", len(x))
	}
	return Known(math.Sqrt(variance(x)))
}

// sortedQuantile returns the type 7 quantile of values in ascending order.
func sortedQuantile(x []float64, p float64) float64 {
	at := p * float64(len(x)-1)
	below := int(math.Floor(at))
	if below+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[below] + (at-float64(below))*(x[below+1]-x[below])
}

func sum[T float64 | int8](x []T) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func mean[T float64 | int8](x []T) float64 { return sum(x) / float64(len(x)) }

// variance returns the sample variance of at least two values.
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

// largest returns the largest absolute value.
func largest(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	return top
}

func square(x float64) float64 { return x * x }

// Standing is how a difference compares with a margin: what a new result, minus an old one, may lose at most.
type Standing string

// The standings. A margin of 2 points is kept where the whole interval lies above -2 points.
const (
	NoWorse    Standing = "no worse"    // by the margin: the interval lies above it
	Worse      Standing = "worse"       // the interval lies below 0, and not above the margin
	CannotTell Standing = "cannot tell" // neither
)

// Standing returns how a difference with this interval compares with a margin.
func (i Interval) Standing(margin float64) Standing {
	switch {
	case i.OK && i.Low > -margin:
		return NoWorse
	case i.OK && i.High < 0:
		return Worse
	}
	return CannotTell
}

// LeftOutAt returns the smallest error (1 minus the level) at which an interval leaves a value out: the two-sided p-value that belongs
// to the interval. The interval must grow with its level.
func LeftOutAt(value float64, interval func(level float64) Interval) Number {
	if i := interval(0.5); !i.OK {
		return Undefined("%s", i.Why)
	}
	low, high := math.Log(1e-12), 0.0 // of the error
	for range 60 {
		if mid := (low + high) / 2; interval(1 - math.Exp(mid)).LeavesOut(value) {
			high = mid
		} else {
			low = mid
		}
	}
	return Known(math.Exp(high))
}

// Unchanged returns the interval of a mean difference where not one of so many clusters differs: a share of clusters that would show none
// with the error of the level, each by the whole span.
func Unchanged(clusters int, span, level float64) Interval {
	if clusters < 1 || !validLevel(level) || !(span > 0) || math.IsInf(span, 0) {
		return NoInterval("nothing differs, and how much could is not known")
	}
	most := span * (1 - math.Pow((1-level)/2, 1/float64(clusters)))
	return Interval{Low: -most, High: most, OK: true}
}

// NoErrorBar is why there is no error where there are fewer than two clusters.
const NoErrorBar = "one question, or one cluster of them, is not enough for an error bar; ask at least two"
