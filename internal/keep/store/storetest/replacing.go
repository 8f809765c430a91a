package storetest

import (
	"errors"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// replacing has a person label an item whose text is another by then.
func replacing(t *testing.T, fresh Fresh) {
	t.Run("a label on an item that was edited is not kept", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		item := assay.Item{ID: "i", Fields: map[string]any{"text": "a", "n": 2.0}}
		b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "essays", items(item)))
		sum, err := store.ItemSum(item)
		b.ok(err)
		v := store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "better", Item: "i", Against: "j", Turn: 1, Judge: "human:ada"},
			State: assay.VerdictValid, Label: "a"}
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
