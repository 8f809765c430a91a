package stats

import (
	"fmt"
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
	return Rate{K: k, N: n, Share: ratio(float64(k), float64(n), "no verdicts"), Interval: Wilson(k, n, level)}
}

// SE returns the standard error of the share.
func (r Rate) SE() Number {
	if r.K == 0 || r.K == r.N {
		return Undefined("all answers are alike")
	}
	return Known(math.Sqrt(r.Share.Value * (1 - r.Share.Value) / float64(r.N)))
}

// Wilson returns the score interval of a share: close to its level for every n, and never outside 0 to 1.
func Wilson(k, n int, level float64) Interval {
	return interval(k, n, level, func(k, n, z float64) (float64, float64) { return wilson(k, n, z) })
}

// Exact returns the interval of Clopper and Pearson: it leaves one half out where [BinomialTest] rejects it.
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

// wilson returns the score interval of k of n, which need not be whole.
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

// MissingBounds returns where the share must lie if the missing answers were known: all no, to all yes.
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

// PairTable counts pairs of yes-no answers to the same items.
type PairTable struct {
	Both, OnlyFirst, OnlySecond, Neither int
}

// NewPairTable counts.
func NewPairTable(first, second []bool) (PairTable, error) {
	var t PairTable
	if len(first) != len(second) {
		return t, fmt.Errorf("pair answers: %d against %d", len(first), len(second))
	}
	for i := range first {
		switch {
		case first[i] && second[i]:
			t.Both++
		case first[i]:
			t.OnlyFirst++
		case second[i]:
			t.OnlySecond++
		default:
			t.Neither++
		}
	}
	return t, nil
}

// N returns the number of pairs.
func (t PairTable) N() int { return t.Both + t.OnlyFirst + t.OnlySecond + t.Neither }

// PairedShares is the difference of two shares over the same independent items.
type PairedShares struct {
	Difference Number
	SE         Number   // Wald
	Interval   Interval // Newcombe's method 10, with his continuity correction of the correlation
	Test       McNemar
}

// Difference returns the first share minus the second.
func (t PairTable) Difference(level float64) PairedShares {
	out := PairedShares{Test: NewMcNemar(t.OnlyFirst, t.OnlySecond)}
	n := float64(t.N())
	if n == 0 {
		out.Difference = Undefined("no pairs")
		out.SE, out.Interval = out.Difference, NoInterval("no pairs")
		return out
	}
	b, c := float64(t.OnlyFirst), float64(t.OnlySecond)
	out.Difference = Known((b - c) / n)
	out.SE = Known(math.Sqrt(b+c-square(b-c)/n) / n)
	out.Interval = t.newcombe(level, t.correctedPhi())
	return out
}

// newcombe joins the Wilson intervals of both shares by their correlation.
func (t PairTable) newcombe(level, phi float64) Interval {
	first, second := NewRate(t.Both+t.OnlyFirst, t.N(), level), NewRate(t.Both+t.OnlySecond, t.N(), level)
	if !first.Interval.OK {
		return first.Interval
	}
	p, q := first.Share.Value, second.Share.Value
	down := joint(p-first.Interval.Low, second.Interval.High-q, phi)
	up := joint(first.Interval.High-p, q-second.Interval.Low, phi)
	return Between(p-q-down, p-q+up)
}

// correctedPhi returns the correlation of the two shares; a positive one is corrected for continuity (Newcombe 1998): from
// few items it is found too large, and intervals would hold 90% where they promise 95%.
func (t PairTable) correctedPhi() float64 {
	a, b, c, d := float64(t.Both), float64(t.OnlyFirst), float64(t.OnlySecond), float64(t.Neither)
	margins, over := (a+b)*(c+d)*(a+c)*(b+d), a*d-b*c
	if margins == 0 {
		return 0
	}
	if over > 0 {
		over = max(0, over-float64(t.N())/2)
	}
	return over / math.Sqrt(margins)
}

// joint returns the length of two correlated errors together.
func joint(x, y, phi float64) float64 { return math.Sqrt(max(0, x*x-2*phi*x*y+y*y)) }

// McNemar asks whether changes go one way more often than the other.
type McNemar struct {
	B, C        int // changes one way, changes the other
	Exact, MidP Number
	Chi2, Chi2P Number
	Chi2CC, CCP Number // with continuity correction
}

// NewMcNemar tests b changes one way against c the other.
func NewMcNemar(b, c int) McNemar {
	m := McNemar{B: b, C: c}
	n := b + c
	if min(b, c) < 0 {
		why := Undefined("%d against %d changes", b, c)
		m.Exact, m.MidP, m.Chi2, m.Chi2P, m.Chi2CC, m.CCP = why, why, why, why, why, why
		return m
	}
	tail, at := 0.0, 0.0
	for k := range min(b, c) + 1 {
		at = binomial(k, n, 0.5)
		tail += at
	}
	m.Exact, m.MidP = Known(min(1, 2*tail)), Known(min(1, 2*tail-at))
	if n == 0 {
		why := Undefined("nothing changed")
		m.Chi2, m.Chi2P, m.Chi2CC, m.CCP = why, why, why, why
		return m
	}
	gap := math.Abs(float64(b - c))
	m.Chi2, m.Chi2CC = Known(gap*gap/float64(n)), Known(square(gap-1)/float64(n))
	m.Chi2P, m.CCP = Known(normalTail(math.Sqrt(m.Chi2.Value))), Known(normalTail(math.Sqrt(m.Chi2CC.Value)))
	return m
}
