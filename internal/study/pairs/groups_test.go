package pairs_test

import (
	"testing"

	"assay/internal/study/pairs"
)

func TestItemsMeetWithinTheirGroupAndEquallyOften(t *testing.T) {
	t.Parallel()
	groups := [][]int64{{0, 3, 6, 9, 12, 15, 17, 18}, {1, 4, 7}, {2}, {5, 8, 10, 11, 13, 14, 16, 19, 20, 21}}
	in := map[int64]int{}
	possible := int64(0)
	for g, members := range groups {
		for _, i := range members {
			in[i] = g
		}
		possible += int64(len(members)*(len(members)-1)) / 2
	}
	before := map[unordered]bool{}
	for n := int64(1); n <= possible+1; n++ {
		d := pairs.Design{Slots: 22, Groups: groups, Pick: pairs.Sample, N: n, Seed: 5}
		s := ready(t, d)
		if s.Pairs() != min(n, possible) || d.All() != possible {
			t.Fatalf("%d of %d pairs, want %d of %d", s.Pairs(), d.All(), n, possible)
		}
		now, met := map[unordered]bool{}, map[int]int{}
		for p := range s.All() {
			if in[p.First] != in[p.Second] || p.First == p.Second || now[key(p)] {
				t.Fatalf("%d pairs: %+v", n, p)
			}
			now[key(p)] = true
			met[in[p.First]]++
		}
		for p := range before {
			if !now[p] {
				t.Fatalf("%v is in a sample of %d and not of %d", p, n-1, n)
			}
		}
		before = now
		for g, members := range groups {
			for h, others := range groups {
				m, o := float64(len(members)), float64(len(others))
				if full := met[h] == len(others)*(len(others)-1)/2; !full && float64(met[g])/m-float64(met[h])/o > 0.5/m+0.5/o+1e-9 {
					t.Errorf("%d pairs: %d of the %g items of one group, and %d of %g of another", n, met[g], m, met[h], o)
				}
			}
		}
	}
	all := ready(t, pairs.Design{Slots: 22, Groups: groups, Order: pairs.Both})
	each := ready(t, pairs.Design{Slots: 22, Groups: groups, Pick: pairs.PerItem, N: 2, Reverse: 0.5})
	if all.Len() != 2*possible || each.Pairs() != 8+3+10 || each.Len() != 21+10 {
		t.Errorf("%d, %d and %d", all.Len(), each.Pairs(), each.Len())
	}
	on := int64(0)
	for range all.On(0) {
		on++
	}
	if on != all.Len() {
		t.Errorf("%d on the slot of all %d", on, all.Len())
	}
	if none := ready(t, pairs.Design{Slots: 2, Groups: [][]int64{}, Pick: pairs.Sample, N: 3}); none.Len() != 0 {
		t.Errorf("%d pairs of no group", none.Len())
	}
}
