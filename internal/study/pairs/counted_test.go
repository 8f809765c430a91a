package pairs_test

import (
	"testing"

	"assay/internal/study/pairs"
)

// met counts, by pair number, how often two contestants met, and how often the first of them was shown first.
func met(c *pairs.Counted, m, slots int64, counts []int) (n, first []int, bySlot []int) {
	n, first, bySlot = make([]int, len(counts)), make([]int, len(counts)), make([]int, slots)
	for slot := range slots {
		for p := range c.On(slot, counts) {
			low, high := min(p.First, p.Second), max(p.First, p.Second)
			k := 0
			for i := range m {
				for j := i + 1; j < m; j++ {
					if i == low && j == high {
						n[k]++
						if p.First == low {
							first[k]++
						}
					}
					k++
				}
			}
			bySlot[slot]++
		}
	}
	return n, first, bySlot
}

func TestCountedPairsMeetAsOftenAsTheTableSays(t *testing.T) {
	t.Parallel()
	for _, slots := range []int64{1, 6, 7, 40} {
		const m = 5
		c, err := pairs.NewCounted(m, slots, 7)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, m*(m-1)/2)
		for k := range counts {
			counts[k] = min(k*3, c.Most())
		}
		n, first, _ := met(c, m, slots, counts)
		for k := range counts {
			if n[k] != counts[k] {
				t.Errorf("%d slots: pair %d met %d times, want %d", slots, k, n[k], counts[k])
			}
			if uneven := 2*first[k] - n[k]; uneven < -1 || uneven > 1 {
				t.Errorf("%d slots: of %d meetings of pair %d, one is first in %d", slots, n[k], k, first[k])
			}
		}
	}
}

func TestALargerCountKeepsTheMeetingsOfASmallerOne(t *testing.T) {
	t.Parallel()
	const m, slots = 4, 9
	c, err := pairs.NewCounted(m, slots, 3)
	if err != nil {
		t.Fatal(err)
	}
	small, large := []int{2, 0, 5, 1, 3, 9}, []int{4, 1, 5, 12, 3, 18}
	for slot := range int64(slots) {
		there := map[pairs.Pair]bool{}
		for p := range c.On(slot, large) {
			there[p] = true
		}
		for p := range c.On(slot, small) {
			if !there[p] {
				t.Errorf("slot %d: %+v is gone with larger counts", slot, p)
			}
		}
	}
}

func TestEqualCountsUseSlotsEvenly(t *testing.T) {
	t.Parallel()
	const m, slots = 4, 10
	c, err := pairs.NewCounted(m, slots, 5)
	if err != nil {
		t.Fatal(err)
	}
	_, _, bySlot := met(c, m, slots, []int{5, 5, 5, 5, 5, 5})
	for slot, n := range bySlot {
		if n != 3 {
			t.Errorf("slot %d has %d meetings, want 3", slot, n)
		}
	}
}

func TestTheOrderOfATournamentConnectsAllInTwoRounds(t *testing.T) {
	t.Parallel()
	for _, m := range []int64{2, 3, 8, 9, 30} {
		c, err := pairs.NewCounted(m, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		order := c.Order()
		seen := map[int]bool{}
		for _, k := range order {
			seen[k] = true
		}
		if int64(len(seen)) != m*(m-1)/2 || len(seen) != len(order) {
			t.Fatalf("%d contestants: %d numbers, %d different", m, len(order), len(seen))
		}
		counts := make([]int, len(order))
		for _, k := range order[:min(len(order), int(m))] {
			counts[k] = 1
		}
		group := map[int64]int64{}
		for i := range m {
			group[i] = i
		}
		for p := range c.On(0, counts) {
			from, to := group[p.First], group[p.Second]
			for i, g := range group {
				if g == from {
					group[i] = to
				}
			}
		}
		for i := range m {
			if group[i] != group[0] {
				t.Errorf("%d contestants: %d is not connected after %d pairs", m, i, m)
			}
		}
	}
}
