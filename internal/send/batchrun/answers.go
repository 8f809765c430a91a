package batchrun

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
)

// Answered is a line of the file with its current answer.
type Answered struct {
	Line         Line
	Sent         bool // false: not yet, and the answer is zero
	store.Answer      // where it was sent
}

// Answers walks over the lines of a batch run in the order of its file, each with its current answer.
func Answers(ctx context.Context, ledger *read.Reader, run int64) iter.Seq2[Answered, error] {
	return func(yield func(Answered, error) bool) {
		block := make([]Line, 0, 500)
		flush := func() bool {
			refs := make([]assay.Ref, len(block))
			for i, l := range block {
				refs[i] = At(l.ID, l.Lane).Ref()
			}
			found, err := ledger.AnswersTo(ctx, run, refs)
			if err != nil {
				yield(Answered{}, err)
				return false
			}
			for i, l := range block {
				a, sent := found[refs[i].Key]
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

// Body returns the body of a line, as its author wrote it.
func (r *Reader) Body(ctx context.Context, run store.Run, id string) ([]byte, error) {
	items, err := r.Ledger.ItemsByID(ctx, run.No, input, []string{id})
	if err != nil {
		return nil, err
	}
	it, ok := items[id]
	if !ok {
		return nil, fmt.Errorf("line %q of run %s: %w", id, run.ID, store.ErrNotFound)
	}
	l, err := lineOf(it)
	if err != nil {
		return nil, err
	}
	f, err := r.Files.Open(ctx, run.ID, kept)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return body(f, l)
}
