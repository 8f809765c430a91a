package plan

import (
	"context"
	"iter"

	"assay/internal/assay"
)

// FirstItems are the items that a limit leaves of an input; 0: all. A limit is about what is asked, not about what goes with it,
// such as a table of objections.
func (d *Input) FirstItems(ctx context.Context, input string, limit int) iter.Seq2[assay.Item, error] {
	items := d.Rows.Items(ctx, input)
	if limit == 0 || !d.asks(input) {
		return items
	}
	return func(yield func(assay.Item, error) bool) {
		left := limit
		for it, err := range items {
			if !yield(it, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// asks reports whether a stage is about the items of an input.
func (d *Input) asks(input string) bool {
	for i := range d.Study.Stages {
		if d.Root(&d.Study.Stages[i]) == input {
			return true
		}
	}
	return false
}
