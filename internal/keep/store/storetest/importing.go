package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// imports: answers made elsewhere come in whole blocks, once, and cost the run nothing.
func imports(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	block := func(items ...int) store.Import {
		in := store.Import{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Provider: "openai",
			Model: "gpt-5", File: "a.csv"}
		for i, n := range items {
			a := b.attempt(int64(i), n)
			in.Attempts = append(in.Attempts, a)
			in.Outcomes = append(in.Outcomes, settlement(a, assay.Answered))
		}
		in.Outcomes[0].Cost = nil
		return in
	}
	b.ok(b.s.Imports.Import(b.ctx, block(1, 2, 3)))
	if err := b.s.Imports.Import(b.ctx, block(4, 2)); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("a second answer to one question: %v, want ErrDuplicate", err)
	}
	bad := block(5)
	bad.Outcomes[0].Outcome.Ending = assay.Errored
	if err := b.s.Imports.Import(b.ctx, bad); err == nil {
		t.Error("what is no answer was imported")
	}
	var got []string
	for a, err := range b.s.Reader.Answers(b.ctx, b.run.No, "answers", "gpt") {
		b.ok(err)
		cost := "unknown"
		if a.Cost != nil {
			cost = a.Cost.String()
		}
		got = append(got, a.At.Item+" "+string(a.Mode)+" "+cost+" "+a.Outcome.Text)
	}
	want := []string{"q1 import unknown text of q1", "q2 import $0.000002 text of q2", "q3 import $0.000003 text of q3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	l := b.lane("gpt")
	if l.Imported != 3 || l.Endings[assay.Answered] != 3 || l.Open != 0 {
		t.Errorf("lane: %d imported, %d answered, %d open; want 3, 3, 0", l.Imported, l.Endings[assay.Answered], l.Open)
	}
	run, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if run.Spent != 0 || run.Unpriced != 0 {
		t.Errorf("the run spent %s and %d of unknown price on answers made elsewhere", run.Spent, run.Unpriced)
	}
	segments, err := b.s.Reader.Segments(b.ctx, b.run.No, store.Settled)
	b.ok(err)
	if len(segments) != 1 || segments[0].Mode != store.Imported || segments[0].Cost.Unknown != 1 {
		t.Errorf("segments %+v, want one imported with one unknown cost", segments)
	}
}
