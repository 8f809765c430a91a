package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func live(t *testing.T, fresh Fresh) {
	t.Run("what was in flight at a stop is named once, and set aside", func(t *testing.T) { inFlight(t, fresh) })
	t.Run("what a dead holder had is given back at once", func(t *testing.T) { orphans(t, fresh) })
	t.Run("two live segments of a lane are due at a time", func(t *testing.T) { dueLive(t, fresh) })
	t.Run("money is taken while a segment is asked, as far as the budget goes", func(t *testing.T) { reserveMore(t, fresh) })
}

func inFlight(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	budget := 2 * assay.Dollar
	b.run = b.newRun("r2", &budget)
	g := b.staged(store.Live, 5)
	b.ok(b.s.Work.GoLive(b.ctx, g.Lease, "k1", assay.Dollar, b.clock.now()))
	_, err := b.s.Work.SettleLive(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered)})
	b.ok(err)
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	next, err := b.s.Leases.HoldSegment(b.ctx, g.No, "me", ttl)
	b.ok(err)
	cost := assay.Dollar / 4
	flying := []store.InFlight{{Ord: 0, High: &cost}, {Ord: 1, High: &cost}, {Ord: 2}}
	if _, err := b.s.Work.MarkInFlightLost(b.ctx, g.Lease, g.Lease.Epoch, flying); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("with a lost lease: %v", err)
	}
	for _, want := range []int64{2, 0} { // the first has an answer
		if n, err := b.s.Work.MarkInFlightLost(b.ctx, next, g.Lease.Epoch, flying); n != want || err != nil {
			t.Errorf("%d are new, want %d: %v", n, want, err)
		}
	}
	var items []string
	for d, err := range b.s.Reader.Doubts(b.ctx, b.run.No) {
		b.ok(err)
		items = append(items, d.Item)
	}
	if d := cmp.Diff([]string{"q1", "q2"}, items); d != "" {
		t.Error(d)
	}
	sum, err := b.s.Reader.DoubtSum(b.ctx, b.run.No)
	b.ok(err)
	if want := (store.DoubtSum{Calls: 2, Cost: assay.Cost{Sum: cost, Priced: 1, Unknown: 1}}); sum != want {
		t.Errorf("the doubts are %+v, want %+v", sum, want)
	}
	if err := b.s.Work.ReserveMore(b.ctx, next, assay.Dollar); !errors.Is(err, store.ErrBudget) {
		t.Errorf("what is perhaps spent was reserved: %v", err)
	}
	b.ok(b.s.Work.ReserveMore(b.ctx, next, assay.Dollar-cost))
	var open []int64
	for a, err := range b.s.Reader.OpenAttempts(b.ctx, g.No, 2) {
		b.ok(err)
		open = append(open, a.Ord)
	}
	if d := cmp.Diff([]int64{2, 3, 4}, open); d != "" {
		t.Error(d)
	}
}

func doubts(t *testing.T, fresh Fresh) {
	t.Run("a reply that was lost is named, as often as it was", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.staged(store.Live, 2)
		b.ok(b.s.Work.GoLive(b.ctx, g.Lease, "k1", assay.Dollar, b.clock.now()))
		cost := assay.Dollar
		first, second := store.InFlight{Ord: 0, High: &cost}, store.InFlight{Ord: 1}
		b.ok(b.s.Work.Unanswered(b.ctx, g.Lease, first))
		b.ok(b.s.Work.Unanswered(b.ctx, g.Lease, first))
		b.ok(b.s.Work.Unanswered(b.ctx, g.Lease, second))
		b.ok(b.s.Leases.Release(b.ctx, g.Lease))
		next, err := b.s.Leases.HoldSegment(b.ctx, g.No, "me", ttl) // and both were in flight at a kill
		b.ok(err)
		_, err = b.s.Work.MarkInFlightLost(b.ctx, next, g.Lease.Epoch, []store.InFlight{first, second})
		b.ok(err)
		b.ok(b.s.Work.Unanswered(b.ctx, next, second))
		got := map[string]int64{}
		for d, err := range b.s.Reader.Doubts(b.ctx, b.run.No) {
			b.ok(err)
			got[d.Item+" "+fmt.Sprint(d.Lost)] += d.Times
		}
		if d := cmp.Diff(map[string]int64{"q0 true": 2, "q0 false": 1, "q1 true": 2, "q1 false": 1}, got); d != "" {
			t.Error(d)
		}
		run, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		sum, err := b.s.Reader.DoubtSum(b.ctx, b.run.No)
		b.ok(err)
		if run.Perhaps != 3*cost || sum.Calls != 6 || sum.Cost.Sum != 3*cost || sum.Cost.Unknown != 3 {
			t.Errorf("perhaps %s, %+v", run.Perhaps, sum)
		}
	})
	t.Run("a block that is partly there is written as a whole", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.staged(store.Live, 3)
		b.ok(b.s.Work.GoLive(b.ctx, g.Lease, "k1", assay.Dollar, b.clock.now()))
		block := []store.Settlement{b.outcome(g, 0, assay.Answered)}
		_, err := b.s.Work.SettleLive(b.ctx, g.Lease, block)
		b.ok(err)
		tally, err := b.s.Work.Settle(b.ctx, g.Lease, append(block, b.outcome(g, 1, assay.Answered))) // the first one is there already
		b.ok(err)
		if tally.Written != 1 {
			t.Errorf("%d outcomes are new", tally.Written)
		}
	})
}

func reserveMore(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	budget := 2 * assay.Dollar
	b.run = b.newRun("r2", &budget)
	g := b.staged(store.Live, 1)
	b.ok(b.s.Work.GoLive(b.ctx, g.Lease, "k1", assay.Dollar, b.clock.now()))
	b.ok(b.s.Work.ReserveMore(b.ctx, g.Lease, assay.Dollar/2))
	if err := b.s.Work.ReserveMore(b.ctx, g.Lease, assay.Dollar); !errors.Is(err, store.ErrBudget) {
		t.Errorf("more than there is: %v", err)
	}
	if got := b.segmentNow(g).Reserved; got != 3*assay.Dollar/2 {
		t.Errorf("%s are reserved", got)
	}
}

func dueLive(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	var all []int64
	for range 3 {
		g := b.staged(store.Live, 1)
		all = append(all, g.No)
		b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	}
	due := func() (got []int64) {
		work, err := b.s.Leases.Due(b.ctx, b.run.No, 10)
		b.ok(err)
		for _, w := range work {
			if w.Segment != 0 {
				got = append(got, w.Segment)
			}
		}
		return got
	}
	if d := cmp.Diff(all[:2], due()); d != "" {
		t.Error(d)
	}
	l, err := b.s.Leases.HoldSegment(b.ctx, all[0], "me", ttl)
	b.ok(err)
	if d := cmp.Diff(all[1:2], due()); d != "" {
		t.Errorf("while one is worked on: %s", d)
	}
	b.ok(b.s.Work.Drop(b.ctx, l, "enough"))
	if d := cmp.Diff(all[1:], due()); d != "" {
		t.Error(d)
	}
}

func quotas(t *testing.T, fresh Fresh) {
	t.Run("moments are leased once, whichever process asks", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		const every, n, workers, rounds = 10 * time.Second, 3, 4, 5
		var mu sync.Mutex
		var firsts []time.Duration
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range rounds {
					wait, err := b.s.Limits.Lease(b.ctx, "account", every, n)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					firsts = append(firsts, wait.Round(every*n))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(firsts)
		for i, f := range firsts {
			if f != time.Duration(i)*every*n {
				t.Errorf("lease %d begins after %s", i, f)
			}
		}
		if wait, err := b.s.Limits.Lease(b.ctx, "another", every, n); wait != 0 || err != nil {
			t.Errorf("another account waits %s: %v", wait, err)
		}
	})
	t.Run("a cap on requests in flight is shared", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		share := func(holder string, uses, wants int64) int64 {
			has, err := b.s.Limits.Share(b.ctx,
				store.CapShare{Scope: "lane", Holder: holder, Cap: 8, Uses: uses, Wants: wants, For: time.Hour})
			b.ok(err)
			return has
		}
		for i, c := range []struct {
			holder            string
			uses, wants, want int64
		}{
			{"a", 0, 20, 8}, // alone: all of it
			{"b", 0, 20, 0}, // nothing is free yet
			{"a", 8, 20, 8}, // what is in flight stays
			{"a", 3, 20, 4}, // an equal part, as soon as it can
			{"b", 0, 20, 4},
			{"c", 0, 1, 0},
			{"a", 1, 20, 2},
			{"c", 0, 1, 1},
			{"b", 0, 0, 0}, // leaves
			{"a", 2, 20, 7},
		} {
			if got := share(c.holder, c.uses, c.wants); got != c.want {
				t.Errorf("step %d: %s gets %d, want %d", i, c.holder, got, c.want)
			}
		}
		if _, err := b.s.Limits.Share(b.ctx, store.CapShare{Scope: "short", Holder: "dead", Cap: 1, Wants: 1, For: 0}); err != nil {
			t.Error(err)
		}
		has, err := b.s.Limits.Share(b.ctx, store.CapShare{Scope: "short", Holder: "alive", Cap: 1, Wants: 1, For: time.Hour})
		if b.ok(err); has != 1 {
			t.Error("the share of the dead is not given on")
		}
	})
}

func orphans(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.staged(store.Live, 1)
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	old, err := b.s.Leases.HoldSegment(b.ctx, g.No, "dead", ttl)
	b.ok(err)
	_, err = b.s.Leases.HoldRun(b.ctx, b.run.No, "dead", ttl)
	b.ok(err)
	share := store.CapShare{Scope: "lane", Holder: "dead", Cap: 1, Wants: 1, For: time.Hour}
	_, err = b.s.Limits.Share(b.ctx, share)
	b.ok(err)
	b.ok(b.s.Leases.Drives(b.ctx, b.run.No, "dead", ttl))
	if drivers, err := b.s.Leases.Drivers(b.ctx, b.run.No); err != nil || len(drivers) != 1 || drivers[0].Holder != "dead" {
		t.Errorf("driven by %v, %v", drivers, err)
	}
	b.ok(b.s.Leases.ReleaseDead(b.ctx, "dead"))
	if drivers, err := b.s.Leases.Drivers(b.ctx, b.run.No); err != nil || len(drivers) > 0 {
		t.Errorf("still driven by %v, %v", drivers, err)
	}
	_, err = b.s.Leases.HoldSegment(b.ctx, g.No, "next", ttl)
	b.ok(err)
	_, err = b.s.Leases.HoldRun(b.ctx, b.run.No, "next", ttl)
	b.ok(err)
	share.Holder = "next"
	if has, err := b.s.Limits.Share(b.ctx, share); has != 1 || err != nil {
		t.Errorf("the next one gets %d, %v", has, err)
	}
	if err := b.s.Work.GoLive(b.ctx, old, "k1", assay.Dollar, b.clock.now()); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the dead wrote: %v", err)
	}
}
