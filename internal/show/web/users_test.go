package web_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// TestUsersOfAGatewayAreShownWithWhatTheyUsed adds up by hand what two users did, and a third who did nothing.
func TestUsersOfAGatewayAreShownWithWhatTheyUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	dollars := func(d float64) *assay.Money { m := assay.Dollars(d); return &m }
	if a := r.get("/runs"); strings.Contains(a.body, "/users") {
		t.Error("there is a link to users where there are none")
	}
	call := func(owner string, high float64, end *store.ClientCallEnd) {
		no, err := r.ledger.Clients.BeginClientCall(ctx,
			store.ClientCall{Owner: owner, Provider: "openai", Model: "m", High: dollars(high)}, store.Allowance{})
		r.ok(err)
		if end != nil {
			r.ok(r.ledger.Clients.EndClientCall(ctx, no, *end))
		}
	}
	call("anna", 1, &store.ClientCallEnd{Ending: assay.Answered, Usage: assay.Usage{Known: true, Input: 1200, Output: 30},
		Cost: dollars(0.25)})
	call("anna", 2, nil)
	// has neither tokens nor a price
	call("<i>bert", 4, &store.ClientCallEnd{Ending: assay.Answered})
	// what it may cost is not known
	_, err := r.ledger.Clients.BeginClientCall(ctx, store.ClientCall{Owner: "dora", Provider: "openai", Model: "m"}, store.Allowance{})
	r.ok(err)
	run, err := r.ledger.Runs.CreateRun(ctx,
		store.NewRun{ID: "g1", Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: "anna", Budget: dollars(8)})
	r.ok(err)
	r.ok(r.ledger.Runs.PutLanes(ctx, []store.Lane{
		{Run: run.No, Stage: "batch", Name: "a", Provider: "openai", Model: "m", Params: "{}", Planned: 5, State: store.LaneOpen,
			Canary: store.CanaryOff},
		{Run: run.No, Stage: "batch", Name: "b", Provider: "openai", Model: "n", Params: "{}", Planned: 2, State: store.LaneOpen,
			Canary: store.CanaryOff}}))
	r.ok(r.ledger.Runs.OpenRun(ctx, run.No))
	now := time.Now()
	g, err := r.ledger.Work.AddSegment(ctx, store.NewSegment{Run: run.No, GroupKey: store.GroupKey{Stage: "batch", Lane: "a"},
		Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m"}, "me", time.Hour)
	r.ok(err)
	at := assay.Coordinates{Stage: "batch", Item: "q", Lane: "a"}
	key := at.Key()
	r.ok(r.ledger.Work.AddAttempts(ctx, g.Lease, []store.Attempt{{Key: key, Try: 1, Digest: key[:], At: at}}))
	r.ok(r.ledger.Work.Stage(ctx, g.Lease, store.Bytes{Name: "in.jsonl", Size: 1, SHA256: "ab"}, 0, 0, now))
	r.ok(r.ledger.Work.Upload(ctx, g.Lease, "{}", now))
	r.ok(r.ledger.Work.Intend(ctx, g.Lease, store.Intent{Account: "key", Due: now})) // with a key that is not there
	r.ok(r.ledger.Clients.PutClientUsers(ctx, []store.ClientUser{{Budget: dollars(100)}, {Owner: "anna", Budget: dollars(25)},
		{Owner: "<i>bert"}, {Owner: "carl", Budget: dollars(3)}}))
	var got struct{ Users []map[string]any }
	r.ok(json.Unmarshal([]byte(r.get("/api/users").body), &got))
	row := func(user string, batches, keyless, requests, calls, open, in, out, unsaid, spent, unpriced, taken, noMost float64,
		budget, left any) map[string]any {
		return map[string]any{"user": user, "rehearsal": false, "batches": batches, "batches_without_key": keyless,
			"batch_requests": requests, "calls": calls, "calls_without_ending": open, "input_tokens_at_least": in,
			"output_tokens_at_least": out, "replies_without_tokens": unsaid, "spent_at_least_usd": spent, "unpriced": unpriced,
			"taken_usd": taken, "without_a_most": noMost, "budget_usd": budget, "budget_left_usd": left}
	}
	want := []map[string]any{
		row("<i>bert", 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 4, 0, nil, nil),
		row("anna", 1, 1, 7, 2, 1, 1200, 30, 0, 0.25, 0, 10.25, 0, 25.0, 14.75),
		row("carl", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3.0, 3.0),
		row("dora", 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, nil, nil),
		row("", 1, 1, 7, 4, 2, 1200, 30, 1, 0.25, 1, 14.25, 1, 100.0, 85.75),
	}
	if d := cmp.Diff(want, got.Users); d != "" {
		t.Errorf("users (-want +got):\n%s", d)
	}
	page := r.get("/users").body
	for _, text := range []string{"1,200", "$14.75", "$0.25", "1 without an ending", "1 waits for a key", "≥ 0", "≥ $0.00",
		"&lt;i&gt;bert"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q:\n%s", text, page)
		}
	}
	if a := r.get("/runs"); !strings.Contains(a.body, `href="/users"`) {
		t.Error("no link leads to the users")
	}
}
