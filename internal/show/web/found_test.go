package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/store"
)

func TestTheListOfRunsSaysWhatWasFoundWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const mark = `class="found"`
	r.get("/api/runs/run1/summary") // computed, and the run is open
	if strings.Contains(r.get("/runs").body, mark) {
		t.Error("a run that is open has a result")
	}
	r.closeRun()
	if strings.Contains(r.get("/runs").body, mark) {
		t.Error("what was computed before the run changed is shown as its result")
	}
	r.clock = r.clock.Add(time.Hour)
	r.get("/api/runs/run1/summary")
	if body := r.get("/runs").body; !strings.Contains(body, mark+">no difference shown<") {
		t.Errorf("no result: %s", body)
	}
}

// closeRun ends the rig's run.
func (r *rig) closeRun() {
	run, err := r.ledger.Run(context.Background(), r.run.No)
	r.ok(err)
	lease, err := r.ledger.HoldRun(context.Background(), run.No, "test", time.Hour)
	r.ok(err)
	r.ok(r.ledger.CloseRun(context.Background(), lease, run.Due, store.ResultDone))
}

// What was found is shown where the ledger takes no writes.
func TestAFullDiskKeepsNoOneFromReadingWhatWasFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.closeRun()
	full, err := store.Open(context.Background(), r.where, store.Options{})
	r.ok(err)
	r.ok(full.Close()) // it takes nothing any more
	r.home.Orders = full
	if a := r.get("/api/runs/run1/summary"); a.status != 200 || !strings.Contains(a.body, "headline") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
