package web_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// Requests that a provider has are in flight. Those made and not sent are staged, on pages and in the API.
func TestWhatIsStagedIsNotCalledInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	g, err := r.ledger.Work.AddSegment(ctx, store.NewSegment{Run: r.run.No, GroupKey: store.GroupKey{Stage: "good", Lane: "judge", Turn: 1},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m", Nonce: "bbbbbbbbbb"}, "me", time.Minute)
	r.ok(err)
	at := assay.Coordinates{Stage: "good", Item: "x", Lane: "gpt", Judge: "judge", Turn: 1, Draw: 1}
	r.ok(r.ledger.Work.AddAttempts(ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}))
	r.ok(r.ledger.Work.Stage(ctx, g.Lease, store.Bytes{Name: "s-judge", Size: 1, SHA256: "ab"}, 0, 0, r.clock))
	for path, run := range map[string]map[string]any{
		"/runs":               r.json("/runs")["runs"].([]any)[0].(map[string]any),
		"/runs/run1/progress": r.json("/runs/run1")["run"].(map[string]any),
	} {
		if run["in_flight"] != 2.0 || run["staged"] != 1.0 || run["wanted"] != 18.0 {
			t.Errorf("/api%s: %v", path, run)
		}
		if page := r.get(path).body; !strings.Contains(page, "staged") {
			t.Errorf("%s does not say what is staged:\n%s", path, page)
		}
	}
	for _, l := range r.json("/runs/run1")["lanes"].([]any) {
		if l := l.(map[string]any); l["lane"] == "judge" && (l["in_flight"] != 0.0 || l["staged"] != 1.0) {
			t.Errorf("the judge's lane: %v", l)
		}
	}
}

// The amount spent is the cost of all segments so far, as on the command line, and not only of finished ones.
func TestWhatWasSpentIsKnownBeforeASegmentIsFinished(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, run := range map[string]map[string]any{
		"/runs":               r.json("/runs")["runs"].([]any)[0].(map[string]any),
		"/runs/run1/progress": r.json("/runs/run1")["run"].(map[string]any),
	} {
		if run["spent_at_least_usd"] != 0.06 || run["unpriced"] != 2.0 {
			t.Errorf("/api%s: spent %v, unpriced %v", path, run["spent_at_least_usd"], run["unpriced"])
		}
		if page := r.get(path).body; !strings.Contains(page, "at least $0.06") {
			t.Errorf("%s does not say what was spent:\n%s", path, page)
		}
	}
}

// A page shows when a run will be done only where that is no guess, and while a process drives it.
func TestAPageGuessesNoEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	about := func() any { return r.json("/runs")["runs"].([]any)[0].(map[string]any)["done_about"] }
	r.clock = r.clock.Add(time.Hour)
	if got := about(); got != nil {
		t.Errorf("two lanes are through, one has not begun, and no process is at work: done %v", got)
	}
	row := r.json("/runs")["runs"].([]any)[0].(map[string]any)
	if page := r.get("/runs/run1/progress").body; row["no_progress_since"] == nil || !strings.Contains(page, "no progress since") {
		t.Errorf("nothing has moved for an hour, and since is %v:\n%s", row["no_progress_since"], page)
	}
	_, err := r.ledger.Leases.HoldRun(context.Background(), r.run.No, "me", time.Minute)
	r.ok(err)
	want := r.clock.Add(75 * time.Minute).Format(time.RFC3339) // 8 of 18 took an hour
	if got := about(); got != want {
		t.Errorf("done about %v, want %s", got, want)
	}
	if page := r.get("/runs").body; !strings.Contains(page, "done about in 1 h 15 min") {
		t.Errorf("the list does not say so:\n%s", page)
	}
}

// What waits in a stopped lane goes out with a retry, and the confirmation mentions it.
func TestARetryCountsWhatWaitsInStoppedLanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	csrf := hidden(t, r.get("/runs/run1/progress").body, "csrf")
	question := func() string { return r.post(url.Values{"csrf": {csrf}, "kind": {"retry"}}, nil).body }
	if text := question(); !strings.Contains(text, "Up to 2 requests will be sent") {
		t.Errorf("two ended without an answer:\n%s", text)
	}
	r.ok(r.ledger.Work.SetLane(context.Background(), r.run.No, "good", "judge",
		store.LaneStop{State: store.LaneStopped, Reason: "the key was refused"}))
	if text := question(); !strings.Contains(text, "Up to 10 requests will be sent") {
		t.Errorf("eight more wait in a stopped lane:\n%s", text)
	}
}
