package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// unknownUsage settles replies that do not report their tokens: their number is unknown, never 0.
func unknownUsage(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	spend :=
		"SELECT priced, unpriced, spent_usd, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown FROM run_spend"
	withoutUsage := func(g store.Segment, ord int64) store.Settlement {
		o := b.outcome(g, ord, assay.Answered)
		o.Cost, o.Outcome.Usage = nil, assay.Usage{}
		return o
	}
	g := b.to(b.staged(store.Batch, 4), store.Fetched)
	b.settle(g, withoutUsage(g, 0), b.outcome(g, 1, assay.Rejected))
	b.settle(g, withoutUsage(g, 2))
	if d := cmp.Diff([]string{"1 2 0 <nil> <nil> <nil> <nil> 2"}, b.table(spend)); d != "" {
		t.Error("no reply reports it: " + d)
	}
	b.settle(g, b.outcome(g, 3, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	if d := cmp.Diff([]string{"2 2 4e-06 10 4 5 2 2"}, b.table(spend)); d != "" {
		t.Error("one of three reports it: " + d)
	}
	all, err := b.s.Reader.Segments(b.ctx, b.run.No)
	b.ok(err)
	if all[0].UsageUnknown != 2 {
		t.Errorf("%d are unknown, want 2", all[0].UsageUnknown)
	}
	b.daysOfBills(t, all[0])
}

// daysOfBills sums the bills of a day: of a run, and of all runs with a gateway's live calls.
func (b *bench) daysOfBills(t *testing.T, g store.Segment) {
	t.Helper()
	call, err := b.s.Clients.BeginClientCall(b.ctx, store.ClientCall{Owner: "anna", Provider: g.Provider, Model: "m"}, store.Allowance{})
	b.ok(err)
	cost := assay.Money(30)
	b.ok(b.s.Clients.EndClientCall(b.ctx, call,
		store.ClientCallEnd{Ending: assay.Answered, Usage: assay.Usage{Known: true, Input: 10, Output: 5}, Cost: &cost}))
	of := func(provider string, run int64) []store.DayBill {
		t.Helper()
		got, err := b.s.Pages.DayBills(b.ctx, provider, run)
		b.ok(err)
		for i := range got {
			got[i].Day = ""
		}
		return got
	}
	run := of(g.Provider, g.Run)
	want := []store.DayBill{{Model: run[0].Model, Cost: assay.Cost{Sum: 4000, Priced: 2, Unknown: 2}, Input: 10, Output: 5, Mute: 2}}
	if d := cmp.Diff(want, run); d != "" {
		t.Error("a run: " + d)
	}
	want = append(want, store.DayBill{Model: "m", Cost: assay.Cost{Sum: 30, Priced: 1}, Input: 10, Output: 5})
	all := of(g.Provider, 0)
	slices.SortFunc(all, func(a, b store.DayBill) int { return int(b.Cost.Sum - a.Cost.Sum) })
	if d := cmp.Diff(want, all); d != "" {
		t.Error("all: " + d)
	}
	if none := of("nobody", 0); none != nil {
		t.Errorf("of nobody: %v", none)
	}
}

// takenTwice books what answers of a job of another copy cost a second time at the segment that has its other answers: the run has spent
// it, and it is no part of the answers' price.
func takenTwice(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	first := b.to(b.staged(store.Batch, 1), store.Fetched)
	const early = 5
	b.ok(b.s.Work.TakeJob(b.ctx, b.run.No, store.TakenJob{Provider: first.Provider, Job: "early", Answers: 1, Twice: early}))
	b.settle(first, b.outcome(first, 0, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, first.Lease, time.Time{}))
	run, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if g := b.segmentNow(first); g.Doubled != early || g.Spent().Sum != run.Spent {
		t.Errorf("what came before a segment ended: doubles cost %s, all %s, the run %s", g.Doubled, g.Spent(), run.Spent)
	}
	second := b.to(b.staged(store.Batch, 1), store.Fetched)
	b.settle(second, b.outcome(second, 0, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, second.Lease, time.Time{}))
	before := [2]store.Segment{b.segmentNow(first), b.segmentNow(second)}
	for _, at := range []int64{second.No, 0} {
		b.ok(b.s.Work.TakeJob(b.ctx, b.run.No, store.TakenJob{Provider: second.Provider, Job: fmt.Sprint("copy", at), Answers: 2, Joined: 1,
			Twice: 7, Segment: at}))
	}
	for i, g := range [2]store.Segment{b.segmentNow(first), b.segmentNow(second)} {
		if g.Doubled != before[i].Doubled+7 || g.Spent().Sum != before[i].Spent().Sum+7 || g.Price() != before[i].Price() {
			t.Errorf("segment %d: doubles cost %s, all %s, its answers %s", i, g.Doubled, g.Spent(), g.Price())
		}
	}
}

// doubled books jobs that are one too many: at what was expected while nothing of their segment has a price, and at what its answers cost
// then. The run has spent it, and it is no part of the answers' price.
func doubled(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 2), store.Launched)
	add := func(job string, done int64, over bool) {
		t.Helper()
		b.ok(b.s.Work.AddDouble(b.ctx, g.Lease, store.Double{Job: job, What: "it is over", Over: over, Done: done}))
	}
	want := func(doubles assay.Money, spent assay.Money) {
		t.Helper()
		now := b.segmentNow(g)
		if now.Doubled != doubles || now.Spent().Sum != spent || now.Price().Sum != spent-doubles {
			t.Errorf("doubles cost %s, the segment %s, its answers %s; want %s and %s", now.Doubled, now.Spent(), now.Price(), doubles,
				spent)
		}
	}
	add("one", 1, false)
	want(assay.Dollar/2, assay.Dollar/2)
	b.ok(b.s.Work.Ended(b.ctx, g.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]", Due: b.clock.now()}))
	b.ok(b.s.Work.Fetched(b.ctx, g.Lease, b.clock.now()))
	first, odd := b.outcome(g, 0, assay.Answered), assay.Money(1001)
	first.Cost = &odd
	b.settle(g, first, b.outcome(g, 1, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	add("one", 2, true)
	want(3001, 6002)
	add("two", 1, true)
	want(4501, 7502)
	add("two", 0, false) // what it did is not known
	want(4501, 7502)
	if r, err := b.s.Reader.Run(b.ctx, b.run.No); err != nil || r.Spent != 7502 {
		t.Errorf("the run has spent %s, %v", r.Spent, err)
	}
}
