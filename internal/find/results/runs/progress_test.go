package runs_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/runs"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// TestCountsNeverRunBackwards follows a batch from its making to its last answer: a third of its lines fail and go out again. At no step
// is less done than before, whoever counts: the ledger or the provider.
func TestCountsNeverRunBackwards(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ledger, err := ledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{Now: func() time.Time { return now }})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(err)
	t.Cleanup(func() { ledger.Close() })
	run, err := ledger.Runs.CreateRun(ctx, store.NewRun{ID: "r", Study: "s", Folder: "f", Digest: "d", Settings: "{}"})
	ok(err)
	const n = 9
	ok(ledger.Runs.PutLanes(ctx,
		[]store.Lane{{Run: run.No, Stage: "a", Name: "l", Provider: "openai", Model: "m", Params: "{}", Planned: n}}))
	ok(ledger.Runs.OpenRun(ctx, run.No))
	reader := &results.Reader{Ledger: ledger.Reader, Pages: ledger.Pages}
	var before runs.Progress
	look := func(what string, open, done int64) {
		t.Helper()
		run, err := ledger.Reader.Run(ctx, run.No)
		ok(err)
		all, err := runs.ProgressOf(ctx, reader, run)
		ok(err)
		p := all[run.No].Progress
		if p.Done() < before.Done() || p.Answered+p.Ready < before.Answered+before.Ready {
			t.Errorf("%s: %d done, and before %d", what, p.Done(), before.Done())
		}
		if p.Done() != done || p.Open() != open || p.Answered+p.Failed+p.Open() > p.Wanted {
			t.Errorf("%s: want %d open and %d done of %+v", what, open, done, p)
		}
		before = p
	}
	at := func(i int) assay.Coordinates {
		return assay.Coordinates{Stage: "a", Item: string(rune('a' + i)), Lane: "l", Turn: 1, Draw: 1}
	}
	launch := func(try int64, items ...int) store.Segment {
		t.Helper()
		g, err := ledger.Work.AddSegment(ctx, store.NewSegment{Run: run.No, GroupKey: store.GroupKey{Stage: "a", Lane: "l", Turn: 1},
			Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "m",
			Nonce: assay.Nonce("aaaaaaaaa" + string(rune('a'+try)))}, "me", time.Minute)
		ok(err)
		var attempts []store.Attempt
		for i, item := range items {
			attempts = append(attempts, store.Attempt{Ord: int64(i), Key: at(item).Key(), Try: try, At: at(item)})
		}
		ok(ledger.Work.AddAttempts(ctx, g.Lease, attempts))
		ok(ledger.Work.Stage(ctx, g.Lease, store.Bytes{Name: "in" + string(rune('0'+try)), Size: 1, SHA256: "ab"}, 0, 0, now))
		look("staged", int64(len(items)), before.Done())
		ok(ledger.Work.Upload(ctx, g.Lease, "{}", now))
		ok(ledger.Work.Intend(ctx, g.Lease, store.Intent{Account: "k", Stamped: true, Due: now}))
		ok(ledger.Work.Launched(ctx, g.Lease, store.Launch{Job: "job" + string(rune('0'+try)), At: now, Due: now}))
		look("launched", int64(len(items)), before.Done())
		return g
	}
	settle := func(g store.Segment, ord int64, item int, e assay.Ending) {
		t.Helper()
		s := store.Settlement{Ord: ord, Key: at(item).Key(), Outcome: assay.Outcome{Ending: e, Text: "x"}}
		if !e.Stands() {
			s.Outcome = assay.Outcome{Ending: e, Fault: &assay.Fault{Class: assay.FaultBusy}}
			s.Again = &store.Again{Mode: store.Batch, After: now, Cause: "busy", Cap: 5}
		}
		_, err := ledger.Work.Settle(ctx, g.Lease, []store.Settlement{s})
		ok(err)
	}
	g := launch(1, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	ok(ledger.Work.Checked(ctx, g.Lease,
		store.Sighting{State: "running", Counts: `{"Known":true,"Total":9,"Succeeded":4,"Failed":2,"Pending":3}`, Due: now}))
	look("the provider counts", n, 4)
	ok(ledger.Work.Ended(ctx, g.Lease,
		store.Sighting{State: "ended", Counts: `{"Known":true,"Total":9,"Succeeded":6,"Failed":3}`, Parts: "[]", Due: now}))
	look("ended", n, 6)
	ok(ledger.Work.Fetched(ctx, g.Lease, now))
	look("fetched", n, 6)
	for i := range 9 {
		if i%3 == 0 {
			settle(g, int64(i), i, assay.Errored)
		} else {
			settle(g, int64(i), i, assay.Answered)
		}
		look("settled in part", int64(n-i-1), 6)
	}
	ok(ledger.Work.Finish(ctx, g.Lease, time.Time{}))
	look("settled", 0, 6)
	g = launch(2, 0, 3, 6)
	ok(ledger.Work.Ended(ctx, g.Lease, store.Sighting{State: "ended", Counts: `{"Known":false}`, Parts: "[]", Due: now}))
	ok(ledger.Work.Fetched(ctx, g.Lease, now))
	for i, item := range []int{0, 3, 6} {
		settle(g, int64(i), item, assay.Answered)
		look("answered", int64(2-i), int64(7+i))
	}
}
