package rows

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// blockSize is how many answers are held while their verdicts are read.
const blockSize = 250

// All returns the rows of all requests, in the order in which they were sent, and after them those of questions that
// were not.
func (t *Reader) All(ctx context.Context) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		for row, err := range t.Of(ctx, t.Ledger.Answers(ctx, t.Run.No, "", "")) {
			if !yield(row, err) || err != nil {
				return
			}
		}
		t.unasked(ctx, yield)
	}
}

// Of returns the rows of some answers, with their verdicts.
func (t *Reader) Of(ctx context.Context, answers iter.Seq2[store.Answer, error]) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		block := make([]store.Answer, 0, blockSize)
		for a, err := range answers {
			if err != nil {
				yield(nil, err)
				return
			}
			if block = append(block, a); len(block) < blockSize {
				continue
			}
			if !t.Block(ctx, block, yield) {
				return
			}
			block = block[:0]
		}
		t.Block(ctx, block, yield)
	}
}

// unasked yields the questions that were never sent.
func (t *Reader) unasked(ctx context.Context, yield func(*Answer, error) bool) {
	for i := range t.Study.Stages {
		st := &t.Study.Stages[i]
		for at, err := range t.Scripts.Unasked(ctx, t.Run, st.Name, t.sent(st.Name)) {
			var row *Answer
			if err == nil {
				row, err = t.Answer(ctx, store.Answer{Attempt: store.Attempt{Key: at.Key(), At: at}, Lane: cmp.Or(at.Judge, at.Lane)}, nil)
			}
			if err == nil {
				row.Ending = Unasked
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// sent returns the lanes of a stage that have no question left.
func (t *Reader) sent(stage string) map[string]bool {
	out := map[string]bool{}
	for at, l := range t.Lanes {
		n := l.Open
		for _, ended := range l.Endings {
			n += ended
		}
		if at[0] == stage && n >= l.Planned-l.Spared {
			out[l.Name] = true
		}
	}
	return out
}

// Block yields the rows of a few answers with their verdicts; it reports whether the walk goes on.
func (t *Reader) Block(ctx context.Context, block []store.Answer, yield func(*Answer, error) bool) bool {
	entries, err := t.Entries(ctx, block)
	if err != nil {
		return yield(nil, err)
	}
	for _, e := range entries {
		row, err := t.Answer(ctx, e.Answer, e.Verdicts)
		if !yield(row, err) || err != nil {
			return false
		}
	}
	return true
}

// Entry is an answer with the verdicts of its row, as the ledger has them.
type Entry struct {
	Answer   store.Answer
	Verdicts []store.Verdict
}

// Entries reads the verdicts of a few answers.
func (t *Reader) Entries(ctx context.Context, block []store.Answer) ([]Entry, error) {
	keys := make([]assay.Key, len(block))
	for i, a := range block {
		first := a.At
		first.Again, first.By = 0, "" // its verdict takes the place of the first one's
		keys[i] = first.Key()
	}
	verdicts, err := t.Ledger.VerdictsOn(ctx, t.Run.No, keys)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(block))
	for i, a := range block {
		out[i] = Entry{a, ownVerdicts(a, verdicts[keys[i]])}
	}
	return out, nil
}

// ownVerdicts returns the verdicts of a row: those on an answer, and of a judge's request the one that this very reply
// gave.
func ownVerdicts(a store.Answer, verdicts []store.Verdict) []store.Verdict {
	if a.At.Judge == "" {
		return verdicts
	}
	return slices.DeleteFunc(slices.Clone(verdicts), func(v store.Verdict) bool { return v.Segment != a.Segment || v.Ord != a.Ord })
}

// Verdicts returns the rows of all verdicts, in the order in which they were given.
func (t *Reader) Verdicts(ctx context.Context) iter.Seq2[*Verdict, error] {
	return func(yield func(*Verdict, error) bool) {
		for v, err := range t.Ledger.Verdicts(ctx, t.Run.No, "") {
			var row *Verdict
			if err == nil {
				row = t.Verdict(&v)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Items returns the rows of all items, input by input.
func (t *Reader) Items(ctx context.Context) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for _, in := range t.Study.Inputs {
			for it, err := range t.Ledger.Items(ctx, t.Run.No, in.Name) {
				row := &Item{Study: t.Run.Study, Run: t.Run.ID, Input: in.Name, Item: it.ID, Cluster: it.Cluster, Expect: it.Expect}
				if err == nil {
					row.Fields, err = RawJSON(it.Fields, 1)
				}
				if err == nil {
					var files string
					files, err = assay.EncodeFiles(it.Files)
					row.Files = Raw(files)
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}
