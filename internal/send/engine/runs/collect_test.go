package runs_test

import (
	"testing"
	"time"

	"assay/internal/keep/store"
)

// An order to collect that comes while the same process polls the job waits for that poll: it would find nothing
// otherwise.
func TestACollectWaitsForTheLookThatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.items = 6 })
	w.until(func() bool { return len(w.segments(store.Launched)) == 1 })
	g := w.segments(store.Launched)[0]
	_, err := w.s.Leases.HoldSegment(w.ctx, g.No, w.e.Holder, time.Second) // the look, which ends with its lease
	w.ok(err)
	before := w.fake.calls["check"]
	_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderCollect, Args: "{}", By: "anna"})
	w.ok(err)
	_, err = w.e.Extend(w.ctx, w.run.No)
	w.ok(err)
	if w.fake.calls["check"] == before {
		t.Errorf("the provider was not asked\n%s", w.history())
	}
}
