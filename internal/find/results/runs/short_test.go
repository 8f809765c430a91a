package runs

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest"
	"assay/internal/send/engine"
)

// A run all of whose jobs wait for money is stopped by its budget, also while its next look at late results is due; one of whose jobs some
// may go is in flight.
func TestARunWhoseJobsAllWaitForMoneyIsStopped(t *testing.T) {
	t.Parallel()
	ctx, where := t.Context(), filepath.Join(t.TempDir(), "ledger.db")
	storetest.NewFile(t, where)
	l, err := ledger.Open(ctx, where, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	budget := assay.Dollar
	r, err := l.Runs.CreateRun(ctx, store.NewRun{ID: "r", Study: "s", Settings: "{}", Budget: &budget})
	if err != nil {
		t.Fatal(err)
	}
	lane := store.Lane{Run: r.No, Stage: "answers", Name: "a", Provider: "openai", Model: "m", Params: "{}", Planned: 2}
	if err := l.Runs.PutLanes(ctx, []store.Lane{lane}); err != nil {
		t.Fatal(err)
	}
	if err := l.Runs.OpenRun(ctx, r.No); err != nil {
		t.Fatal(err)
	}
	var jobs []store.Segment
	for n := range 2 {
		g, err := l.Work.AddSegment(ctx, store.NewSegment{Run: r.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "a", Turn: 1},
			Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m",
			Nonce: assay.Nonce(fmt.Sprintf("aaaaaaaaa%d", n))}, "me", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		at := assay.Coordinates{Stage: "answers", Item: fmt.Sprint(n), Lane: "a", Turn: 1}
		if err := l.Work.AddAttempts(ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Work.Stage(ctx, g.Lease, store.Bytes{Name: "in", Size: 1, SHA256: "ab"}, assay.Dollar, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, g)
	}
	if r, err = l.Reader.Run(ctx, r.No); err != nil {
		t.Fatal(err)
	}
	staged := Progress{Wanted: 2, Staged: 2, first: time.Now()}
	for n, want := range []State{StateInFlight, StateStopped} {
		if err := l.Work.Wake(ctx, jobs[n].Lease, time.Time{}, string(store.AwaitsMoney)); err != nil {
			t.Fatal(err)
		}
		s := Standing{Run: r, Alive: true, now: time.Now(), Far: RunProgress{staged, []LaneProgress{{lane, staged}}}}
		if err := s.open(ctx, &results.Reader{Ledger: l.Reader, Pages: l.Pages}, engine.RunStatus{}); err != nil {
			t.Fatal(err)
		}
		if s.State != want || s.Short == "" {
			t.Errorf("%d of 2 wait for money: %s (%q), want %s", n+1, s.State, s.Short, want)
		}
		s.Pulse.Holder = "me"
		err := s.open(ctx, &results.Reader{Ledger: l.Reader, Pages: l.Pages}, engine.RunStatus{})
		if err != nil || s.State != StateInFlight {
			t.Errorf("%v: a process is at it: %s", err, s.State)
		}
	}
}
