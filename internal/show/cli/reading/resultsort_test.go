package reading

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestItemsAreSortedAsPeopleCount(t *testing.T) {
	t.Parallel()
	items := []string{"q10", "q2", "", "a", "10", "9", "q2b", "q02", "é"}
	slices.SortStableFunc(items, compareNatural)
	if d := cmp.Diff([]string{"", "9", "10", "a", "q2", "q02", "q2b", "q10", "é"}, items); d != "" {
		t.Error(d)
	}
}

// Of many rows only the wanted ones are held, and what is not known comes last in both directions.
func TestTheFirstRowsOfManyAreKept(t *testing.T) {
	t.Parallel()
	all := func(yield func(int, error) bool) {
		for i := range 1000 {
			if !yield((i*7919)%1000, nil) {
				return
			}
		}
	}
	place := func(n int, _ string) order {
		if n%10 == 3 {
			return order{unknown: true}
		}
		return numbered(n)
	}
	for sort, want := range map[string]string{"cost": "[0 1 2 4]", "-cost": "[999 998 997 996]"} {
		s := arrange(resultFlags{sort: sort, limit: 4}, 0, place)
		var got []int
		for n, err := range s.walk(all) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, n)
		}
		if fmt.Sprint(got) != want || !s.more {
			t.Errorf("%s: %v, more %v", sort, got, s.more)
		}
	}
	s := arrange(resultFlags{sort: "cost"}, 0, place)
	last := 0
	for n := range s.walk(all) {
		last = n
	}
	if s.n != 1000 || s.more || last%10 != 3 {
		t.Errorf("%d rows, the last is %d", s.n, last)
	}
}
