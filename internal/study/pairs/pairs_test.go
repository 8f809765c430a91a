package pairs_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/pairs"
)

func ready(t testing.TB, d pairs.Design) *pairs.Schedule {
	t.Helper()
	s, err := pairs.New(d)
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	return s
}

// designs returns many small ones of every kind.
func designs() []pairs.Design {
	var all []pairs.Design
	rng := rand.New(rand.NewPCG(3, 4))
	for _, lanes := range []int64{0, 1, 2, 3, 4, 5, 7} {
		for _, slots := range []int64{0, 1, 2, 3, 4, 5, 6, 9, 16, 31} {
			for _, pick := range []pairs.Pick{"", pairs.All, pairs.Sample, pairs.PerItem, pairs.PerLanePair} {
				if pick == pairs.PerLanePair && lanes == 0 {
					continue
				}
				for _, n := range []int64{1, 2, 3, 7, 50, 10_000} {
					d := pairs.Design{Lanes: lanes, Slots: slots, Pick: pick, N: n, Seed: rng.Uint64()}
					d.Order = []pairs.Order{"", pairs.Random, pairs.Alternate, pairs.Both}[rng.IntN(4)]
					if d.Order != pairs.Both {
						d.Reverse = []float64{0, 0.3, 0.5, 1}[rng.IntN(4)]
					}
					all = append(all, d)
				}
			}
		}
	}
	return all
}

type unordered struct{ slot, low, high int64 }

func (u unordered) String() string { return fmt.Sprintf("%d:%d-%d", u.slot, u.low, u.high) }

func key(p pairs.Pair) unordered {
	return unordered{p.Slot, min(p.First, p.Second), max(p.First, p.Second)}
}

func TestEveryDesignYieldsWhatItCountsAndNoPairTwice(t *testing.T) {
	t.Parallel()
	for _, d := range designs() {
		s := ready(t, d)
		count := s.Len()
		once, again := map[unordered]pairs.Pair{}, map[unordered]pairs.Pair{}
		yielded := int64(0)
		for p := range s.All() {
			yielded++
			contestants, slots := d.Lanes, d.Slots
			if d.Lanes == 0 {
				contestants, slots = d.Slots, 1
			}
			if p.First == p.Second || min(p.First, p.Second) < 0 || max(p.First, p.Second) >= contestants || p.Slot < 0 || p.Slot >= slots {
				t.Fatalf("%+v: %+v is no pair", d, p)
			}
			seen := once
			if p.Again {
				seen = again
			}
			if other, twice := seen[key(p)]; twice {
				t.Fatalf("%+v: %+v after %+v", d, p, other)
			}
			seen[key(p)] = p
		}
		if yielded != count || count != s.Len() || int64(len(once)) != s.Pairs() {
			t.Errorf("%+v: counts %d, has %d showings of %d pairs, yields %d of %d", d, count, s.Len(), s.Pairs(), yielded, len(once))
		}
		for k, p := range again {
			first := once[k]
			if want := (pairs.Pair{Row: first.Row, Slot: first.Slot, First: first.Second, Second: first.First, Again: true}); p != want {
				t.Errorf("%+v: %+v again as %+v", d, first, p)
			}
		}
	}
}

func TestTheSlotsTogetherYieldWhatAllYields(t *testing.T) {
	t.Parallel()
	for _, d := range designs() {
		s := ready(t, d)
		want := slices.Collect(s.All())
		var got []pairs.Pair
		for slot := range max(1, d.Slots) {
			for p := range s.On(slot) {
				if p.Slot != slot {
					t.Fatalf("%+v: slot %d yields %+v", d, slot, p)
				}
				got = append(got, p)
			}
		}
		slices.SortFunc(want, byShowing)
		slices.SortFunc(got, byShowing)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v: %s", d, diff)
		}
		for range s.On(max(1, d.Slots)) {
			t.Fatalf("%+v: there is no such slot", d)
		}
	}
}

func byShowing(a, b pairs.Pair) int {
	if a.Row != b.Row {
		return int(a.Row - b.Row)
	}
	if a.Again == b.Again {
		return 0
	}
	if b.Again {
		return -1
	}
	return 1
}

func TestHowManyPairsADesignHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    pairs.Design
		want int64
	}{
		{pairs.Design{Slots: 20}, 190},
		{pairs.Design{Slots: 20, Order: pairs.Both}, 380},
		{pairs.Design{Slots: 20, Reverse: 0.3}, 190 + 57},
		{pairs.Design{Slots: 6, Reverse: 0.3}, 15 + 4}, // 4.5 goes to the even number
		{pairs.Design{Slots: 20, Pick: pairs.PerItem, N: 3}, 30},
		{pairs.Design{Slots: 21, Pick: pairs.PerItem, N: 3}, 30},
		{pairs.Design{Slots: 21, Pick: pairs.PerItem, N: 20}, 210},
		{pairs.Design{Lanes: 4, Slots: 12}, 72},
		{pairs.Design{Lanes: 4, Slots: 12, Pick: pairs.Sample, N: 30, Order: pairs.Both}, 60},
		{pairs.Design{Lanes: 4, Slots: 12, Pick: pairs.Sample, N: 500}, 72},
		{pairs.Design{Lanes: 4, Slots: 12, Pick: pairs.PerItem, N: 2}, 24},
		{pairs.Design{Lanes: 4, Slots: 12, Pick: pairs.PerLanePair, N: 5}, 30},
		{pairs.Design{Lanes: 1, Slots: 12}, 0},
		{pairs.Design{Slots: 1}, 0},
	} {
		if got := ready(t, c.d).Len(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.d, got, c.want)
		}
	}
}

func TestDesignsThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]pairs.Design{
		"pairs: sample: want at least 1, got 0": {Lanes: 2, Slots: 3,
			Pick: pairs.Sample},
		`pairs: no way to choose called "some"`:             {Lanes: 2, Slots: 3, Pick: "some"},
		`pairs: no order called "any"`:                      {Lanes: 2, Slots: 3, Order: "any"},
		"pairs: reverse: want a share from 0 to 1, got 1.5": {Lanes: 2, Slots: 3, Reverse: 1.5},
		"pairs: order both asks every pair both ways already: leave reverse out": {Lanes: 2, Slots: 3, Order: pairs.Both,
			Reverse: 0.3},
		"pairs: per_lane_pair needs lanes: here items stand against each other": {Slots: 3,
			Pick: pairs.PerLanePair, N: 1},
		"pairs: -1 lanes on 3 slots": {Lanes: -1, Slots: 3},
		"pairs: 5e+17 possible pairs are more than can be counted exactly: compare fewer items":    {Slots: 1e9},
		"pairs: 1e+16 possible pairs are more than can be counted exactly: compare fewer items":    {Lanes: 2, Slots: 1e16},
		"pairs: 4.25e+37 possible pairs are more than can be counted exactly: compare fewer items": {Slots: 1<<63 - 1},
		"pairs: per_item: want at least 1, got -9":                                                 {Slots: 3, Pick: pairs.PerItem, N: -9},
	} {
		if _, err := pairs.New(d); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", d, err, want)
		}
	}
}

func TestTheSameSeedGivesTheSamePairsAndAnotherSeedOthers(t *testing.T) {
	t.Parallel()
	d := pairs.Design{Lanes: 5, Slots: 100, Pick: pairs.Sample, N: 50, Reverse: 0.3, Seed: 7}
	want := slices.Collect(ready(t, d).All())
	for range 3 {
		runtime.GC()
		if diff := cmp.Diff(want, slices.Collect(ready(t, d).All())); diff != "" {
			t.Fatal(diff)
		}
	}
	d.Seed = 8
	if cmp.Equal(want, slices.Collect(ready(t, d).All())) {
		t.Error("seed 8 gives the pairs of seed 7")
	}
}

func TestSchedulesNeverChangeBetweenVersions(t *testing.T) {
	t.Parallel()
	show := func(d pairs.Design) (out []string) {
		for p := range ready(t, d).All() {
			out = append(out, fmt.Sprintf("%d:%d-%d", p.Slot, p.First, p.Second))
		}
		return out
	}
	for _, c := range []struct {
		d    pairs.Design
		want []string
	}{
		{pairs.Design{Lanes: 3, Slots: 10, Pick: pairs.Sample, N: 7, Reverse: 0.3, Seed: 7},
			[]string{"9:2-0", "8:0-1", "0:1-2", "6:2-0", "3:1-0", "4:2-1", "5:2-0", "3:0-1", "4:1-2"}},
		{pairs.Design{Lanes: 3, Slots: 4, Pick: pairs.PerItem, N: 2, Seed: 7},
			[]string{"0:2-0", "0:1-2", "1:0-1", "1:1-2", "2:2-1", "2:2-0", "3:2-0", "3:1-0"}},
		{pairs.Design{Slots: 10, Pick: pairs.Sample, N: 7, Seed: 7},
			[]string{"0:7-0", "0:4-6", "0:3-8", "0:9-1", "0:2-5", "0:2-0", "0:5-1"}},
		{pairs.Design{Slots: 7, Pick: pairs.Sample, N: 12, Order: pairs.Alternate, Seed: 7}, []string{
			"0:0-3", "0:6-2", "0:1-5", "0:5-2", "0:0-6", "0:4-3", "0:0-1", "0:5-4", "0:3-6", "0:6-1", "0:2-3", "0:4-0",
		}},
		{pairs.Design{Slots: 4, Order: pairs.Alternate}, []string{"0:0-1", "0:2-0", "0:0-3", "0:2-1", "0:1-3", "0:3-2"}},
	} {
		if diff := cmp.Diff(c.want, show(c.d)); diff != "" {
			t.Errorf("%+v: %s", c.d, diff)
		}
	}
}

func TestASampleIsBalancedOverLanePairsAndSlots(t *testing.T) {
	t.Parallel()
	for _, lanes := range []int64{2, 3, 4, 6} {
		for _, slots := range []int64{1, 5, 12, 40} {
			for n := int64(1); n <= lanes*(lanes-1)/2*slots; n += 1 + n/7 {
				d := pairs.Design{Lanes: lanes, Slots: slots, Pick: pairs.Sample, N: n, Seed: uint64(n)}
				perPair, perSlot := map[unordered]int64{}, map[int64]int64{}
				for p := range ready(t, d).All() {
					k := key(p)
					k.slot = 0
					perPair[k]++
					perSlot[p.Slot]++
				}
				if low, high := spread(perPair, lanes*(lanes-1)/2); high-low > 1 {
					t.Errorf("%+v: lane pairs from %d to %d times", d, low, high)
				}
				if low, high := spread(perSlot, slots); high-low > 1 {
					t.Errorf("%+v: slots from %d to %d times", d, low, high)
				}
			}
		}
	}
}

// spread returns the smallest and the largest count; keys that were never counted count 0.
func spread[K comparable](counts map[K]int64, keys int64) (low, high int64) {
	low = 1 << 62
	if int64(len(counts)) < keys {
		low = 0
	}
	for _, c := range counts {
		low, high = min(low, c), max(high, c)
	}
	return low, high
}

func TestALargerSampleKeepsThePairsOfASmallerOne(t *testing.T) {
	t.Parallel()
	for _, lanes := range []int64{0, 4} {
		small := pairs.Design{Lanes: lanes, Slots: 30, Pick: pairs.Sample, N: 40, Seed: 9}
		large := small
		large.N = 100
		kept := map[pairs.Pair]bool{}
		for p := range ready(t, large).All() {
			kept[p] = true
		}
		for p := range ready(t, small).All() {
			if !kept[p] {
				t.Errorf("lanes %d: %+v is lost", lanes, p)
			}
		}
	}
}

func TestPerItemGivesEverySlotItsPairsAndUsesAllLanePairsEqually(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 2, 4, 5} {
		d := pairs.Design{Lanes: 4, Slots: 60, Pick: pairs.PerItem, N: n, Seed: 3}
		perPair, perSlot, together := map[unordered]int64{}, map[int64]int64{}, map[string]bool{}
		for slot := range d.Slots {
			var met []string
			for p := range ready(t, d).On(slot) {
				k := key(p)
				k.slot = 0
				perPair[k]++
				perSlot[p.Slot]++
				met = append(met, k.String())
			}
			slices.Sort(met)
			together[fmt.Sprint(met)] = true
		}
		if low, high := spread(perSlot, d.Slots); low != n || high != n {
			t.Errorf("%d per item: from %d to %d", n, low, high)
		}
		if low, high := spread(perPair, 6); high-low > 1 {
			t.Errorf("%d per item: lane pairs from %d to %d times", n, low, high)
		}
		if n == 2 && len(together) < 8 {
			t.Errorf("only %d combinations of lane pairs ever meet on a slot", len(together))
		}
	}
}

func TestItemsMeetEquallyOftenAndAreSoonConnected(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{2, 3, 4, 5, 8, 9, 15, 16, 33} {
		for count := int64(1); count < n*(n-1)/2; count += 1 + count/9 {
			d := pairs.Design{Slots: n, Pick: pairs.Sample, N: count, Seed: uint64(count)}
			met := map[int64]int64{}
			parts := newParts(n)
			for p := range ready(t, d).All() {
				met[p.First]++
				met[p.Second]++
				parts.join(p.First, p.Second)
			}
			if low, high := spread(met, n); high-low > 2 {
				t.Errorf("%d pairs of %d items: an item meets %d to %d others", count, n, low, high)
			}
			if count >= n && parts.number() != 1 {
				t.Errorf("%d pairs of %d items fall into %d parts", count, n, parts.number())
			}
		}
		for _, per := range []int64{1, 2, 3} {
			d := pairs.Design{Slots: n, Pick: pairs.PerItem, N: per, Seed: 5}
			met := map[int64]int64{}
			for p := range ready(t, d).All() {
				met[p.First]++
				met[p.Second]++
			}
			least := min(per, n-1)
			if n%2 == 1 && per < n-1 {
				least--
			}
			if low, high := spread(met, n); low < least || high > min(per, n-1) {
				t.Errorf("%d per item of %d items: from %d to %d", per, n, low, high)
			}
		}
	}
}

// parts are sets of items that are connected.
type parts []int64

func newParts(n int64) parts {
	p := make(parts, n)
	for i := range p {
		p[i] = int64(i)
	}
	return p
}

func (p parts) root(i int64) int64 {
	for p[i] != i {
		i = p[i]
	}
	return i
}

func (p parts) join(i, j int64) { p[p.root(i)] = p.root(j) }

func (p parts) number() (n int) {
	for i := range p {
		if p[i] == int64(i) {
			n++
		}
	}
	return n
}

func TestOrdersShowEachLaneFirstAboutHalfTheTime(t *testing.T) {
	t.Parallel()
	for _, pick := range []pairs.Pick{pairs.All, pairs.Sample, pairs.PerItem, pairs.PerLanePair} {
		for _, order := range []pairs.Order{pairs.Random, pairs.Alternate, pairs.Both} {
			d := pairs.Design{Lanes: 4, Slots: 400, Pick: pick, N: 300, Order: order, Seed: 11}
			if pick == pairs.PerItem {
				d.N = 4
			}
			first, all := map[unordered]float64{}, map[unordered]float64{}
			for p := range ready(t, d).All() {
				k := key(p)
				k.slot = 0
				all[k]++
				if p.First < p.Second {
					first[k]++
				}
			}
			allowed := map[pairs.Order]float64{pairs.Random: 0.3, pairs.Alternate: 0.02, pairs.Both: 0}[order]
			for k, n := range all {
				if share := first[k] / n; share < 0.5-allowed || share > 0.5+allowed {
					t.Errorf("%s, %s: the lower lane of %s stands first in %.3f of %g", pick, order, k, share, n)
				}
			}
		}
	}
}

func TestAShareAskedAgainIsSpreadOverLanePairs(t *testing.T) {
	t.Parallel()
	again := map[unordered]int64{}
	for p := range ready(t, pairs.Design{Lanes: 4, Slots: 200, Reverse: 0.3, Seed: 1}).All() {
		if p.Again {
			k := key(p)
			k.slot = 0
			again[k]++
		}
	}
	if low, high := spread(again, 6); low < 35 || high > 85 {
		t.Errorf("of 360 pairs asked again, lane pairs have %d to %d", low, high)
	}
}

func TestFiveHundredOfAThousandMillionPairsAreNotEnumerated(t *testing.T) {
	// Not parallel: it counts allocations.
	for _, d := range []pairs.Design{
		{Lanes: 100, Slots: 202_021, Pick: pairs.Sample, N: 500},
		{Slots: 44_722, Pick: pairs.Sample, N: 500},
	} {
		seen := 0
		allocations := testing.AllocsPerRun(1, func() {
			for range ready(t, d).All() {
				seen++
			}
		})
		if seen != 1000 || allocations > 20 { // AllocsPerRun runs it twice
			t.Errorf("%+v: %d pairs, %g allocations", d, seen, allocations)
		}
	}
}

func TestPairIDsAreOpaqueAndShowTheDirectionOnly(t *testing.T) {
	t.Parallel()
	names := []string{"", "a", "b", "ab", "a_b", "a_vs_b", "b_vs_a", "A", "é", "gpt5.high", "\x00", "a\x00"}
	seen := map[string]string{}
	for _, x := range names {
		for _, y := range names {
			if x == y {
				continue
			}
			id, back := pairs.ID(x, y), pairs.ID(y, x)
			if other, ok := seen[id]; ok {
				t.Errorf("%q and %q share %s", other, x+"|"+y, id)
			}
			seen[id] = x + "|" + y
			if pairs.Unordered(id) != pairs.Unordered(back) || id == back || pairs.Unordered(id) == id {
				t.Errorf("%q and %q: %s and %s", x, y, id, back)
			}
			if want := map[bool]assay.Direction{true: assay.Forward, false: assay.Reverse}[x < y]; pairs.Direction(x, y) != want {
				t.Errorf("%q before %q is %s", x, y, pairs.Direction(x, y))
			}
		}
	}
	// Ids are stored for years.
	if got, want := pairs.ID("gpt5.high", "4o.1.0"), "zx3mmkr53tkpdldjlo6hr"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	if got := pairs.Unordered("not one of ours"); got != "not one of ours" {
		t.Errorf("a foreign id became %s", got)
	}
}

func TestIdenticalAnswersAreATieWithoutAsking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"yes", "yes", true}, {"yes\n", " yes", true}, {"yes", "Yes", false}, {"yes", "yes.", false}, {"", "", false}, {" ", "\n", false},
		{"", "x", false},
	} {
		v, got := pairs.Identical(c.a, c.b)
		if got != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, got)
		}
		if got && (v.State != assay.VerdictValid || v.Label != assay.LabelTie || *v.Score != 0.5 || v.Why != pairs.WhyIdentical) {
			t.Errorf("%+v", v)
		}
	}
}

func BenchmarkShowings(b *testing.B) {
	s := ready(b, pairs.Design{Lanes: 15, Slots: 1_000_000, Pick: pairs.Sample, N: 10_000_000})
	n := int64(0)
	for b.Loop() {
		_ = s.At(n % s.Len())
		n++
	}
}
