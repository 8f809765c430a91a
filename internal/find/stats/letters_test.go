package stats_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/find/stats"
)

// cliques lists, by trying all sets, the largest sets of items of which no two differ.
func cliques(n int, differ func(i, j int) bool) []uint {
	holds := func(set uint) bool {
		for i := range n {
			for j := range i {
				if set>>i&1 == 1 && set>>j&1 == 1 && differ(i, j) {
					return false
				}
			}
		}
		return true
	}
	var out []uint
	for set := uint(1); set < 1<<n; set++ {
		if !holds(set) {
			continue
		}
		largest := true
		for i := range n {
			largest = largest && (set>>i&1 == 1 || !holds(set|1<<i))
		}
		if largest {
			out = append(out, set)
		}
	}
	return out
}

func TestLettersAreTheLargestGroupsThatCannotBeToldApart(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 5))
	for range 3000 {
		n := 1 + r.IntN(7)
		share := r.Float64()
		table := map[[2]int]bool{}
		for i := range n {
			for j := range i {
				table[[2]int{i, j}] = r.Float64() < share
			}
		}
		differ := func(i, j int) bool { return table[[2]int{max(i, j), min(i, j)}] }
		groups, ok := stats.Letters(n, differ)
		if !ok {
			t.Fatal("too many groups")
		}
		got := map[int]uint{}
		for i, in := range groups {
			for _, k := range in {
				got[k] |= 1 << i
			}
		}
		var sets []uint
		for k := range len(got) {
			sets = append(sets, got[k])
		}
		for k := 1; k < len(sets); k++ { // in the order of their first items
			if bits.TrailingZeros(sets[k-1]) > bits.TrailingZeros(sets[k]) {
				t.Fatalf("groups %b are not in order", sets)
			}
		}
		slices.Sort(sets)
		if want := cliques(n, differ); !slices.Equal(want, sets) {
			t.Fatalf("%d items, differ %v:\nwant %b\ngot  %b", n, table, want, sets)
		}
	}
}

func TestLettersOfAChainOverlap(t *testing.T) {
	t.Parallel()
	// Neighbours cannot be told apart, all others can: a, ab, bc, c.
	got, ok := stats.Letters(4, func(i, j int) bool { return max(i, j)-min(i, j) > 1 })
	want := [][]int{{0}, {0, 1}, {1, 2}, {2}}
	if !ok || !slices.EqualFunc(want, got, slices.Equal) {
		t.Errorf("want %v, got %v, %t", want, got, ok)
	}
}

func TestLettersThatNoReaderCouldFollowAreNone(t *testing.T) {
	t.Parallel()
	// Of three and three, items of the same three differ: 3^7 groups.
	if got, ok := stats.Letters(21, func(i, j int) bool { return i/3 == j/3 }); ok {
		t.Errorf("%d items have groups", len(got))
	}
}
