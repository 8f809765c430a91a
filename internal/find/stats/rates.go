package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Rate is a share of yes among independent answers, with its Wilson interval.
type Rate struct {
	K, N     int
	Share    Number
	Interval Interval
}

// NewRate is k of n. Without answers the share is undefined and its interval is everything.
func NewRate(k, n int, level float64) Rate {
	return Rate{K: k, N: n, Share: ratio(float64(k), float64(n), "no answers"), Interval: Wilson(k, n, level)}
}

// SE is the standard error of the share: the spread of the answers over the root of their number.
func (r Rate) SE() Number {
	if r.N < 2 || r.K == 0 || r.K == r.N {
		return Undefined("all answers are alike")
	}
	return Known(math.Sqrt(r.Share.Value * (1 - r.Share.Value) / float64(r.N-1)))
}

// Wilson is the score interval of a share: close to its level for every n, and never outside 0 to 1.
func Wilson(k, n int, level float64) Interval {
	return interval(k, n, level, func(k, n, z float64) (float64, float64) { return wilson(k, n, z) })
}

// Exact is the interval of Clopper and Pearson: it leaves one half out where [BinomialTest] rejects it.
func Exact(k, n int, level float64) Interval {
	return interval(k, n, level, func(x, all, _ float64) (low, high float64) {
		tail := (1 - level) / 2
		if low = 0; k > 0 {
			low = mathext.InvRegIncBeta(x, all-x+1, tail)
		}
		if high = 1; k < n {
			high = mathext.InvRegIncBeta(x+1, all-x, 1-tail)
		}
		return low, high
	})
}

// interval checks the counts, answers everything for no answers, and keeps bounds inside 0 to 1.
func interval(k, n int, level float64, bounds func(k, n, z float64) (float64, float64)) Interval {
	z := criticalZ(level)
	switch {
	case k < 0 || k > n:
		return NoInterval("%d of %d", k, n)
	case !z.OK:
		return NoInterval("%s", z.Why)
	case n == 0:
		return Between(0, 1)
	}
	low, high := bounds(float64(k), float64(n), z.Value)
	return Between(max(0, low), min(1, high))
}

// wilson is the score interval of k of n, which need not be whole.
func wilson(k, n, z float64) (low, high float64) {
	p, zz := k/n, z*z
	middle, half := p+zz/(2*n), z*math.Sqrt(p*(1-p)/n+zz/(4*n*n))
	if k > 0 {
		low = max(0, (middle-half)/(1+zz/n))
	}
	if high = 1; k < n {
		high = min(1, (middle+half)/(1+zz/n))
	}
	return low, high
}

// MissingBounds is where the share must lie if the missing answers were known: all no, to all yes.
func MissingBounds(yes, no, missing int) Interval {
	all := float64(yes + no + missing)
	if min(yes, no, missing) < 0 {
		return NoInterval("%d yes, %d no, %d missing", yes, no, missing)
	}
	if all == 0 {
		return NoInterval("no answers, and none missing")
	}
	return Between(float64(yes)/all, float64(yes+missing)/all)
}
