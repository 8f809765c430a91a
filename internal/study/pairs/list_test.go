package pairs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/pairs"
)

// shows returns the showings of a schedule in words, both by number and by slot.
func shows(t *testing.T, d pairs.Design, slots int64) []string {
	t.Helper()
	s := ready(t, d)
	word := func(p pairs.Pair) string {
		again := ""
		if p.Again {
			again = " again"
		}
		return fmt.Sprintf("%d: %d-%d%s", p.Slot, p.First, p.Second, again)
	}
	var all, bySlot []string
	for p := range s.All() {
		all = append(all, word(p))
	}
	for slot := range slots {
		for p := range s.On(slot) {
			if p.Slot != slot {
				t.Errorf("%+v on slot %d", p, slot)
			}
			bySlot = append(bySlot, word(p))
		}
	}
	if int64(len(all)) != s.Len() {
		t.Errorf("%d showings, and %d are said", len(all), s.Len())
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(bySlot))); d != "" {
		t.Errorf("by number and by slot: %s", d)
	}
	return all
}

func TestAListIsAskedAsItStands(t *testing.T) {
	t.Parallel()
	every := int64(pairs.EverySlot)
	items := []pairs.Listed{{Item: every, First: 4, Second: 1}, {Item: every, First: 0, Second: 2}, {Item: every, First: 2, Second: 1}}
	some := []pairs.Listed{{Item: 2, First: 1, Second: 0}, {Item: 0, First: 0, Second: 1}, {Item: 2, First: 2, Second: 0}}
	twice := []pairs.Listed{{Item: every, First: 4, Second: 1}, {Item: every, First: 0, Second: 2, Twice: true}}
	for name, c := range map[string]struct {
		design pairs.Design
		slots  int64
		want   []string
	}{
		"items": {pairs.Design{Slots: 5, List: items, Order: pairs.AsListed}, 1, []string{"0: 4-1", "0: 0-2", "0: 2-1"}},
		"items, both": {pairs.Design{Slots: 5, List: items[:2], Order: pairs.Both}, 1,
			[]string{"0: 4-1", "0: 0-2", "0: 1-4 again", "0: 2-0 again"}},
		"items, all again": {pairs.Design{Slots: 5, List: items[:1], Order: pairs.AsListed, Reverse: 1}, 1,
			[]string{"0: 4-1", "0: 1-4 again"}},
		"items, alternating": {pairs.Design{Slots: 5, List: items, Order: pairs.Alternate}, 1, []string{"0: 4-1", "0: 2-0", "0: 2-1"}},
		"listed both ways":   {pairs.Design{Slots: 5, List: twice, Order: pairs.AsListed}, 1, []string{"0: 4-1", "0: 0-2", "0: 2-0 again"}},
		"lanes on their items": {pairs.Design{Lanes: 3, Slots: 6, Stride: 2, List: some, Order: pairs.AsListed}, 6,
			[]string{"4: 1-0", "5: 1-0", "0: 0-1", "1: 0-1", "4: 2-0", "5: 2-0"}},
		"lanes on their items, alternating": {pairs.Design{Lanes: 3, Slots: 3, Stride: 1, List: some, Order: pairs.Alternate}, 3,
			[]string{"2: 1-0", "0: 1-0", "2: 2-0"}},
		"lanes on every slot": {pairs.Design{Lanes: 3, Slots: 2, List: []pairs.Listed{{Item: every, First: 2, Second: 0},
			{Item: every, First: 0, Second: 1}}, Order: pairs.AsListed}, 2, []string{"0: 2-0", "0: 0-1", "1: 2-0", "1: 0-1"}},
		"lanes on no slot": {pairs.Design{Lanes: 3, List: items[:1], Order: pairs.AsListed}, 2, nil},
		"an empty list":    {pairs.Design{Slots: 5, Order: pairs.AsListed}, 1, nil},
	} {
		c.design.Pick = pairs.List
		if d := cmp.Diff(c.want, shows(t, c.design, c.slots)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got := shows(t, pairs.Design{Pick: pairs.List, Slots: 5, List: items, Reverse: 0.4, Seed: 7}, 1); len(got) != 4 {
		t.Errorf("three pairs, one of them again: %v", got)
	}
	if _, err := pairs.New(pairs.Design{Pick: pairs.List, Slots: 5, List: twice}); err == nil {
		t.Error("a list that has pairs both ways is turned round at random")
	}
}
