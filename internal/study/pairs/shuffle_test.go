package pairs

import (
	"fmt"
	"math"
	"testing"
)

func TestAShuffleIsAPermutationAndKnowsItsInverse(t *testing.T) {
	t.Parallel()
	for n := int64(1); n < 200; n++ {
		s := newShuffle(n, uint64(n), streamSlots, 0)
		seen := make([]bool, n)
		for i := range n {
			v := s.at(i)
			if v < 0 || v >= n || seen[v] {
				t.Fatalf("n %d: %d stands at %d, a second time or outside", n, v, i)
			}
			seen[v] = true
			if s.place(v) != i {
				t.Fatalf("n %d: %d stands at %d, place says %d", n, v, i, s.place(v))
			}
		}
	}
	big := newShuffle(maxPairs, 1, streamSlots, 0)
	for _, i := range []int64{0, 1, 12345, maxPairs / 2, maxPairs - 1} {
		if v := big.at(i); v < 0 || v >= maxPairs || big.place(v) != i {
			t.Errorf("%d leads to %d and back to %d", i, v, big.place(v))
		}
	}
}

func TestEveryOrderOfAFewIsAboutEquallyLikely(t *testing.T) {
	t.Parallel()
	orders := 1
	for n := int64(2); n <= 5; n++ {
		orders *= int(n)
		const per = 400
		counts := map[string]int{}
		for seed := range orders * per {
			s := newShuffle(n, uint64(seed), streamSlots, 0)
			order := make([]int64, n)
			for i := range order {
				order[i] = s.at(int64(i))
			}
			counts[fmt.Sprint(order)]++
		}
		chi := float64(orders-len(counts)) * per
		for _, c := range counts {
			chi += float64((c-per)*(c-per)) / per
		}
		if df := float64(orders - 1); chi > df+5*math.Sqrt(2*df) {
			t.Errorf("n %d: chi-squared %.0f over %d orders, %d of them seen", n, chi, orders, len(counts))
		}
	}
}

func TestCombinationsComeInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{2, 3, 4, 7, 20, 101} {
		k := int64(0)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if low, high := combination(n, k); low != i || high != j {
					t.Fatalf("of %d, number %d is %d and %d, want %d and %d", n, k, low, high, i, j)
				}
				k++
			}
		}
	}
	const n = 134_000_000
	last := choose2(int64(n)) - 1
	for _, c := range []struct{ k, low, high int64 }{{0, 0, 1}, {n - 2, 0, n - 1}, {n - 1, 1, 2}, {last, n - 2, n - 1},
		{last - 1, n - 3, n - 1}} {
		if low, high := combination(n, c.k); low != c.low || high != c.high {
			t.Errorf("number %d is %d and %d, want %d and %d", c.k, low, high, c.low, c.high)
		}
	}
}
