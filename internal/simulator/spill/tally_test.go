package spill

import (
	"math/rand/v2"
	"testing"
)

func TestLiveCountsAreKeptOnDisk(t *testing.T) {
	t.Parallel()
	sp, err := NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tl, err := NewTally(sp)
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000 // past several doublings
	for round := range uint32(3) {
		for i := range uint64(n) {
			var a Counted
			a.Vendor = uint32(i%2) + 1 // the same question to two vendors is two
			r := rand.NewPCG(i/2, 1)
			for k := range a.Digest {
				a.Digest[k] = byte(r.Uint64())
			}
			if before, err := tl.Add(a); err != nil || before != round {
				t.Fatalf("question %d, round %d: counted %d times before, %v", i, round, before, err)
			}
		}
	}
	sum := 0
	if err := tl.Each(func(_ Counted, c uint32) error { sum += int(c); return nil }); err != nil {
		t.Fatal(err)
	}
	if sum != 3*n {
		t.Errorf("%d counted, want %d", sum, 3*n)
	}
	if err := tl.Close(); err != nil {
		t.Fatal(err)
	}
}
