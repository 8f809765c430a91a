package stats

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Test is the level and the power that a study is planned for: a two-sided level such as 0.05, and the chance of
// showing it such as 0.8.
type Test struct {
	Alpha, Power float64
}

// z returns the sum of the two normal quantiles.
func (t Test) z() (float64, error) {
	if !validLevel(t.Alpha) || !validLevel(t.Power) {
		return 0, fmt.Errorf("plan a test: level %g with power %g", t.Alpha, t.Power)
	}
	return normalQuantile(1-t.Alpha/2) + normalQuantile(t.Power), nil
}

// ComparisonsNeeded returns how many comparisons, spread evenly over all pairs, separate two of so many contestants
// whose strengths differ by this much. Information is the Fisher information of one comparison about a difference of
// strengths: 1/4 where the two are even and never tie.
func ComparisonsNeeded(contestants int, difference, information float64, t Test) (int, error) {
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if contestants < 2 || difference == 0 || !Known(difference).OK || !(information > 0) {
		return 0, fmt.Errorf("plan a test: %d contestants, a difference of %g, %g known from one comparison", contestants, difference,
			information)
	}
	return upTo(float64(contestants-1) * square(z/difference) / information), nil
}

// DetectableStrength returns the smallest difference of two strengths that so many comparisons show.
func DetectableStrength(contestants int, comparisons int64, information float64, t Test) (float64, error) {
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if contestants < 2 || comparisons < 1 || !(information > 0) {
		return 0, fmt.Errorf("plan a test: %d comparisons of %d contestants, %g known from each", comparisons, contestants, information)
	}
	return z * math.Sqrt(float64(contestants-1)/(float64(comparisons)*information)), nil
}

// Design holds the parameters of a paired comparison of two lanes on the same items (Miller 2024): the variance of the
// true difference over items, and for each lane the variance of one draw and the number of draws.
type Design struct {
	Items          float64 // variance over items of the difference of expected scores
	DrawA, DrawB   float64 // variance of one answer's score round its item's expectation
	DrawsA, DrawsB int
}

// variance is that of the difference of one item.
func (d Design) variance() (float64, error) {
	if d.DrawsA < 1 || d.DrawsB < 1 || !(d.Items >= 0) || !(d.DrawA >= 0) || !(d.DrawB >= 0) {
		return 0, fmt.Errorf("plan a test: design %+v", d)
	}
	return d.Items + d.DrawA/float64(d.DrawsA) + d.DrawB/float64(d.DrawsB), nil
}

// ItemsNeeded returns how many items show a difference of this size.
func (d Design) ItemsNeeded(difference float64, t Test) (int, error) {
	v, err := d.variance()
	if err != nil {
		return 0, err
	}
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if difference == 0 || !Known(difference).OK {
		return 0, fmt.Errorf("plan a test: no number of items shows a difference of %g", difference)
	}
	return upTo(square(z/difference) * v), nil
}

// Detectable returns the smallest difference that so many items show.
func (d Design) Detectable(items int, t Test) (float64, error) {
	v, err := d.variance()
	if err != nil {
		return 0, err
	}
	z, err := t.z()
	if err != nil {
		return 0, err
	}
	if items < 1 {
		return 0, fmt.Errorf("plan a test: %d items", items)
	}
	return z * math.Sqrt(v/float64(items)), nil
}

func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// upTo rounds up, but not for rounding errors.
func upTo(n float64) int { return int(math.Ceil(n - 1e-9*n)) }

// Paired is a planned comparison of two lanes on the same items.
type Paired struct {
	Variance float64 // of the difference of the two on one item
	Exact    bool    // each item has one yes or no of each lane, and McNemar's exact test decides; else Student's t does
	Rate     float64 // of yes, where it is exact; 0: one half
}

// mostExact is up to how many items the exact test is reckoned with; beyond, it and the normal approximation differ by
// less than 1%.
const mostExact = 20_000

// Power returns the chance that so many items show a difference of this size at a two-sided level.
func (p Paired) Power(items int, difference, alpha float64) (float64, error) {
	if items < 1 || !validLevel(alpha) || !(p.Variance > 0) || difference == 0 || !Known(difference).OK ||
		p.Exact && math.Abs(difference) > 1 {
		return 0, fmt.Errorf("plan a test: a difference of %g with variance %g on %d items at level %g", difference, p.Variance,
			items, alpha)
	}
	if p.Exact && items <= mostExact {
		return p.mcnemar(math.Abs(difference), alpha).power(items), nil
	}
	// Guenther's correction: what Student's t asks more than the normal distribution is known by half the square of its
	// critical value.
	z := normalQuantile(1 - alpha/2)
	left := float64(items) - z*z/2
	if left <= 0 {
		return 0, nil
	}
	shift := math.Abs(difference) / math.Sqrt(p.Variance/left)
	return normalBelow(shift-z) + normalBelow(-shift-z), nil
}

// steady is for how many further items the exact test must keep its power: it goes to and fro, because counts are
// whole.
const steady = 10

// Items returns how many items show a difference of this size.
func (p Paired) Items(difference float64, t Test) (int, error) {
	if _, err := t.z(); err != nil {
		return 0, err
	}
	if _, err := p.Power(1, difference, t.Alpha); err != nil {
		return 0, err
	}
	difference = math.Abs(difference)
	alpha, beta := normalQuantile(1-t.Alpha/2), normalQuantile(t.Power)
	if !p.Exact {
		return upTo(square((alpha+beta)/difference)*p.Variance + alpha*alpha/2), nil
	}
	m := p.mcnemar(difference, t.Alpha)
	guess := upTo(square((alpha*math.Sqrt(m.apart) + beta*math.Sqrt(max(0, m.apart-difference*difference))) / difference))
	if guess > mostExact {
		return guess, nil
	}
	for n := max(1, guess-guess/10-steady); ; n++ {
		enough := true
		for k := 0; k <= steady && enough; k++ {
			if enough = m.power(n+k) >= t.Power; !enough {
				n += k
			}
		}
		if enough || n > 2*mostExact {
			return n, nil
		}
	}
}

// Detectable returns the smallest difference that so many items show; it does not exist where none does.
func (p Paired) Detectable(items int, t Test) Number {
	if _, err := t.z(); err != nil || items < 1 || !(p.Variance > 0) {
		return Undefined("%d items with variance %g show nothing", items, p.Variance)
	}
	shows := func(difference float64) bool {
		power, err := p.Power(items, difference, t.Alpha)
		return err == nil && power >= t.Power
	}
	low, high := 0.0, 1.0
	if !p.Exact {
		high = 100 * math.Sqrt(p.Variance)
	}
	if !shows(high) {
		return Undefined("%d items show no difference", items)
	}
	for range 40 {
		if middle := (low + high) / 2; shows(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return Known(high)
}

// mcnemar is the exact test before the data: how often two lanes differ on an item, and which of them is
// right then.
type mcnemar struct {
	apart, first float64 // share of items on which they differ; of these, those for the first lane
	alpha        float64
	known        map[int]float64 // power by the number of items on which they differ
}

// mcnemar returns the test of two lanes whose differences have this mean and variance.
func (p Paired) mcnemar(difference, alpha float64) *mcnemar {
	apart := min(1, max(difference, p.Variance+difference*difference))
	return &mcnemar{apart: apart, first: (apart + difference) / 2 / apart, alpha: alpha, known: map[int]float64{}}
}

// power returns the chance that the test shows the difference on so many items.
func (m *mcnemar) power(items int) float64 {
	mean, sd := float64(items)*m.apart, math.Sqrt(float64(items)*m.apart*(1-m.apart))
	low, high := max(0, int(mean-8*sd)-1), min(items, int(mean+8*sd)+1)
	sum := 0.0
	for k := low; k <= high; k++ {
		sum += binomial(k, items, m.apart) * m.given(k)
	}
	return sum
}

// given returns the chance where the two lanes differ on so many items.
func (m *mcnemar) given(apart int) float64 {
	if p, ok := m.known[apart]; ok {
		return p
	}
	least := fewestFor(apart, m.alpha)
	p := 0.0
	if least >= 0 {
		p = binomialUpTo(least, apart, 1-m.first) + binomialUpTo(least, apart, m.first)
	}
	m.known[apart] = p
	return p
}

// fewestFor returns the largest count of the rarer side that an exact two-sided test of an even chance still rejects;
// -1: none.
func fewestFor(n int, alpha float64) int {
	c := min(n/2, max(-1, int(float64(n)/2-normalQuantile(1-alpha/2)*math.Sqrt(float64(n))/2)))
	for c >= 0 && 2*binomialUpTo(c, n, 0.5) > alpha {
		c--
	}
	for c+1 <= n/2 && 2*binomialUpTo(c+1, n, 0.5) <= alpha {
		c++
	}
	return c
}

// binomialUpTo returns the probability of at most k successes in n trials.
func binomialUpTo(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n, p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// mostEnumerated is up to how many items the chance to keep a margin is computed from the tables that may come; beyond, the normal
// approximation is as good.
const mostEnumerated = 2000

// Keeps returns the chance that so many items show that two lanes that are equal differ by no more than a margin: that the interval
// of their difference, two-sided at the level 1 - alpha, lies above it.
func (p Paired) Keeps(items int, margin, alpha float64) float64 {
	z := normalQuantile(1 - alpha/2)
	left := float64(items) - z*z/2
	if left <= 0 || !(margin > 0) || !(p.Variance > 0) {
		return 0
	}
	if p.Exact && items <= mostEnumerated {
		return p.keeping(margin, 1-alpha).chance(items)
	}
	return normalBelow(margin/math.Sqrt(p.Variance/left) - z)
}

// KeepItems returns how many items show it with a given chance.
func (p Paired) KeepItems(margin float64, t Test) (int, error) {
	n, err := Paired{Variance: p.Variance}.Items(margin, t)
	if err != nil || !p.Exact || n > mostEnumerated {
		return n, err
	}
	return sort.Search(mostEnumerated, func(n int) bool { return p.Keeps(n, margin, t.Alpha) >= t.Power }), nil
}

// keeping is the interval of a paired difference before the data: two lanes that are as often right.
type keeping struct {
	apart, both   float64 // share of items on which they differ; of the others, those on which both are right
	margin, level float64
}

func (p Paired) keeping(margin, level float64) keeping {
	rate := p.Rate
	if rate <= 0 || rate >= 1 {
		rate = 0.5
	}
	k := keeping{apart: min(p.Variance, 2*rate, 2*(1-rate)), margin: margin, level: level}
	if k.apart < 1 {
		k.both = (rate - k.apart/2) / (1 - k.apart)
	}
	return k
}

// chance returns the chance that the interval keeps the margin on so many items, from the tables that may come.
func (k keeping) chance(items int) float64 {
	sum := 0.0
	for _, differ := range likely(items, k.apart) {
		for _, right := range likely(items-differ.k, k.both) {
			least := sort.Search(differ.k+1, func(first int) bool {
				t := PairTable{Both: right.k, OnlyFirst: first, OnlySecond: differ.k - first, Neither: items - differ.k - right.k}
				return t.newcombe(k.level, t.correctedPhi()).Low > -k.margin
			})
			sum += differ.p * right.p * (1 - binomialUpTo(least-1, differ.k, 0.5))
		}
	}
	return sum
}

// counted is a count with its probability.
type counted struct {
	k int
	p float64
}

// mostLikely is how many counts a binomial distribution is cut to: of more, each stands for those beside it.
const mostLikely = 41

// likely returns the counts of a binomial distribution within five standard deviations of its mean.
func likely(n int, p float64) []counted {
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	low, high := max(0, int(mean-5*sd)-1), min(n, int(mean+5*sd)+1)
	step := 1 + (high-low)/mostLikely
	var out []counted
	total := 0.0
	for k := low; k <= high; k += step {
		out = append(out, counted{k, binomial(k, n, p)})
		total += out[len(out)-1].p
	}
	for i := range out {
		out[i].p /= total
	}
	return out
}
