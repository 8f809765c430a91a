package storetest

import (
	"testing"

	"assay"
	"assay/store"
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
		b.ok(b.s.PutItems(b.ctx, run, "questions", func(yield func(assay.Item, error) bool) {
			yield(assay.Item{ID: old.At.Item, Fields: map[string]any{"text": text}}, nil)
		}))
	}
	item(b.run.No, "How many?")
	for text, want := range map[string]int{"How many?": 0, "How long?": 1} {
		next := b.newRun("with "+text, nil)
		item(next.No, text)
		found, err := b.s.Reusable(b.ctx, store.ReuseFrom{Run: next.No, Study: "demo"}, []store.Question{question})
		b.ok(err)
		if len(found) != want {
			t.Errorf("the item is now %q: %d found, want %d", text, len(found), want)
		}
	}
}
