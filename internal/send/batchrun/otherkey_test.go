package batchrun_test

import (
	"testing"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/engine"
	"assay/internal/simulator"
)

// TestADriveEndsWhereAllThatMovesNeedsAnotherKey drives a run under the key of another account, which is not shown the job.
func TestADriveEndsWhereAllThatMovesNeedsAnotherKey(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, simulator.Options{Queue: 300 * time.Millisecond})
	run, _ := r.drive(r.begin("keys", "in.jsonl", lines("a", "b"), batchfile.Options{}), func(engine.RunStatus) bool { return true })
	launched := func() int {
		all, err := r.ledger.Reader.Segments(r.ctx, run.No, store.Launched)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if run.State != store.RunOpen || launched() != 1 {
		t.Fatalf("%d jobs are at the provider, and the run is %s", launched(), run.State)
	}
	r.key = "other"
	if run, st := r.drive(run, nil); st.Closed || launched() != 1 {
		t.Errorf("under the other key the run is %s: %+v", run.State, st)
	}
	r.key = "key"
	if run, _ := r.drive(run, nil); run.Result != store.ResultDone {
		t.Errorf("under its own key it ends as %q", run.Result)
	}
}
