package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// tieTolerance is how much larger than the observed probability another may be and still count as equally unlikely in
// an exact two-sided test; without it, rounding would drop the mirror image of the observation.
const tieTolerance = 1e-7

// BinomialTest returns the exact two-sided p-value of k successes in n trials when each succeeds with probability p:
// the sum over all outcomes that are no more probable than the observed one.
func BinomialTest(k, n int, p float64) Number {
	if k < 0 || n < k || p < 0 || p > 1 {
		return Undefined("%d successes in %d trials with probability %g", k, n, p)
	}
	observed := binomial(k, n, p) * (1 + tieTolerance)
	sum := 0.0
	for i := range n + 1 {
		if q := binomial(i, n, p); q <= observed {
			sum += q
		}
	}
	return Known(min(sum, 1))
}

// binomial returns the probability of exactly k successes in n trials.
func binomial(k, n int, p float64) float64 {
	switch {
	case p == 0:
		return oneIf(k == 0)
	case p == 1:
		return oneIf(k == n)
	}
	return math.Exp(logChoose(float64(n), float64(k)) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func logChoose(n, k float64) float64 {
	all, _ := math.Lgamma(n + 1)
	in, _ := math.Lgamma(k + 1)
	out, _ := math.Lgamma(n - k + 1)
	return all - in - out
}

// normalTail returns the two-sided p-value of a standard normal score.
func normalTail(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// studentTail returns the two-sided p-value of a score with Student's distribution.
func studentTail(t float64, df int) float64 {
	n := float64(df)
	return mathext.RegIncBeta(n/2, 0.5, n/(n+t*t))
}

// FisherTail returns the chance of a ratio of variances as large or larger.
func FisherTail(f float64, over, under int) Number {
	if !(f >= 0) || over < 1 || under < 1 {
		return Undefined("a ratio of %g with %d and %d degrees of freedom", f, over, under)
	}
	a, b := float64(over), float64(under)
	return Known(mathext.RegIncBeta(b/2, a/2, b/(b+a*f)))
}

// normalQuantile returns the standard normal quantile of p in (0, 1).
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// criticalZ returns the two-sided normal critical value of a confidence level.
func criticalZ(level float64) Number {
	if !validLevel(level) {
		return badLevel(level)
	}
	return Known(math.Sqrt2 * math.Erfinv(level))
}

// criticalT returns the two-sided critical value of Student's t of a confidence level.
func criticalT(level float64, df int) Number {
	if !validLevel(level) {
		return badLevel(level)
	}
	if df < 1 {
		return Undefined("no degrees of freedom left for an error")
	}
	return Known(studentCritical(2*(1-(1+level)/2), df))
}

// studentCritical returns the score whose tail, as in studentTail, is alpha.
func studentCritical(alpha float64, df int) float64 {
	n := float64(df)
	x := mathext.InvRegIncBeta(n/2, 0.5, alpha)
	return math.Sqrt(n * (1 - x) / x)
}

// StudentCritical returns the two-sided critical value of an error such as 0.05, for a standard error that comes from
// so many clusters. Without an error, or with fewer than two clusters, nothing exceeds it.
func StudentCritical(alpha float64, clusters int) float64 {
	if !validLevel(alpha) || clusters < 2 {
		return math.Inf(1)
	}
	return studentCritical(alpha, clusters-1)
}

// NormalQuantile returns the value below which a standard normal lies with a probability.
func NormalQuantile(p float64) float64 { return normalQuantile(p) }

// NormalBelow returns the probability that a standard normal lies below a value.
func NormalBelow(x float64) float64 { return normalBelow(x) }

func validLevel(level float64) bool { return level > 0 && level < 1 }

func badLevel(level float64) Number {
	return Undefined("confidence level %g is not between 0 and 1", level)
}
