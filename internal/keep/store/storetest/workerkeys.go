package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// workerKeys: what no living worker has the key for is listed, and nothing else.
func workerKeys(t *testing.T, fresh Fresh) {
	t.Run("of any key of a provider", func(t *testing.T) { t.Parallel(); handsOfProviders(t, fresh) })
	t.Run("of lanes that have no segment", func(t *testing.T) { t.Parallel(); handsOfLanes(t, fresh) })
	t.Run("of the key that made a job", func(t *testing.T) { t.Parallel(); handsOfAccounts(t, fresh) })
}

func handsOfProviders(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.staged(store.Batch, 2) // due: any key of its provider will do
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	stranded := func() []int64 {
		all, err := b.s.Pages.Stranded(b.ctx, b.run.No, time.Minute)
		b.ok(err)
		var out []int64
		for _, s := range all {
			if s.Segment != 0 {
				out = append(out, s.Segment)
			}
		}
		return out
	}
	same := func(what string, want []int64) {
		t.Helper()
		if d := cmp.Diff(want, stranded()); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	same("it has just come due", nil)
	b.clock.pass(2 * time.Minute)
	same("no process is there", []int64{g.No})
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "other", []store.WorkerKey{{Run: b.run.No, Provider: "elsewhere", Account: "k"}}, time.Hour))
	same("a worker with another provider's key", []int64{g.No})
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "dead", []store.WorkerKey{{Run: b.run.No, Provider: g.Provider, Account: "k"}}, 0))
	same("a worker that is gone", []int64{g.No})
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "alive", []store.WorkerKey{{Run: b.run.No, Provider: g.Provider, Account: "k"},
		{Run: b.run.No, Provider: "elsewhere", Account: "k"}}, time.Hour))
	same("a worker with the key", nil)
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "alive", []store.WorkerKey{{Run: b.run.No, Provider: "elsewhere", Account: "k"}}, time.Hour))
	same("a worker that has lost the key", []int64{g.No})
	if _, err := b.s.Leases.HoldSegment(b.ctx, g.No, "another", time.Hour); err != nil {
		t.Error(err)
	}
	same("a process is at it all the same", nil)
}

func handsOfLanes(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	same := func(what string, want ...string) {
		t.Helper()
		all, err := b.s.Pages.Stranded(b.ctx, b.run.No, time.Minute)
		b.ok(err)
		var got []string
		for _, s := range all {
			if s.Segment != 0 {
				t.Errorf("%s: segment %d", what, s.Segment)
			}
			got = append(got, s.Lane+" of "+s.Provider)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	lanes, err := b.s.Reader.Lanes(b.ctx, b.run.No)
	b.ok(err)
	var all []string
	for _, l := range lanes {
		all = append(all, l.Name+" of "+l.Provider)
	}
	same("it has just begun")
	b.clock.pass(2 * time.Minute)
	same("no process is there", all...)
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "alive", []store.WorkerKey{{Run: b.run.No, Provider: "elsewhere", Account: "k"}}, time.Hour))
	same("a worker that makes the segments of all")
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "alive", nil, time.Hour))
	same("a worker that has lost its key", all...)
	b.ok(b.s.Work.SetLane(b.ctx, b.run.No, lanes[0].Stage, lanes[0].Name, store.LaneStop{State: store.LaneStopped, Reason: "cancelled"}))
	same("a lane that is stopped", all[1:]...)
	if _, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "another", time.Hour); err != nil {
		t.Error(err)
	}
	same("a process makes them all the same")
}

func handsOfAccounts(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 2), store.Launched)
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	b.clock.pass(time.Hour)
	show := func(account string) []store.Stranded {
		b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "worker",
			[]store.WorkerKey{{Run: b.run.No, Provider: g.Provider, Account: account}}, time.Hour))
		all, err := b.s.Pages.Stranded(b.ctx, b.run.No, time.Minute)
		b.ok(err)
		return all
	}
	if all := show("another"); len(all) != 1 || all[0].Account != g.Account {
		t.Errorf("with another key: %+v, want segment %d for key %q", all, g.No, g.Account)
	}
	if all := show(g.Account); len(all) != 0 {
		t.Errorf("with its own key: %+v", all)
	}
	alive := func(k store.WorkerKey) bool {
		is, err := b.s.Leases.KeyAlive(b.ctx, k)
		b.ok(err)
		return is
	}
	its := store.WorkerKey{Run: b.run.No, Provider: g.Provider, Account: g.Account}
	if !alive(its) || alive(store.WorkerKey{Run: its.Run, Provider: its.Provider, Account: "another"}) ||
		alive(store.WorkerKey{Run: its.Run, Provider: "other", Account: its.Account}) ||
		alive(store.WorkerKey{Run: its.Run + 1, Provider: its.Provider, Account: its.Account}) {
		t.Errorf("of the key %q, another, another provider's and another run's, the first alone is there", its.Account)
	}
	b.ok(b.s.Leases.PutWorkerKeys(b.ctx, "worker", []store.WorkerKey{its}, 0))
	if alive(its) {
		t.Error("the key of a worker that is gone is there")
	}
}
