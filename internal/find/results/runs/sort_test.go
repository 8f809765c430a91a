package runs

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestRunsAreSortedByWhatAListShows(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	one := func(id, study string, state State, hours int, cost assay.Money, wanted int64, lead *float64) Listed {
		l := Listed{Lead: store.Lead{Value: lead}}
		l.State, l.Run.ID, l.Run.Study, l.Run.Created = state, id, study, at.Add(-time.Duration(hours)*time.Hour)
		l.Needs.Cost.Sum, l.Far.Wanted = cost, wanted
		return l
	}
	all := []Listed{one("a", "Zoo", StateDone, 1, 5, 10, new(0.5)), one("b", "bar", StateHeld, 2, 9, 90, nil),
		one("c", "alps", StateInFlight, 3, 1, 50, new(0.9)), one("d", "bar", StateJudges, 4, 7, 70, new(-0.1))}
	for by, want := range map[Sort]string{"": "abcd", SortNewest: "abcd", SortOldest: "dcba", SortStudy: "cbda", SortState: "bdca",
		SortLeader: "cadb", SortSize: "bdca", SortCost: "bdac"} {
		got, sorted := "", slices.Clone(all)
		Merge(by, sorted, func(l Listed) Listed { return l }, 2)
		for _, l := range sorted {
			got += l.Run.ID
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("by %q: %s", by, d)
		}
	}
	if len(urgency) != len(States()) {
		t.Error("a state has no place in the order of states")
	}
}
