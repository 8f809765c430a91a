package contests

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

func TestShowingsAreKeptAsTheyCame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var l showings
	var want []showing
	for i := range 20_000 {
		item := uint32(i / 4)
		cluster := item
		kind, entrants := uint32(0), 4
		if i >= 10_000 { // in any order, and as large as they may be
			item, cluster, kind, entrants = r.Uint32N(1<<31), r.Uint32N(1<<30), r.Uint32N(1<<20), 1<<16
		}
		want = append(want, newShowing(cluster, item, kind, uint16(r.IntN(entrants)), uint16(r.IntN(entrants)), stats.Result(r.IntN(3))))
		l.add(want[i])
		if i == 9_999 && len(l.blocks) > 1 {
			t.Errorf("%d blocks for %d in order: more than 3 bytes each", len(l.blocks), i+1)
		}
	}
	var got []showing
	for s := range l.all {
		got = append(got, s)
	}
	if !slices.Equal(got, want) || l.n != len(want) {
		t.Error("others than came")
	}
}

func TestShowingsAreOrderedInParts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	c := &Contest{Job: gather.Job{Known: &gather.Names{}}}
	for i := range 300 {
		c.Known.Of(fmt.Sprint(r.IntN(1000), []string{"", "x"}[i%2]))
	}
	for i := range 3 {
		c.kinds.Of(fmt.Sprint(9 - i))
	}
	var l showings
	for range 5000 {
		item := r.Uint32N(uint32(c.Known.Len()))
		l.add(newShowing(item/7, item, r.Uint32N(3), uint16(r.IntN(5)), uint16(r.IntN(5)), stats.Result(r.IntN(3))))
	}
	place := []uint32{4, 2, 0, 1, 3}
	want := slices.Collect(c.ordered(&l, place, l.n))
	got := slices.Collect(c.ordered(&l, place, 60))
	if !slices.Equal(got, want) || len(want) != l.n {
		t.Errorf("%d in parts, %d at once, %d in all, or others", len(got), len(want), l.n)
	}
	if !slices.IsSortedFunc(got, func(x, y showing) int { return int(int64(x.cluster()) - int64(y.cluster())) }) {
		t.Error("not in the order of their clusters")
	}
}
