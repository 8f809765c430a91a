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
