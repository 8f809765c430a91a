package grid

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTheFirstFewAreFoundInAnyOrder holds what is kept of places that rise, fall, or both against all of them sorted.
func TestTheFirstFewAreFoundInAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	orders := map[string][]int64{"none": nil}
	for i := range int64(300) {
		orders["rising"] = append(orders["rising"], i)
		orders["falling"] = append(orders["falling"], -i)
		orders["falling, then rising"] = append(orders["falling, then rising"], max(100-i, i-350))
		orders["mixed"] = append(orders["mixed"], rng.Int64N(50))
	}
	for name, keys := range orders {
		for _, limit := range []int{1, 7, 500} {
			var want, got []string
			var sorted []place
			for ord, k := range keys {
				sorted = append(sorted, place{k, int64(ord)})
			}
			slices.SortFunc(sorted, place.compare)
			for _, p := range sorted {
				want = append(want, p.String())
			}
			for mark := ""; ; {
				after, err := readPlace(mark)
				if err != nil {
					t.Fatal(err)
				}
				best := smallest[int64]{after: after, limit: limit}
				for ord, k := range keys {
					best.offer(place{k, int64(ord)}, func() int64 { return k })
				}
				kept, next := best.page()
				for _, p := range kept {
					if p.value != p.at.key {
						t.Fatalf("%s: %v has the value %d", name, p.at, p.value)
					}
					got = append(got, p.at.String())
				}
				if mark = next; mark == "" {
					break
				}
			}
			if !slices.Equal(want, got) {
				t.Errorf("%s, %d a page: %v, want %v", name, limit, got, want)
			}
		}
	}
}

// TestRecordsComeBackFromAFile writes more than memory takes, with ids longer than what is read at a time allows for.
func TestRecordsComeBackFromAFile(t *testing.T) {
	t.Parallel()
	const lanes = 30_000 // a record of 240 kB and more
	s := &spool{columns: lanes}
	cells := make([]packedCell, lanes)
	var want []string
	for i := range 12 {
		id := fmt.Sprint(i, strings.Repeat("x", i*5_000))
		cells[lanes-1].label = byte(i)
		if err := s.add(encode(nil, id, int64(i), 0, cells)); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(id, i, i))
	}
	if err := s.done(); err != nil {
		t.Fatal(err)
	}
	if s.file == nil {
		t.Fatal("all of it is in memory")
	}
	var got []string
	for r, err := range s.records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(string(r.id()), r.ord(), r.cell(lanes-1).label))
	}
	if !slices.Equal(want, got) {
		t.Errorf("%d records, want %d, or others", len(got), len(want))
	}
	for r := range s.records() {
		if string(r.id()) != "0" {
			t.Errorf("%s is first", r.id())
		}
		break
	}
}
