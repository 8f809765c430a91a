package runs_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
)

// Requests that a provider has are in flight: staged ones are not.
func TestWhatIsStagedIsNotInFlight(t *testing.T) {
	t.Parallel()
	run := store.Run{NewRun: store.NewRun{ID: "r", Study: "s"}, State: store.RunOpen}
	for want, p := range map[string]runs.Progress{
		"Run r of s is stopped: 1 of 1 request has an " +
			"answer; $0.00 spent.": {Wanted: 1, Answered: 1},
		"Run r of s is stopped: 0 of 3 requests have an answer, 1 is in flight, 1 goes live, 1 is staged and not " +
			"sent; $0.00 spent.": {Wanted: 3, InFlight: 1, Live: 1, Staged: 1},
		"Run r of s is stopped: 1 of 380 requests has an answer, 379 are in " +
			"flight; $0.00 spent.": {Wanted: 380, Answered: 1, InFlight: 379},
		"Run r of s is stopped: 1 of 380 requests has an answer, 55 are in flight, 324 are staged and not " +
			"sent; $0.00 spent.": {Wanted: 380, Answered: 1, InFlight: 55, Staged: 324},
		"Run r of s is stopped: 1 of 380 requests has an answer, 379 are in flight (20 of them answered, by the provider's " +
			"count); $0.00 spent.": {Wanted: 380, Answered: 1, InFlight: 379, Ready: 20},
		"Run r of s is stopped: 1 of 9 requests has an answer, 2 ended without one, 1 goes out again, 3 go live, 2 are left in lanes " +
			"that are stopped or held; $0.00 spent.": {
			Wanted: 9, Answered: 1, Failed: 3, Again: 1, Live: 3, Halted: 2},
	} {
		if got := (runs.Standing{State: runs.StateStopped, Run: run, Far: runs.RunProgress{Progress: p}}).Sentence(); got != want {
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
		"being fetched":     {store.Segment{State: store.Ended, Requests: 36, JobCounts: counts}, 24, true},
		"its results came":  {store.Segment{State: store.Settled, Requests: 36, JobCounts: counts}, 0, false},
		"it does not count": {store.Segment{State: store.Launched, Requests: 36, JobCounts: `{"Known":false}`}, 0, false},
		"not looked at yet": {store.Segment{State: store.Launched, Requests: 36}, 0, false},
	} {
		if done, known := runs.Reported(c.g); done != c.done || known != c.known {
			t.Errorf("%s: %d, %v", name, done, known)
		}
	}
}

// A rehearsal spends nothing: its prices are those of a real run.
func TestARehearsalSaysWhatItWouldHaveCost(t *testing.T) {
	t.Parallel()
	run := store.Run{NewRun: store.NewRun{ID: "r", Study: "s", Rehearsal: true}, State: store.RunOpen}
	for want, cost := range map[string]assay.Cost{
		"Run r of s is stopped: 1 of 1 request has an answer; nothing spent; it would " +
			"have cost $0.26.": {Sum: assay.Dollars(0.26), Priced: 1},
		"Run r of s is stopped: 1 of 1 request has an answer; nothing spent; it would have cost " +
			"at least $0.26.": {Sum: assay.Dollars(0.26), Priced: 1, Unknown: 1},
		"Run r of s is stopped: 1 of 1 request has an answer; nothing spent, and what it would have cost is unknown.": {Unknown: 1},
	} {
		is := runs.Standing{State: runs.StateStopped, Run: run, Needs: store.Attention{Cost: cost},
			Far: runs.RunProgress{Progress: runs.Progress{Wanted: 1, Answered: 1}}}
		if got := is.Sentence(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
