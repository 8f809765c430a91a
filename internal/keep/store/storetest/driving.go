package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// driving: who is at work on a run, with or without a lease of it.
func driving(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	other := b.newRun("r2", nil)
	want := func(what string, names ...string) {
		t.Helper()
		all, err := b.s.Leases.Drivers(b.ctx, b.run.No)
		b.ok(err)
		got := []string{}
		for _, d := range all {
			got = append(got, d.Holder)
		}
		if d := cmp.Diff(names, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "anna", ttl))
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "anna", ttl))
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "gone", -time.Millisecond))
	b.ok(b.s.Leases.Drives(b.ctx, other.No, "elsewhere", ttl))
	want("one drives it", "anna")
	l, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "bert", ttl)
	b.ok(err)
	g := b.staged(store.Batch, 1)
	want("and some hold a part", "anna", "bert", "me")
	b.ok(b.s.Work.Wake(b.ctx, g.Lease, time.Time{}, "another key made it"))
	troubles, err := b.s.Pages.Troubles(b.ctx, b.run.No, 10)
	b.ok(err)
	if d := cmp.Diff([]store.Trouble{{Segment: g.No, Stage: "answers", Lane: "gpt", State: store.Staged, Reason: "another key made it"}},
		troubles); d != "" {
		t.Errorf("troubles (-want +got):\n%s", d)
	}
	b.ok(b.s.Leases.Release(b.ctx, l))
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	b.ok(b.s.Leases.Leaves(b.ctx, b.run.No, "anna"))
	want("all have gone", []string{}...)
}
