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
	if d := cmp.Diff([]store.Trouble{{Segment: g.No, Stage: "answers", Lane: "gpt", State: store.Staged, Provider: "openai",
		Reason: "another key made it"}},
		troubles); d != "" {
		t.Errorf("troubles (-want +got):\n%s", d)
	}
	b.ok(b.s.Leases.Release(b.ctx, l))
	waiting(t, b, g)
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	b.ok(b.s.Leases.Leaves(b.ctx, b.run.No, "anna"))
	want("all have gone", []string{}...)
}

// waiting: until when a provider asked to wait is kept, moves with a clock that is set back, and is cut short on demand.
func waiting(t *testing.T, b *bench, g store.Segment) {
	t.Helper()
	asked := func() time.Time {
		t.Helper()
		all, err := b.s.Pages.Troubles(b.ctx, b.run.No, 10)
		b.ok(err)
		flows, err := b.s.Pages.Flows(b.ctx, []int64{b.run.No})
		b.ok(err)
		if len(all) == 0 {
			return time.Time{}
		}
		if !flows[0].Wait.Equal(all[0].Wait) {
			t.Errorf("the lane waits until %s, its segment until %s", flows[0].Wait, all[0].Wait)
		}
		return all[0].Wait
	}
	at := b.clock.now().Add(time.Hour).Truncate(time.Millisecond)
	b.ok(b.s.Work.RetryLater(b.ctx, g.Lease, store.Later{Due: at, Reason: "busy", Asked: true}))
	if !asked().Equal(at) {
		t.Errorf("it waits until %s, want %s", asked(), at)
	}
	n, err := b.s.Work.Hurry(b.ctx, b.run.No)
	b.ok(err)
	if n != 0 {
		t.Error("a segment that another process holds was hurried")
	}
	b.ok(b.s.Work.RetryLater(b.ctx, g.Lease, store.Later{Due: at, Reason: "broken"}))
	if !asked().IsZero() {
		t.Error("a provider that did not ask to wait is said to")
	}
	b.ok(b.s.Work.RetryLater(b.ctx, g.Lease, store.Later{Due: at, Reason: "busy", Asked: true}))
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	n, err = b.s.Work.Hurry(b.ctx, b.run.No)
	b.ok(err)
	next, err := b.s.Reader.NextDue(b.ctx, b.run.No)
	b.ok(err)
	if n != 1 || next.After(b.clock.now()) || !asked().IsZero() {
		t.Errorf("%d were hurried, the next is due at %s", n, next)
	}
}

// pollNow: a poll is woken where a job of ours is out and waits for its poll, and nothing else is changed.
func pollNow(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 1), store.Launched)
	at := b.clock.now().Add(time.Hour).Truncate(time.Millisecond)
	wakes := func(what, job string, want int) {
		t.Helper()
		before := b.segmentNow(g)
		all, err := b.s.Leases.PollNow(b.ctx, job)
		b.ok(err)
		if len(all) != want {
			t.Errorf("%s: %d woken, want %d", what, len(all), want)
		}
		if after := b.segmentNow(g); want == 0 {
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("%s (-before +after):\n%s", what, d)
			}
		} else if after.Due.After(b.clock.now()) || all[0].Segment != g.No || all[0].Run != b.run.No {
			t.Errorf("%s: due %s, %v", what, after.Due, all)
		}
	}
	b.ok(b.s.Work.RetryLater(b.ctx, g.Lease, store.Later{Due: at, Reason: "slow"}))
	wakes("a process is at it", g.Job, 0)
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	wakes("not ours", "batch_forged", 0)
	wakes("no name", "", 0)
	wakes("ours", g.Job, 1)
	wakes("due already", g.Job, 0)
	l, err := b.s.Leases.HoldSegment(b.ctx, g.No, "me", ttl)
	b.ok(err)
	b.ok(b.s.Work.RetryLater(b.ctx, l, store.Later{Due: at, Reason: "busy", Asked: true}))
	b.ok(b.s.Leases.Release(b.ctx, l))
	wakes("its provider asked to wait", g.Job, 0)
}
