package pairs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/pairs"
)

// listed returns the pairs of a schedule as a list, with a slot as the item of each.
func listed(s *pairs.Schedule, items bool) []pairs.Listed {
	byRow := map[int64]int{}
	var out []pairs.Listed
	for p := range s.All() {
		if p.Again {
			out[byRow[p.Row]].Twice = true
			continue
		}
		byRow[p.Row] = len(out)
		l := pairs.Listed{Item: p.Slot, First: p.First, Second: p.Second}
		if items {
			l.Item = pairs.EverySlot
		}
		out = append(out, l)
	}
	return out
}

func all(n int64) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// extent returns the least and the most of counts.
func extent(counts map[int64]int, n int64) (least, most int) {
	least = 1 << 30
	for i := range n {
		least, most = min(least, counts[i]), max(most, counts[i])
	}
	return least, most
}

func TestPairsThatWereDrawnStayWhereLanesAndItemsAreAdded(t *testing.T) {
	t.Parallel()
	for _, order := range []pairs.Order{pairs.Random, pairs.Alternate, pairs.Both, pairs.AsListed} {
		for _, to := range [][2]int64{{5, 12}, {4, 18}, {6, 17}, {4, 12}} {
			was := pairs.Design{Lanes: 4, Slots: 12, Pick: pairs.Sample, N: 30, Order: order, Seed: 7}
			if order == pairs.Random {
				was.Reverse = 0.3
			}
			kept := listed(ready(t, was), false)
			is := was
			is.Lanes, is.Slots = to[0], to[1]
			is.N = pairs.InProportion(30, was.All(), is.All())
			got := pairs.Grow(is, kept, all(is.Slots))
			if d := cmp.Diff(kept, got[:30]); d != "" {
				t.Errorf("%s, %v: what was drawn is another: %s", order, to, d)
			}
			if d := cmp.Diff(got, pairs.Grow(is, kept, all(is.Slots))); d != "" {
				t.Errorf("%s, %v: a second drawing is another: %s", order, to, d)
			}
			if int64(len(got)) != is.N {
				t.Errorf("%s, %v: %d pairs, want %d", order, to, len(got), is.N)
			}
			two, slots, lead, twice := map[int64]int{}, map[int64]int{}, map[int64]int{}, 0
			seen := map[pairs.Listed]bool{}
			for _, l := range got {
				low, high := min(l.First, l.Second), max(l.First, l.Second)
				if at := (pairs.Listed{Item: l.Item, First: low, Second: high}); seen[at] || low == high {
					t.Fatalf("%s, %v: %+v twice", order, to, l)
				} else {
					seen[at] = true
				}
				two[low*100+high]++
				slots[l.Item]++
				if l.First == low {
					lead[low*100+high]++
				} else {
					lead[low*100+high]--
				}
				if l.Twice {
					twice++
				}
			}
			byTwo, n := map[int64]int{}, int64(0)
			for low := range to[0] {
				for high := low + 1; high < to[0]; high++ {
					byTwo[n] = two[low*100+high]
					n++
					if x := lead[low*100+high]; order == pairs.Alternate && (x < -1 || x > 1) {
						t.Errorf("%v: of lanes %d and %d one is first %+d times more", to, low, high, x)
					}
				}
			}
			if least, most := extent(byTwo, n); most-least > 1 {
				t.Errorf("%s, %v: two lanes meet %d to %d times", order, to, least, most)
			}
			if least, most := extent(slots, to[1]); most-least > 2 {
				t.Errorf("%s, %v: %d to %d pairs on a slot", order, to, least, most)
			}
			want := map[pairs.Order]int{pairs.Both: len(got), pairs.Random: int(float64(len(got))*0.3 + 0.5)}[order]
			if twice < want-1 || twice > want+1 {
				t.Errorf("%s, %v: %d of %d are asked twice, want %d", order, to, twice, len(got), want)
			}
			s := ready(t, pairs.Design{Lanes: to[0], Slots: to[1], Pick: pairs.List, List: got, Stride: 1, Order: pairs.AsListed})
			if d := cmp.Diff(got, listed(s, false)); d != "" || s.Len() != int64(len(got)+twice) {
				t.Errorf("%s, %v: as a schedule it is another: %s", order, to, d)
			}
		}
	}
}

func TestEveryOtherWayToChooseGrowsToWhatItSays(t *testing.T) {
	t.Parallel()
	for pick, want := range map[pairs.Pick]int{pairs.All: 10 * 9, pairs.PerItem: 4 * 9, pairs.PerLanePair: 4 * 10} {
		was := pairs.Design{Lanes: 4, Slots: 7, Pick: pick, N: 4, Seed: 3}
		kept := listed(ready(t, was), false)
		is := was
		is.Lanes, is.Slots = 5, 10
		open := all(10)
		open[8] = false
		got := pairs.Grow(is, kept, open)
		if d := cmp.Diff(kept, got[:len(kept)]); d != "" || len(got) != want {
			t.Errorf("%s: %d pairs, want %d, or what was drawn is another: %s", pick, len(got), want, d)
		}
		each := map[int64]int{}
		for _, l := range got {
			if l.Item == 8 {
				t.Errorf("%s: %+v is on a slot that takes no part", pick, l)
			}
			if pick == pairs.PerItem {
				each[l.Item]++
			} else {
				each[min(l.First, l.Second)*10+max(l.First, l.Second)]++
			}
		}
		for at, n := range each {
			if n != map[pairs.Pick]int{pairs.All: 9, pairs.PerItem: 4, pairs.PerLanePair: 4}[pick] {
				t.Errorf("%s: %d has %d", pick, at, n)
			}
		}
	}
}

func TestItemsThatAreAddedMeetAsOftenAsTheOthers(t *testing.T) {
	t.Parallel()
	was := pairs.Design{Slots: 10, Pick: pairs.Sample, N: 20, Seed: 5}
	kept := listed(ready(t, was), true)
	is := was
	is.Slots, is.N = 16, pairs.InProportion(20, 10, 16)
	got := pairs.Grow(is, kept, all(16))
	met := map[int64]int{}
	for _, l := range got {
		met[l.First]++
		met[l.Second]++
	}
	if least, most := extent(met, 16); len(got) != 32 || most-least > 1 || least != 4 {
		t.Errorf("%d pairs, each item in %d to %d", len(got), least, most)
	}
	if d := cmp.Diff(kept, got[:20]); d != "" {
		t.Error(d)
	}
	// Within groups they meet those of their group alone.
	is.Groups = [][]int64{{0, 1, 2, 3, 10, 11, 12}, {4, 5, 6, 7, 8, 9}, {13, 14, 15}}
	was.Groups = [][]int64{{0, 1, 2, 3}, {4, 5, 6, 7, 8, 9}}
	was.N = 10
	kept = listed(ready(t, was), true)
	is.N = pairs.InProportion(10, 10, 16)
	in := map[int64]int{}
	for g, members := range is.Groups {
		for _, m := range members {
			in[m] = g
		}
	}
	got = pairs.Grow(is, kept, all(16))
	clear(met)
	for _, l := range got {
		if in[l.First] != in[l.Second] {
			t.Errorf("%+v meet across groups", l)
		}
		met[l.First]++
		met[l.Second]++
	}
	if least, most := extent(met, 16); len(got) != 16 || least != 2 || most != 2 {
		t.Errorf("%d pairs, each item in %d to %d", len(got), least, most)
	}
}
