package adaptive

import (
	"math"

	"assay/internal/find/stats"
)

func quantile(p float64) float64 { return stats.NormalQuantile(p) }
func below(x float64) float64    { return stats.NormalBelow(x) }

// Critical returns the value that a score has to exceed for one of so many open pairs.
func Critical(level float64, open, clusters int) float64 {
	return stats.StudentCritical(level/float64(max(1, open)), clusters)
}

// Spread returns the variance of the true strengths that found ones suggest: theirs, less what error adds. Errors are those of strengths
// whose mean is 0.
func Spread(found, se []float64) float64 {
	noise := 0.0
	for _, e := range se {
		noise += square(e) / float64(len(se)-1)
	}
	return SpreadBeyond(found, noise)
}

// SpreadBeyond returns the variance of the true values that found ones suggest, where error alone would spread them by a noise: half the
// mean variance of the difference of two, whether their errors are independent or not.
func SpreadBeyond(found []float64, noise float64) float64 {
	n, mean, sum := float64(len(found)), 0.0, 0.0
	for _, x := range found {
		mean += x / n
	}
	for _, x := range found {
		sum += square(x - mean)
	}
	return max(sum/(n-1)-noise, 1e-4)
}

// Quote foretells what more comparisons of one pair will show. The difference that was found is shrunken towards none: the pairs
// one asks about are those that luck brought close.
type Quote struct {
	Pair
	Critical float64     // that the score has to exceed
	Spread   float64     // of strengths, a variance
	Least    float64     // comparisons without which nothing is claimed
	Exact    *Discordant // of a pair that an exact test decides; nil: its error does
}

// AsFound returns the quote that believes in the difference as it was found.
func (q Quote) AsFound() Quote {
	q.Spread = math.MaxFloat32
	return q
}

// shrink returns how much of the difference is believed.
func (q Quote) shrink() float64 { return 2 * q.Spread / (2*q.Spread + q.Variance) }

// Chance returns how likely so many more comparisons resolve the pair, either way.
func (q Quote) Chance(n float64) float64 {
	if q.Exact != nil {
		return q.exactChance(int(n))
	}
	more, b := n*q.Information, q.shrink()
	after := 1 / (1/q.Variance + more)
	mean := after * math.Abs(q.Difference) * (1/q.Variance + b*more)
	spread := after * math.Sqrt(b*q.Variance*more*more+more)
	bar := q.Critical * math.Sqrt(after)
	return below((mean-bar)/spread) + below((-mean-bar)/spread)
}

// Needed returns how many more comparisons resolve the pair with a chance; false where no sensible number does.
func (q Quote) Needed(chance float64) (float64, bool) {
	if q.Exact != nil {
		return q.exactNeeded(chance)
	}
	const sensible = 1e6
	if math.Abs(q.Difference) >= q.Critical*q.SE() {
		return q.Least, true
	}
	low, high := 1e-6, 1e7
	for range 80 {
		middle := math.Sqrt(low * high)
		if q.Chance(middle) >= chance {
			high = middle
		} else {
			low = middle
		}
	}
	return max(high, q.Least), high <= sensible
}

// clearLevel is so low that few pairs of equals ever look clear, however often one looks.
const clearLevel = 0.001

// Clear reports whether it is clear which of two is better, by what each has won of their comparisons, a tie half. Of
// so many pairs, so few of equals ever look clear that those which are not can be compared evenly, and looked at as if
// nothing had been chosen.
func Clear(won, lost float64, pairs int) bool {
	return won+lost > 0 && 2*below(-math.Abs(won-lost)/math.Sqrt(won+lost)) < clearLevel/float64(max(1, pairs))
}
