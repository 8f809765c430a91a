package adaptive

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Discordant counts the items on which one of two lanes is right and the other is wrong, for a difference that McNemar's
// exact test decides.
type Discordant struct {
	Ahead, Behind, Items int
	Level                float64 // of the test, as a share of all that are open
}

const (
	beliefs  = 25 // points of a standard normal, each of the same weight
	fewItems = 30 // up to so many more, every number of discordant ones is looked at
)

// exactChance returns how likely the exact test resolves the pair after so many more items, either way: over what is believed of
// the difference, over how many of the items are discordant, and over how these fall.
func (q Quote) exactChance(n int) float64 {
	x := q.Exact
	found, b := float64(x.Ahead-x.Behind)/float64(x.Items), q.shrink()
	rate := (float64(x.Ahead+x.Behind) + 0.5) / (float64(x.Items) + 1)
	sd := math.Sqrt(float64(n) * rate * (1 - rate))
	chance := 0.0
	for k := range beliefs {
		d := b*found + math.Sqrt(b*q.Variance)*quantile((float64(k)+0.5)/beliefs)
		right := min(max((1+d/max(rate, math.Abs(d)))/2, 0.001), 0.999)
		often := min(max(rate, math.Abs(d)), 1)
		if n <= fewItems {
			for m := range n + 1 {
				chance += x.resolved(m, right) * (atLeast(m, n, often) - atLeast(m+1, n, often)) / beliefs
			}
			continue
		}
		for _, z := range []float64{-1.28, -0.52, 0, 0.52, 1.28} { // fifths of how many are discordant
			m := int(math.Round(min(max(float64(n)*often+z*sd, 0), float64(n))))
			chance += x.resolved(m, right) / beliefs / 5
		}
	}
	return chance
}

// resolved returns the chance that so many more discordant items make the test significant, each for the first with a
// chance.
func (x *Discordant) resolved(m int, right float64) float64 {
	all := x.Ahead + x.Behind + m
	most := x.mostBehind(all)
	if most < 0 {
		return 0
	}
	// The second gets at most most: Ahead + won is at least all - most; or the first does.
	return atLeast(all-most-x.Ahead, m, right) + 1 - atLeast(most-x.Ahead+1, m, right)
}

// mostBehind returns the largest number of all discordant items that the loser may have; -1: none will do.
func (x *Discordant) mostBehind(all int) int {
	low, high := -1, all/2
	for low < high {
		middle := (low + high + 1) / 2
		if 2*atMost(middle, all) < x.Level {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// atMost returns the chance of at most k of n coin tosses.
func atMost(k, n int) float64 { return 1 - atLeast(k+1, n, 0.5) }

// atLeast returns the chance of at least k successes in n trials.
func atLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// exactNeeded returns how many more items resolve the pair with a chance; false where no sensible number does.
func (q Quote) exactNeeded(chance float64) (float64, bool) {
	const sensible = 1_000_000
	high := 1
	for q.exactChance(high) < chance {
		if high *= 2; high > sensible {
			return sensible, false
		}
	}
	low := high / 2
	for high-low > 1 {
		if middle := (low + high) / 2; q.exactChance(middle) >= chance {
			high = middle
		} else {
			low = middle
		}
	}
	return float64(high), true
}
