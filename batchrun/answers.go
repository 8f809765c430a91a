package batchrun

import (
	"context"
	"iter"

	"assay"
	"assay/store"
)

// Answered is a line of the file with what stands for it.
type Answered struct {
	Line         Line
	Sent         bool // false: not yet, and the answer is zero
	store.Answer      // where it was sent
}

// Answers walks over the lines of a batch run in the order of its file, each with what stands for it now.
func Answers(ctx context.Context, ledger *store.Reader, run int64) iter.Seq2[Answered, error] {
	return func(yield func(Answered, error) bool) {
		block := make([]Line, 0, 500)
		flush := func() bool {
			keys := make([]assay.Key, len(block))
			for i, l := range block {
				keys[i] = At(l.ID, l.Lane).Key()
			}
			found, err := ledger.AnswersTo(ctx, run, keys)
			if err != nil {
				yield(Answered{}, err)
				return false
			}
			for i, l := range block {
				a, sent := found[keys[i]]
				if !yield(Answered{Line: l, Sent: sent, Answer: a}, nil) {
					return false
				}
			}
			block = block[:0]
			return true
		}
		for l, err := range Lines(ctx, ledger, run) {
			if err != nil {
				yield(Answered{}, err)
				return
			}
			if block = append(block, l); len(block) == cap(block) && !flush() {
				return
			}
		}
		if len(block) > 0 {
			flush()
		}
	}
}
