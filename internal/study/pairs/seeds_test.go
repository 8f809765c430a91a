package pairs_test

import (
	"fmt"
	"testing"

	"assay/internal/study/pairs"
)

func TestSeedsOfOrderAndReversalChangeNothingElse(t *testing.T) {
	t.Parallel()
	other := uint64(99)
	walk := func(d pairs.Design) (chosen, first, again string) {
		d.Slots, d.Pick, d.N, d.Reverse, d.Seed = 30, pairs.Sample, 60, 0.5, 7
		s, err := pairs.New(d)
		if err != nil {
			t.Fatal(err)
		}
		for p := range s.All() {
			switch {
			case p.Again:
				again += fmt.Sprintln(p.Row)
			default:
				chosen += fmt.Sprintln(min(p.First, p.Second), max(p.First, p.Second))
				first += fmt.Sprintln(p.First)
			}
		}
		return chosen, first, again
	}
	chosen, first, again := walk(pairs.Design{})
	for name, c := range map[string]struct {
		design               pairs.Design
		sameFirst, sameAgain bool
	}{
		"order":   {pairs.Design{OrderSeed: &other}, false, true},
		"reverse": {pairs.Design{ReverseSeed: &other}, true, false},
	} {
		c2, f2, a2 := walk(c.design)
		if c2 != chosen || (f2 == first) != c.sameFirst || (a2 == again) != c.sameAgain {
			t.Errorf("a seed of the %s changes something else, or nothing", name)
		}
	}
	s, err := pairs.New(pairs.Design{Slots: 9, Order: pairs.AsListed, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for p := range s.All() {
		if p.First > p.Second {
			t.Errorf("%d is shown before %d, as it is not listed", p.First, p.Second)
		}
	}
}
