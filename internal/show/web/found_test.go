package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/ledger"
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
	if body := r.get("/runs").body; !strings.Contains(body, mark+">both tied at the top<") {
		t.Errorf("no result: %s", body)
	}
}

// closeRun ends the rig's run.
func (r *rig) closeRun() {
	run, err := r.ledger.Reader.Run(context.Background(), r.run.No)
	r.ok(err)
	lease, err := r.ledger.Leases.HoldRun(context.Background(), run.No, "test", time.Hour)
	r.ok(err)
	r.ok(r.ledger.Work.CloseRun(context.Background(), lease, run.Due, store.ResultDone))
}

// What was found is shown where the ledger takes no writes.
func TestAFullDiskKeepsNoOneFromReadingWhatWasFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.closeRun()
	full, err := ledger.Open(context.Background(), r.where, ledger.Options{})
	r.ok(err)
	r.ok(full.Close()) // it takes nothing any more
	r.home.Orders = full.Runs
	if a := r.get("/api/runs/run1/summary"); a.status != 200 || !strings.Contains(a.body, "headline") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
