package stats

import (
	"math"
	"testing"
)

// agreeing returns the chance that both of two with these shares are yes, where a share of what makes an item hard is
// common to the two.
func agreeing(first, second, common float64) float64 {
	const points = 400
	sum := 0.0
	for k := range points {
		hard := math.Sqrt(common) * normalQuantile((float64(k)+0.5)/points)
		sum += normalBelow((normalQuantile(first)-hard)/math.Sqrt(1-common)) *
			normalBelow((normalQuantile(second)-hard)/math.Sqrt(1-common)) / points
	}
	return sum
}

// heldExactly returns the chance that the interval of a paired difference of n items holds the true one: the sum over
// every table that there may be.
func heldExactly(n int, first, second, common float64) float64 {
	both := agreeing(first, second, common)
	chance := [4]float64{math.Log(both), math.Log(first - both), math.Log(second - both), math.Log(1 - first - second + both)}
	factorial := func(k int) float64 { x, _ := math.Lgamma(float64(k + 1)); return x }
	sum := 0.0
	for a := range n + 1 {
		for b := range n + 1 - a {
			for c := range n + 1 - a - b {
				d := n - a - b - c
				in := PairTable{a, b, c, d}.Difference(0.95).Interval
				if in.Low <= first-second+1e-12 && in.High >= first-second-1e-12 {
					sum += math.Exp(factorial(n) - factorial(a) - factorial(b) - factorial(c) - factorial(d) +
						float64(a)*chance[0] + float64(b)*chance[1] + float64(c)*chance[2] + float64(d)*chance[3])
				}
			}
		}
	}
	return sum
}

// TestPairedIntervalsHoldTheirLevelInEveryTable enumerates: from 5 to 60 items, equal and unequal lanes, items that make
// lanes more or less alike. No design may hold less than 92.9%; on average they hold 95 to 97.6%, the more the fewer items.
func TestPairedIntervalsHoldTheirLevelInEveryTable(t *testing.T) {
	t.Parallel()
	shares := [][2]float64{{.5, .5}, {.7, .7}, {.9, .9}, {.6, .4}, {.8, .5}, {.9, .6}, {.97, .97}}
	for _, n := range []int{5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 20, 25, 30, 40, 60} {
		mean, designs, least := 0.0, 0.0, 1.0
		for _, s := range shares {
			for _, common := range []float64{0, .25, .5, .75} {
				got := heldExactly(n, s[0], s[1], common)
				mean, designs, least = mean+got, designs+1, min(least, got)
				if got < 0.929 {
					t.Errorf("%d items, %v, %g in common: %.2f%% held", n, s, common, 100*got)
				}
				if n >= 15 && s[0] == 0.5 && s[1] == 0.5 && (got < 0.935 || got > 0.975) {
					t.Errorf("%d items, both 50%%, %g in common: %.2f%% held, want 93.5 to 97.5", n, common, 100*got)
				}
			}
		}
		if mean /= designs; mean < 0.95 || mean > 0.976 {
			t.Errorf("%d items: %.2f%% held on average", n, 100*mean)
		}
		t.Logf("%d items: %.1f%% on average, at least %.1f%%", n, 100*mean, 100*least)
	}
}

// TestFewItemsCannotHoldTheirLevelOnAverage enumerates what no interval can do, if it excludes 0 by how many items speak for one lane and
// how many for the other, whichever is which: where no design of equal lanes may hold less than 93.5%, they hold 97.5% or more together.
func TestFewItemsCannotHoldTheirLevelOnAverage(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{5: .9918, 6: .9878, 7: .9864, 8: .9839, 9: .9812, 10: .9782, 11: .9757} {
		if got := leastOnAverage(n, 0.935); math.Abs(got-want) > 5e-5 {
			t.Errorf("%d items: %.4f, want %.4f", n, got, want)
		}
	}
}

// leastOnAverage returns what equal lanes hold on average at least over all rules that exclude 0 from so many items of one kind on, for
// each number of items that differ, and hold a given share in each design.
func leastOnAverage(n int, least float64) float64 {
	var designs []float64 // share of items that differ
	for _, share := range []float64{.5, .7, .9, .97} {
		for _, common := range []float64{0, .25, .5, .75} {
			designs = append(designs, 2*(share-agreeing(share, share, common)))
		}
	}
	missed, best := make([]float64, len(designs)), 0.0
	var differ func(m int)
	differ = func(m int) {
		if m > n {
			sum := 0.0
			for _, x := range missed {
				sum += x / float64(len(missed))
			}
			best = max(best, sum)
			return
		}
		before := append([]float64(nil), missed...)
		for k := m + 1; 2*k > m; k-- { // 0 is excluded where k or more speak for one lane
			possible := true
			for i, apart := range designs {
				if k <= m {
					missed[i] += binomial(m, n, apart) * 2 * binomial(k, m, 0.5)
				}
				possible = possible && missed[i] <= 1-least
			}
			if !possible {
				break
			}
			differ(m + 1)
		}
		copy(missed, before)
	}
	differ(1)
	return 1 - best
}

// TestNewcombesCorrectedInterval holds the correction against a hand calculation: 20 both, 12 only the first, 2 only the
// second, 16 neither: φ is (320 − 24 − 25) / √(32·18·22·28).
func TestNewcombesCorrectedInterval(t *testing.T) {
	t.Parallel()
	table := PairTable{20, 12, 2, 16}
	if want := 271 / math.Sqrt(32*18*22*28); math.Abs(table.correctedPhi()-want) > 1e-12 {
		t.Errorf("phi %g, want %g", table.correctedPhi(), want)
	}
	for _, none := range []PairTable{{1, 0, 0, 1}, {3, 1, 1, 0}, {5, 0, 0, 0}} {
		if phi := none.correctedPhi(); phi > 0 {
			t.Errorf("%v: phi %g", none, phi)
		}
	}
	d := table.Difference(0.95)
	p, q := Wilson(32, 50, 0.95), Wilson(22, 50, 0.95)
	low := 0.2 - math.Sqrt(square(0.64-p.Low)-2*table.correctedPhi()*(0.64-p.Low)*(q.High-0.44)+square(q.High-0.44))
	if math.Abs(d.Interval.Low-low) > 1e-12 {
		t.Errorf("%v, want %g", d.Interval, low)
	}
}
