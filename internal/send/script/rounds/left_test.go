package rounds

import (
	"testing"

	"assay/internal/study/pairs"
)

func TestWhatIsLeftIsWhatCanStillBeBought(t *testing.T) {
	t.Parallel()
	names, asked := []string{"a", "b", "c", "d"}, make([]bool, 60)
	for slot := range asked {
		asked[slot] = slot%5 > 0
	}
	for name, d := range map[string]pairs.Design{
		"all":       {Pick: pairs.All, Order: pairs.Both},
		"sample":    {Pick: pairs.Sample, N: 100, Order: pairs.Both},
		"a quarter": {Pick: pairs.Sample, N: 100, Reverse: 0.25},
		"per item":  {Pick: pairs.PerItem, N: 2},
		"a list": {Pick: pairs.List, Order: pairs.AsListed, List: []pairs.Listed{{Item: 1, Second: 2}, {Item: 1, First: 2},
			{Item: 5, First: 1, Second: 3}, {Item: 7, First: 1, Second: 3, Twice: true}, {Item: 7, First: 1, Second: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d.Lanes, d.Slots, d.Stride, d.Seed = 4, int64(len(asked)), 1, 3
			base, err := pairs.New(d)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Beside(base, asked, names, 9)
			if err != nil {
				t.Fatal(err)
			}
			for k := range r.bought {
				if got, want := r.left(k), len(r.free(k)); got != want || got == 0 && name != "all" {
					t.Errorf("pair %d: %d are left, %d can be bought", k, got, want)
				}
			}
		})
	}
}
