package analysis

import (
	"testing"

	"assay/internal/find/stats"
	"assay/internal/study/declare"
)

// boardOf returns two lanes with the p-value of their difference, the first ahead.
func boardOf(p float64, items int) *Leaderboard {
	return &Leaderboard{Stage: "right", Verb: Judged, Field: ByLane, Level: 0.95, Test: ExactPairs,
		Places: []Place{{Name: "a", Value: stats.Known(0.9)}, {Name: "b", Value: stats.Known(0.5)}},
		Tests:  []Contrast{{First: 0, Second: 1, Difference: stats.Known(0.4), P: stats.Known(p), Clusters: items}}}
}

func TestLooksSpendNoMoreThanTheirBoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	l := &Looked{}
	for range 50 {
		l.Items = append(l.Items, 10)
		if bound := l.Bound(0.95); bound > 0.055+1e-9 {
			t.Fatalf("%d looks: %g", len(l.Items)+1, bound)
		}
	}
	if (*Looked)(nil).Part() != 1 || (&Looked{Items: []int{9}}).Part() != 0.05 {
		t.Error("the first look has the whole error, the second a twentieth of it")
	}
}

func TestASecondLookAsksForMoreAndKeepsWhatWasClaimed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second float64 // p-values
		want          bool
	}{
		{0.3, 0.02, false}, {0.3, 0.002, true}, // at the error that is left
		{0.02, 0.2, true}, // claimed before
	} {
		look, ok := boardOf(c.first, 30).Looks(30)
		if !ok {
			t.Fatal("30 items could show nothing")
		}
		now := boardOf(c.second, 60)
		now.Looked = LookedAt([]declare.Look{look}, "right", 60)
		apart, tested := now.Apart()
		if !tested || apart[[2]int{0, 1}] != c.want || apart[[2]int{1, 0}] != c.want {
			t.Errorf("p %g, then %g: %v", c.first, c.second, apart)
		}
	}
	if LookedAt([]declare.Look{{Stage: "right", Items: 30}}, "right", 30) != nil {
		t.Error("the same items are a second look")
	}
	if _, ok := boardOf(1, 5).Looks(5); ok {
		t.Error("five items can show nothing, and have spent no error")
	}
}

func TestALookAtAsManyItemsTakesThePlaceOfTheOneBefore(t *testing.T) {
	t.Parallel()
	all := declare.AddLook([]declare.Look{{Stage: "right", Items: 30}, {Stage: "other", Items: 30}},
		declare.Look{Stage: "right", Items: 30, Claims: []declare.Claim{{Better: "a", Worse: "b"}}})
	if l := LookedAt(all, "right", 60); len(all) != 2 || len(l.Items) != 1 || len(l.Claims) != 1 {
		t.Errorf("%+v", all)
	}
}
