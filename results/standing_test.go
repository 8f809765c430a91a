package results_test

import (
	"testing"

	"assay"
	"assay/results"
	"assay/store"
)

// In flight is what a provider has: what is staged is not.
func TestWhatIsStagedIsNotInFlight(t *testing.T) {
	t.Parallel()
	run := store.Run{NewRun: store.NewRun{ID: "r", Study: "s"}, State: store.RunOpen}
	lanes := []store.Lane{{Stage: "a", Name: "l", State: store.LaneOpen, Planned: 380, Open: 379, Endings: map[assay.Ending]int64{assay.Answered: 1}}}
	staged := results.Waiting([]store.Segment{{Requests: 300}, {Requests: 25, Endings: map[assay.Ending]int64{assay.Errored: 1}}})
	for n, want := range map[int64]string{
		0:      "Run r of s is open: 1 of 380 requests have an answer, 379 are in flight; $0.00 spent.",
		staged: "Run r of s is open: 1 of 380 requests have an answer, 55 are in flight, 324 are staged and not sent; $0.00 spent.",
		379:    "Run r of s is open: 1 of 380 requests have an answer, 379 are staged and not sent; $0.00 spent.",
	} {
		if got := results.Standing(run, lanes, assay.Cost{}, n); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTheProvidersCountIsUsedWhileAJobIsOpen(t *testing.T) {
	t.Parallel()
	const counts = `{"Known":true,"Total":36,"Succeeded":22,"Failed":2,"Pending":12}`
	for name, c := range map[string]struct {
		g     store.Segment
		done  int64
		known bool
	}{
		"open":              {store.Segment{State: store.Launched, Requests: 36, JobCounts: counts}, 24, true},
		"more than it has":  {store.Segment{State: store.Launched, Requests: 20, JobCounts: counts}, 20, true},
		"its results came":  {store.Segment{State: store.Settled, Requests: 36, JobCounts: counts}, 0, false},
		"it does not count": {store.Segment{State: store.Launched, Requests: 36, JobCounts: `{"Known":false}`}, 0, false},
		"not looked at yet": {store.Segment{State: store.Launched, Requests: 36}, 0, false},
	} {
		if done, known := results.Reported(c.g); done != c.done || known != c.known {
			t.Errorf("%s: %d, %v", name, done, known)
		}
	}
}
