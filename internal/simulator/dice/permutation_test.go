package dice

import "testing"

func TestAPermutationReachesEveryPlaceOnceAndBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 64, 65, 1000, 4097} {
		p := NewPermutation(n, 7)
		seen := make([]bool, n)
		moved := 0
		for i := range n {
			v := p.At(i)
			if seen[v] {
				t.Fatalf("n=%d: %d stands twice", n, v)
			}
			seen[v] = true
			if p.Place(v) != i {
				t.Fatalf("n=%d: place(at(%d)) = %d", n, i, p.Place(v))
			}
			if v != i {
				moved++
			}
		}
		if n >= 64 && moved < n/2 {
			t.Errorf("n=%d: only %d of them moved", n, moved)
		}
	}
}
