package storetest

import (
	"errors"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// buying buys comparisons for a stage of a run: once, under the lease, and all of it or nothing.
func buying(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	before, err := b.s.Reader.Lanes(b.ctx, b.run.No)
	b.ok(err)
	own := before[0]
	l, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "me", time.Hour)
	b.ok(err)
	e := store.Extension{
		Run: b.run.No, Look: store.Look{Run: b.run.No, Stage: own.Stage, Number: 1, Planned: 1, Level: 0.01, Bought: 5, Found: "{}",
			Next: `[{"n":2}]`}, Adds: []store.Share{{Stage: own.Stage, Lane: own.Name, Requests: 2}}, What: "two comparisons", Lease: l,
	}
	lost := e
	lost.Lease.Epoch++
	if _, err := b.s.Runs.Buy(b.ctx, lost); !errors.Is(err, store.ErrLeaseLost) {
		t.Fatalf("without the lease: %v", err)
	}
	for n, want := range []bool{true, false} { // the second finds that look
		bought, err := b.s.Runs.Buy(b.ctx, e)
		if err != nil || bought != want {
			t.Fatalf("purchase %d: %v, %v", n+1, bought, err)
		}
	}
	now, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	lanes, err := b.s.Reader.Lanes(b.ctx, b.run.No)
	b.ok(err)
	if now.State != store.RunOpen || now.Budget != nil || lanes[0].Planned != own.Planned+2 {
		t.Errorf("%+v, %d planned", now, lanes[0].Planned)
	}
}

// buyingRaisesABudget: what is bought is not stopped by a budget below it, and a larger one stays.
func buyingRaisesABudget(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	for id, budgets := range map[string][2]assay.Money{"r2": {5, 7}, "r3": {9, 9}} {
		run := b.newRun(id, &budgets[0])
		l, err := b.s.Leases.HoldRun(b.ctx, run.No, "me", time.Hour)
		b.ok(err)
		least := assay.Money(7)
		look := store.Look{Run: run.No, Stage: "answers", Number: 1, Planned: 1, Level: 0.01, Bought: 5, Found: "{}", Next: `[{"n":2}]`}
		if bought, err := b.s.Runs.Buy(b.ctx,
			store.Extension{Run: run.No, Look: look, Budget: &least, What: "more", Lease: l}); err != nil || !bought {
			t.Fatalf("%v, %v", bought, err)
		}
		now, err := b.s.Reader.Run(b.ctx, run.No)
		b.ok(err)
		if now.Budget == nil || *now.Budget != budgets[1] {
			t.Errorf("run %s may spend %v, want %v", id, now.Budget, budgets[1])
		}
	}
}
