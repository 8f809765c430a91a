package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAnExactTestIsForetold: 7 items only the first has right, none the second. One more discordant item settles it; of one
// more item a quarter is discordant, so that no quote of one item promises 80%.
func TestAnExactTestIsForetold(t *testing.T) {
	t.Parallel()
	x := &Discordant{Ahead: 7, Behind: 0, Items: 30, Level: 0.05 / 3}
	if p := x.resolved(0, 0.9); p != 1 {
		t.Errorf("7 to 0 is p = 0.0156, below %.4f: %g", x.Level, p)
	}
	x.Level = 0.05 / 6
	if p := x.resolved(0, 0.9); p != 0 {
		t.Errorf("7 to 0 is not below %.4f: %g", x.Level, p)
	}
	if p := x.resolved(1, 0.9); math.Abs(p-0.9) > 1e-9 {
		t.Errorf("8 to 0 is p = 0.0078, and comes with 0.9: %g", p)
	}
	q := Quote{Pair: Pair{Difference: 7. / 30, Variance: 0.006}, Spread: 0.01, Exact: x}
	n, ok := q.Needed(0.8)
	if !ok || n < 10 || q.Chance(1) > 0.3 || q.Chance(n) < 0.8 || q.Chance(n-1) >= 0.8 {
		t.Errorf("%g more: %.3f, one more: %.3f", n, q.Chance(n), q.Chance(1))
	}
	if bold, _ := q.AsFound().Needed(0.8); bold > n {
		t.Errorf("%g as found, %g else", bold, n)
	}
}

// TestTheChanceOfAnExactTestIsThatOfDraws holds the enumeration against draws: a difference, discordant items, how they fall.
func TestTheChanceOfAnExactTestIsThatOfDraws(t *testing.T) {
	t.Parallel()
	const more, draws = 60, 20_000
	x := &Discordant{Ahead: 13, Behind: 6, Items: 30, Level: 0.05}
	q := Quote{Pair: Pair{Difference: 7. / 30, Variance: 0.006}, Spread: 0.01, Exact: x}
	r, b, rate := rand.New(rand.NewPCG(11, 7)), q.shrink(), 19.5/31
	resolved := 0
	for range draws {
		d := b*7/30 + math.Sqrt(b*q.Variance)*r.NormFloat64()
		often := max(rate, math.Abs(d))
		ahead, behind := x.Ahead, x.Behind
		for range more {
			switch u := r.Float64(); {
			case u < (often+d)/2:
				ahead++
			case u < often:
				behind++
			}
		}
		if signTest(ahead, behind) <= x.Level {
			resolved++
		}
	}
	if got, want := q.Chance(more), float64(resolved)/draws; math.Abs(got-want) > 0.02 {
		t.Errorf("%.3f, drawn %.3f", got, want)
	}
}

// signTest returns the p-value of so many against so many, in both directions.
func signTest(a, b int) float64 {
	n, p := a+b, 0.0
	for k := range min(a, b) + 1 {
		all, _ := math.Lgamma(float64(n + 1))
		these, _ := math.Lgamma(float64(k + 1))
		those, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(all - these - those - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

// Found on a few items, a difference may be so large that what is believed of it passes 1: no more than every item is discordant.
func TestADifferenceBeyondOneIsForetold(t *testing.T) {
	t.Parallel()
	q := Quote{Pair: Pair{Difference: 0.7, Variance: 0.0233}, Spread: 0.01, Exact: &Discordant{Ahead: 7, Items: 10, Level: 0.001}}.AsFound()
	n, ok := q.Needed(0.8)
	if !ok || n < 2 || n > 20 {
		t.Errorf("%g more items (%t), want a few", n, ok)
	}
}
