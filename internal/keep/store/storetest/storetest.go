// Package storetest is the contract of the ledger: one suite that every database has to pass.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// Fresh returns where a new ledger can be opened.
type Fresh func(t testing.TB) string

// Suite runs the whole contract. Where empty is, there is nothing at all; where fresh is, there may be tables.
func Suite(t *testing.T, empty, fresh Fresh) {
	t.Run("many may open a new ledger at once", func(t *testing.T) { t.Parallel(); openedAtOnce(t, empty) })
	topics := []struct {
		name string
		run  func(t *testing.T, fresh Fresh)
	}{
		{"opening", opening}, {"runs", runs}, {"leases", leases}, {"moves", moves}, {"money", money}, {"settling", settling},
		{"sending again", again}, {"late", late}, {"live", live}, {"cancelled", cancelled}, {"doubts", doubts}, {"verdicts", verdicts},
		{"what was said", said}, {"orders", orders}, {"reading", reading}, {"walking", walking}, {"named views", namedViews}, {"pages",
			pages}, {"flows", flowing}, {"imports", imports}, {"a changed study", revising}, {"two changes at once", revisingTogether},
		{"changed limits", tuning}, {"a pause", pausing},
		{"a lowered cap", lowered}, {"decisions", decisions}, {"looks", looks}, {"bought comparisons", buying},
		{"bought over a budget", buyingRaisesABudget}, {"dumps", dumps}, {"quotas", quotas}, {"worker keys", workerKeys},
		{"uploads", uploads},
		{"many uploads", manyUploads},
		{"client files", clientFiles}, {"client usage", clientUsage}, {"client sums", clientSums}, {"client budgets", clientBudgets},
		{"constraints", constraints}, {"a model", model}, {"taken after a retry", takenAfterARetry},
		{"prices of reused answers", reusedPrices}, {"woken polls", pollNow},
	}
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) { t.Parallel(); topic.run(t, fresh) })
	}
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// bench is an open ledger with a run that has two lanes.
type bench struct {
	t     testing.TB
	ctx   context.Context
	s     *ledger.Ledger
	clock *clock
	run   store.Run
	n     int // items used so far
}

func newBench(t *testing.T, fresh Fresh) *bench {
	t.Helper()
	b := &bench{t: t, ctx: context.Background(), clock: newClock()}
	b.s = open(t, fresh(t), b.clock)
	b.run = b.newRun("r1", nil)
	return b
}

func open(t testing.TB, where string, c *clock) *ledger.Ledger {
	t.Helper()
	s, err := ledger.Open(context.Background(), where, ledger.Options{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (b *bench) newRun(id string, budget *assay.Money) store.Run {
	b.t.Helper()
	r, err := b.s.Runs.CreateRun(b.ctx, store.NewRun{ID: id, Study: "demo", Folder: "here", Digest: "d", Settings: "{}", Budget: budget})
	b.ok(err)
	b.ok(b.s.Runs.PutLanes(b.ctx, []store.Lane{
		{Run: r.No, Stage: "answers", Name: "gpt", Provider: "openai", Model: "gpt-5", Params: "{}", Planned: 1000,
			Canary: store.CanaryDue},
		{Run: r.No, Stage: "answers", Name: "opus", Provider: "anthropic", Model: "opus", Params: "{}", Planned: 1000},
	}))
	b.ok(b.s.Runs.OpenRun(b.ctx, r.No))
	r, err = b.s.Reader.Run(b.ctx, r.No)
	b.ok(err)
	return r
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

const ttl = time.Minute

// segment plans a segment with n new requests of a lane.
func (b *bench) segment(mode store.SegmentMode, n int) store.Segment {
	b.t.Helper()
	g, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1},
		Mode: mode, Purpose: store.ForWave, Provider: "openai", Model: "gpt-5", Nonce: "aaaaaaaaaa"}, "me", ttl)
	b.ok(err)
	attempts := make([]store.Attempt, n)
	for i := range attempts {
		attempts[i] = b.attempt(int64(i), b.n)
		b.n++
	}
	b.ok(b.s.Work.AddAttempts(b.ctx, g.Lease, attempts))
	return g
}

func (b *bench) attempt(ord int64, item int) store.Attempt {
	at := assay.Coordinates{Stage: "answers", Item: fmt.Sprintf("q%d", item), Lane: "gpt", Turn: 1}
	key := at.Key()
	return store.Attempt{Ord: ord, Key: key, Try: 1, Digest: slices.Clone(key[:]), At: at}
}

// staged makes a segment of new requests ready to go.
func (b *bench) staged(mode store.SegmentMode, n int) store.Segment {
	b.t.Helper()
	g := b.segment(mode, n)
	return b.stage(g)
}

func (b *bench) stage(g store.Segment) store.Segment {
	b.t.Helper()
	bytes := store.Bytes{}
	if g.Mode == store.Batch {
		bytes = store.Bytes{Name: fmt.Sprintf("s%d.jsonl", g.No), Size: 100, SHA256: "ab"}
	}
	b.ok(b.s.Work.Stage(b.ctx, g.Lease, bytes, assay.Dollar, 0, b.clock.now()))
	return b.segmentNow(g)
}

// to drives a staged batch segment up to a state, with a job named after it.
func (b *bench) to(g store.Segment, st store.State) store.Segment {
	b.t.Helper()
	now := b.clock.now()
	steps := []struct {
		state store.State
		do    func() error
	}{
		{store.Uploaded, func() error { return b.s.Work.Upload(b.ctx, g.Lease, "{}", now) }},
		{store.Intended, func() error {
			return b.s.Work.Intend(b.ctx, g.Lease, store.Intent{Account: "k1", Stamped: true, Cursor: "", Reserve: assay.Dollar, Due: now})
		}},
		{store.Launched, func() error {
			return b.s.Work.Launched(b.ctx, g.Lease, store.Launch{Job: fmt.Sprintf("job%d", g.No), At: now, Due: now})
		}},
		{store.Ended, func() error {
			return b.s.Work.Ended(b.ctx, g.Lease, store.Sighting{State: "ended", Word: "completed", Counts: "{}", Parts: "[]", Due: now})
		}},
		{store.Fetched, func() error { return b.s.Work.Fetched(b.ctx, g.Lease, now) }},
	}
	for _, step := range steps {
		b.ok(step.do())
		if step.state == st {
			return b.segmentNow(g)
		}
	}
	b.t.Fatalf("no way to %s", st)
	return g
}

func (b *bench) segmentNow(g store.Segment) store.Segment {
	b.t.Helper()
	now, err := b.s.Reader.Segment(b.ctx, g.No)
	b.ok(err)
	return now
}

// outcome returns the settlement of an attempt of a segment, by its place.
func (b *bench) outcome(g store.Segment, ord int64, e assay.Ending) store.Settlement {
	b.t.Helper()
	for a, err := range b.s.Reader.Attempts(b.ctx, g.No) {
		b.ok(err)
		if a.Ord == ord {
			return settlement(a, e)
		}
	}
	b.t.Fatalf("segment %d has no attempt %d", g.No, ord)
	return store.Settlement{}
}

func settlement(a store.Attempt, e assay.Ending) store.Settlement {
	cost := 1000 * assay.Money(1+a.Ord)
	o := store.Settlement{Ord: a.Ord, Key: a.Key, Cost: &cost, Outcome: assay.Outcome{Ending: e, Finish: "stop"}}
	if e.Stands() {
		o.Outcome.Text = "text of " + a.At.Item
		o.Outcome.Usage = assay.Usage{Known: true, Input: 10, Cached: 4, Output: 5, Reasoning: 2}
	} else {
		zero := assay.Money(0)
		o.Cost = &zero
		o.Outcome.Fault = &assay.Fault{Class: assay.FaultBusy, Status: 500, Code: "oops", Message: "it broke"}
	}
	return o
}

func (b *bench) settle(g store.Segment, outcomes ...store.Settlement) store.Tally {
	b.t.Helper()
	tally, err := b.s.Work.Settle(b.ctx, g.Lease, outcomes)
	b.ok(err)
	return tally
}

func (b *bench) lane(name string) store.Lane {
	b.t.Helper()
	all, err := b.s.Reader.Lanes(b.ctx, b.run.No)
	b.ok(err)
	for _, l := range all {
		if l.Name == name {
			return l
		}
	}
	b.t.Fatalf("no lane %s", name)
	return store.Lane{}
}

// due returns when the run is due, as the ledger has it.
func (b *bench) due() time.Time {
	b.t.Helper()
	r, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	return r.Due
}

// takeOver takes a lease whose holder has given no sign for too long.
func (b *bench) takeOver(l store.Lease) store.Lease {
	b.t.Helper()
	_, err := b.s.Leases.Renew(b.ctx, l, -time.Millisecond)
	b.ok(err)
	next, err := b.s.Leases.HoldSegment(b.ctx, l.No, l.Holder, ttl)
	b.ok(err)
	return next
}
