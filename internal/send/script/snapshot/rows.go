package snapshot

import (
	"context"
	"iter"

	"assay/internal/assay"
)

// ledgerRows streams the items of a run's snapshot.
type ledgerRows struct {
	store *Store
	run   int64
}

// keptItems are all items of one input, for the lanes that walk over them one after another: reading an item takes half as long as
// making a request of it.
type keptItems struct {
	of    *ledgerRows
	input string
	items []assay.Item
}

// mostKept is how many bytes the items may have that are kept, for all runs of a process together. They take about three times as much.
const mostKept = 1 << 20

// Items walks over the items of an input. They are not the caller's to change.
func (r *ledgerRows) Items(ctx context.Context, input string) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		if k := r.store.items.Load(); k != nil && k.of == r && k.input == input {
			for _, it := range k.items {
				if !yield(it, nil) {
					return
				}
			}
			return
		}
		k, size := &keptItems{of: r, input: input}, 0
		for it, err := range r.store.Reader.Items(ctx, r.run, input) {
			if size <= mostKept && err == nil {
				size += len(it.ID) + len(it.Cluster) + len(it.Expect) + weight(it.Fields)
				k.items = append(k.items, it)
			} else {
				k.items = nil
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
		if size <= mostKept {
			r.store.items.Store(k)
		}
	}
}

// weight returns about how many bytes a value of an item has.
func weight(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for i := range v {
			n += weight(v[i])
		}
	case map[string]any:
		for name := range v {
			n += len(name) + weight(v[name])
		}
	}
	return n
}
