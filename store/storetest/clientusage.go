package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/store"
)

// clientUsage: live calls count from before they leave, with the most that they may cost until they end; batches count by
// who began them.
func clientUsage(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	begin := func(owner string, high *assay.Money) int64 {
		no, err := b.s.BeginClientCall(b.ctx, store.ClientCall{Owner: owner, Provider: "openai", Model: "m", High: high})
		b.ok(err)
		return no
	}
	money := func(n int64) *assay.Money { m := assay.Money(n); return &m }
	one, two, three := begin("anna", money(100)), begin("anna", money(200)), begin("anna", nil)
	begin("bert", money(7)) // never ends
	b.ok(b.s.EndClientCall(b.ctx, one, store.ClientCallEnd{Ending: assay.Answered, Usage: assay.Usage{Known: true, Input: 10, Output: 5}, Cost: money(30)}))
	b.ok(b.s.EndClientCall(b.ctx, two, store.ClientCallEnd{Ending: assay.Rejected, Cost: money(0)}))
	b.ok(b.s.EndClientCall(b.ctx, three, store.ClientCallEnd{Ending: assay.Answered}))
	if err := b.s.EndClientCall(b.ctx, one, store.ClientCallEnd{Ending: assay.Errored}); err == nil {
		t.Error("a call ended twice")
	}
	budget := assay.Money(5000)
	for id, by := range map[string]string{"g1": "anna", "g2": "carl"} {
		run, err := b.s.CreateRun(b.ctx, store.NewRun{ID: id, Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: by, Budget: &budget})
		b.ok(err)
		b.ok(b.s.OpenRun(b.ctx, run.No))
	}
	_, err := b.s.CreateRun(b.ctx, store.NewRun{ID: "g3", Study: "gateway", Settings: `{"batch":{"client":{"file":"f"}}}`, By: "dora", Budget: &budget})
	b.ok(err) // in preparation: nothing of it will be sent
	got, err := b.s.ClientUsage(b.ctx)
	b.ok(err)
	want := []store.ClientUsage{
		{Owner: "anna", Batches: 1, Calls: 3, Input: 10, Output: 5, Unsaid: 1, Spent: 30, Unpriced: 1, Taken: 5030},
		{Owner: "bert", Calls: 1, Open: 1, Taken: 7},
		{Owner: "carl", Batches: 1, Taken: 5000},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
}
