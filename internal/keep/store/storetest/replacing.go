package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// replacing has late answers and people's labels come while an edit of the study replaces what they are about.
func replacing(t *testing.T, fresh Fresh) {
	t.Run("a late answer that an edit overtakes does not stand", func(t *testing.T) {
		t.Parallel()
		b, where := overtaken(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease, store.EndOpen{Ending: assay.Lost, Message: "gone"}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		b.edit(where, []assay.Key{b.attempt(0, 0).Key}, func() error {
			_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Answered)})
			return err
		})
		// The other request is as it was, and has its late answer.
		if rows := b.table(`SELECT CAST(ord AS TEXT) FROM outcomes WHERE stands = 1`); !cmp.Equal(rows, []string{"1"}) {
			t.Errorf("what stands: %q", rows)
		}
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 1}, b.lane("gpt").Endings); d != "" {
			t.Error(d)
		}
	})
	t.Run("a label on what an edit replaces is not kept", func(t *testing.T) {
		t.Parallel()
		b, where := overtaken(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Answered))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		label := func(i int, label string) error {
			key := b.attempt(0, i).Key
			v := store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "fine", Item: b.attempt(0, i).At.Item, Lane: "gpt", Turn: 1, Judge: "human:ada"}, Subject: key, State: assay.VerdictValid, Label: label}
			return b.s.Runs.Label(b.ctx, v, []assay.Key{v.At.Key()}, []store.Shown{{Key: key, Segment: g.No, Ord: int64(i)}})
		}
		b.ok(errors.Join(label(1, "no"), label(1, "yes"))) // the second takes the place of the first
		b.edit(where, []assay.Key{b.attempt(0, 0).Key}, func() error {
			if err := label(0, "yes"); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("the label on the earlier answer: %v", err)
			}
			return nil
		})
		b.ok(label(1, "no")) // it stands as it was shown
		if d := cmp.Diff([]string{"q1 no"}, b.table(`SELECT item || ' ' || label FROM verdicts WHERE stale = 0`)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a label on an item that was edited is not kept", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		item := assay.Item{ID: "i", Fields: map[string]any{"text": "a", "n": 2.0}}
		b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "essays", items(item)))
		sum, err := store.ItemSum(item)
		b.ok(err)
		v := store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "better", Item: "i", Against: "j", Turn: 1, Judge: "human:ada"}, State: assay.VerdictValid, Label: "a"}
		shown := []store.Shown{{Input: "essays", Item: "i", Sum: sum}}
		b.ok(b.s.Runs.Label(b.ctx, v, nil, shown))
		item.Fields = map[string]any{"text": "b", "n": 2.0}
		b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "essays", items(item)))
		if err := b.s.Runs.Label(b.ctx, v, []assay.Key{v.At.Key()}, shown); !errors.Is(err, store.ErrReplaced) {
			t.Errorf("the label on the earlier text: %v", err)
		}
	})
}

func items(all ...assay.Item) func(yield func(assay.Item, error) bool) {
	return func(yield func(assay.Item, error) bool) {
		for _, it := range all {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func overtaken(t *testing.T, fresh Fresh) (*bench, string) {
	b := &bench{t: t, ctx: context.Background(), clock: newClock()}
	where := fresh(t)
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	return b, where
}

// edit supersedes requests while another writer wants to write.
func (b *bench) edit(where string, keys []assay.Key, meanwhile func() error) {
	b.t.Helper()
	held, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "me", time.Hour)
	b.ok(err)
	other := make(chan error, 1)
	begun := false
	r := store.Revision{Run: b.run.No, Was: b.run.Digest, Is: "new", Settings: "{}", What: "a prompt", Lease: held, More: &store.More{
		Lanes: []store.Lane{b.lane("gpt")}, Supersedes: &store.Superseding{Requests: keys},
		Items: []store.MoreItems{{Input: "q", Items: func(yield func(assay.Item, error) bool) {
			if !begun { // a transaction that is tried again reads the items again
				begun = true
				go func() { other <- meanwhile() }()
				b.awaitBlocked(where)
			}
			yield(assay.Item{ID: "a", Fields: map[string]any{"text": "a"}}, nil)
		}}},
	}}
	if done, err := b.s.Runs.Revise(b.ctx, r); !done || err != nil {
		b.t.Error("the edit:", done, err)
	}
	b.ok(<-other)
}

// takenBack takes an edit of the study back: what stood before it is taken over as it stood.
func takenBack(t *testing.T, fresh Fresh) {
	b, where := overtaken(t, fresh)
	g := b.to(b.staged(store.Batch, 3), store.Fetched)
	b.settle(g, b.outcome(g, 0, assay.Cut), b.outcome(g, 1, assay.Refused), b.outcome(g, 2, assay.Errored))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	b.clock.pass(48 * time.Hour)
	var asked []store.Question
	var keys []assay.Key
	for i := range 3 {
		a := b.attempt(0, i)
		asked, keys = append(asked, store.Question{Key: a.Key, At: a.At, Digest: a.Digest}), append(keys, a.Key)
	}
	b.edit(where, keys, func() error { return b.s.Runs.SetBudget(b.ctx, b.run.No, nil) })
	for name, f := range map[string]store.ReuseFrom{
		"its own run": {Run: b.run.No, From: []int64{b.run.No}}, "another study": {Run: b.run.No, Study: "other"},
		"what is new": {Run: b.run.No, Study: "demo", Since: b.clock.now().Add(-time.Hour)},
	} {
		found, err := b.s.Reuse.Reusable(b.ctx, f, asked)
		b.ok(err)
		if len(found) != 2 || found[keys[0]].Outcome.Ending != assay.Cut || found[keys[1]].Outcome.Ending != assay.Refused || found[keys[0]].Segment != g.No {
			t.Errorf("reuse of %s takes over %v", name, found)
		}
	}
	asked[0].Digest = []byte("another request")
	if found, err := b.s.Reuse.Reusable(b.ctx, store.ReuseFrom{Run: b.run.No, From: []int64{b.run.No}}, asked[:1]); err != nil || len(found) != 0 {
		t.Errorf("the answer to another request is taken over: %v, %v", found, err)
	}
}
