package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"assay/store"
)

func TestTheListOfRunsSaysWhatWasFoundWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const mark = `class="found"`
	r.get("/api/runs/run1/summary") // computed, and the run is open
	if strings.Contains(r.get("/runs").body, mark) {
		t.Error("a run that is open has a result")
	}
	run, err := r.ledger.Run(context.Background(), r.run.No)
	r.ok(err)
	lease, err := r.ledger.HoldRun(context.Background(), run.No, "test", time.Hour)
	r.ok(err)
	r.ok(r.ledger.CloseRun(context.Background(), lease, run.Due, store.ResultDone))
	if strings.Contains(r.get("/runs").body, mark) {
		t.Error("what was computed before the run changed is shown as its result")
	}
	r.clock = r.clock.Add(time.Hour)
	r.get("/api/runs/run1/summary")
	if body := r.get("/runs").body; !strings.Contains(body, mark+">no difference shown<") {
		t.Errorf("no result: %s", body)
	}
}
