package storetest

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func ownAnswers(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 1), store.Fetched)
	b.settle(g, b.outcome(g, 0, assay.Answered))
	old := b.attempt(0, 0)
	other := old.At
	other.Item = "another"
	question := store.Question{Key: other.Key(), At: other, Digest: old.Digest}
	item := func(run int64, text string) {
		b.ok(b.s.Runs.PutItems(b.ctx, run, "questions", func(yield func(assay.Item, error) bool) {
			yield(assay.Item{ID: old.At.Item, Fields: map[string]any{"text": text}}, nil)
		}))
	}
	item(b.run.No, "How many?")
	for text, want := range map[string]int{"How many?": 0, "How long?": 1} {
		next := b.newRun("with "+text, nil)
		item(next.No, text)
		found, err := b.s.Reuse.Reusable(b.ctx, store.ReuseFrom{Run: next.No, Study: "demo"}, []store.Question{question})
		b.ok(err)
		if len(found) != want {
			t.Errorf("the item is now %q: %d found, want %d", text, len(found), want)
		}
	}
}

func revising(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	b.ok(b.s.Runs.PutPart(b.ctx, b.run.No, "file/a", strings.NewReader("old")))
	b.ok(b.s.Runs.PutPart(b.ctx, b.run.No, "file/b", strings.NewReader("gone")))
	two, three := 2*assay.Dollar, 3*assay.Dollar
	r := store.Revision{
		Run: b.run.No, Was: b.run.Digest, Is: "new", Settings: `{"file":"a"}`, Parts: map[string][]byte{"file/a": []byte("new")},
		Gone: []string{"file/b"}, Budget: &store.NewBudget{Was: b.run.Budget, Is: &two}, What: "words",
	}
	done, err := b.s.Runs.Revise(b.ctx, r)
	b.ok(err)
	run, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if !done || run.Digest != "new" || run.Settings != `{"file":"a"}` || *run.Budget != two {
		t.Errorf("%t, %+v", done, run)
	}
	if text, err := io.ReadAll(b.s.Reader.Part(b.ctx, run.No, "file/a")); string(text) != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := io.ReadAll(b.s.Reader.Part(b.ctx, run.No, "file/b")); !errors.Is(err, store.ErrNotFound) {
		t.Error("a part that is no longer:", err)
	}
	// Who compared with another study comes too late, and changes nothing.
	r.Parts, r.Is = map[string][]byte{"file/a": []byte("newer")}, "newer"
	if done, err := b.s.Runs.Revise(b.ctx, r); done || err != nil {
		t.Error(done, err)
	}
	if text, err := io.ReadAll(b.s.Reader.Part(b.ctx, run.No, "file/a")); string(text) != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	// A budget that was set for the run meanwhile stays.
	b.ok(b.s.Runs.SetBudget(b.ctx, b.run.No, &three))
	r = store.Revision{Run: b.run.No, Was: "new", Is: "new", Settings: "{}", Budget: &store.NewBudget{Was: &two}}
	done, err = b.s.Runs.Revise(b.ctx, r)
	b.ok(err)
	if run, err = b.s.Reader.Run(b.ctx, b.run.No); !done || err != nil || run.Budget == nil || *run.Budget != three {
		t.Errorf("%t, budget %v, %v", done, run.Budget, err)
	}
	b.grows()
}

// grows gives a closed run more to ask.
func (b *bench) grows() {
	b.t.Helper()
	item := func(id string) func(func(assay.Item, error) bool) {
		return func(yield func(assay.Item, error) bool) {
			yield(assay.Item{ID: id, Fields: map[string]any{"text": id}}, nil)
		}
	}
	b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "grown", item("one")))
	lanes, err := b.s.Reader.Lanes(b.ctx, b.run.No)
	b.ok(err)
	lanes[0].Planned += 5
	more := lanes[0]
	more.Name, more.Planned, more.Canary = "another", 7, store.CanaryDue
	group := store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: lanes[0].Stage, Lane: lanes[0].Name, Turn: 1}, Complete: true}
	b.ok(b.s.Work.PutGroup(b.ctx, group))
	lost, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "one", time.Hour)
	b.ok(err)
	b.ok(b.s.Leases.Release(b.ctx, lost))
	held, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "two", time.Hour)
	b.ok(err)
	r := store.Revision{Run: b.run.No, Was: "new", Is: "grown", Settings: "{}", Lease: lost, More: &store.More{
		Lanes: []store.Lane{lanes[0], more},
		Items: []store.MoreItems{{Input: "grown", From: 1, Items: item("two")}, {Input: "fresh", Items: item("three")}},
	}}
	if done, err := b.s.Runs.Revise(b.ctx, r); done || !errors.Is(err, store.ErrLeaseLost) {
		b.t.Error("without the lease:", done, err)
	}
	r.Lease = held
	done, err := b.s.Runs.Revise(b.ctx, r)
	b.ok(err)
	now, err := b.s.Reader.Lane(b.ctx, b.run.No, more.Stage, "another")
	b.ok(err)
	old, err := b.s.Reader.Lane(b.ctx, b.run.No, lanes[0].Stage, lanes[0].Name)
	b.ok(err)
	if !done || now.Planned != 7 || now.Canary != store.CanaryDue || old.Planned != lanes[0].Planned || old.Canary != lanes[0].Canary {
		b.t.Errorf("%t, %+v, %+v", done, now, old)
	}
	var ids []string
	for _, input := range []string{"grown", "fresh"} {
		for it, err := range b.s.Reader.ItemHeads(b.ctx, b.run.No, input) {
			b.ok(err)
			ids = append(ids, it.ID)
		}
	}
	if !slices.Equal(ids, []string{"one", "two", "three"}) {
		b.t.Errorf("items %q", ids)
	}
	groups, err := b.s.Reader.Groups(b.ctx, b.run.No)
	b.ok(err)
	if slices.ContainsFunc(groups, func(g store.Group) bool { return g.Complete }) {
		b.t.Errorf("%+v: nothing is complete any more", groups)
	}
}

// reusedPrices takes two answers over, one of them of unknown cost: they cost nothing here, and have the price of the run that asked.
func reusedPrices(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.staged(store.Reuse, 3)
	b.ok(b.s.Work.GoLive(b.ctx, g.Lease, "", 0, b.clock.now()))
	price, zero := assay.Money(700), assay.Money(0)
	taken := func(ord int64, price *assay.Money) store.Settlement {
		o := b.outcome(g, ord, assay.Answered)
		o.Cost, o.Reused, o.Price = &zero, 77, price
		return o
	}
	own := b.outcome(g, 2, assay.Answered)
	own.Outcome.Usage = assay.Usage{Known: true, Input: 5, Output: 6}
	first := taken(0, &price)
	first.Outcome.Usage = assay.Usage{Known: true, Input: 50, Cached: 40, Output: 60}
	second := taken(1, nil)
	second.Outcome.Usage = assay.Usage{}
	b.settle(g, first, second, own)
	got := b.segmentNow(g)
	if want := (store.Taken{Cost: 700, Unpriced: 1, Input: 50, Cached: 40, Output: 60, Mute: 1}); got.Taken != want {
		t.Errorf("taken: %+v, want %+v", got.Taken, want)
	}
	if got.InputTokens != 5 || got.OutputTokens != 6 {
		t.Errorf("tokens of another run count here: %d, %d", got.InputTokens, got.OutputTokens)
	}
	if spent, want := got.Spent(), (assay.Cost{Sum: 3000, Priced: 3}); spent != want {
		t.Errorf("spent: %+v, want %+v", spent, want)
	}
	if worth, want := got.Price(), (assay.Cost{Sum: 3700, Priced: 2, Unknown: 1}); worth != want {
		t.Errorf("price: %+v, want %+v", worth, want)
	}
	var prices []assay.Money
	for a, err := range b.s.Reader.SegmentAnswers(b.ctx, g.No) {
		b.ok(err)
		if a.Price == nil {
			prices = append(prices, -1)
			continue
		}
		prices = append(prices, *a.Price)
	}
	if want := []assay.Money{700, -1, 3000}; !slices.Equal(prices, want) {
		t.Errorf("prices: %v, want %v", prices, want)
	}
	paid, err := b.s.Reader.Paid(b.ctx, b.run.No, "answers", "gpt")
	b.ok(err)
	if want := (store.Paid{N: 1, Sum: 700, Least: 700, Most: 700}); paid != want {
		t.Errorf("what the lane has cost: %+v, want %+v", paid, want)
	}
	bills, err := b.s.Pages.DayBills(b.ctx, g.Provider, b.run.No) // the third is of a job that was adopted, and was billed
	b.ok(err)
	if len(bills) != 1 || bills[0].Cost != (assay.Cost{Sum: 3000, Priced: 1}) || bills[0].Input != 5 || bills[0].Output != 6 {
		t.Errorf("bills of days: %+v, want those of one answer", bills)
	}
}
