package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// took sums what answers took: without replies that do not report it, and prompts where each of a segment was answered.
func took(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	whole := b.to(b.staged(store.Batch, 2), store.Fetched)
	named := []store.Settlement{b.outcome(whole, 0, assay.Answered), b.outcome(whole, 1, assay.Answered)}
	named[0].Outcome.Model, named[1].Outcome.Model = "gpt-5-2", "gpt-5-1"
	b.settle(whole, named...)
	b.ok(b.s.Work.Finish(b.ctx, whole.Lease, time.Time{}))
	part := b.to(b.staged(store.Batch, 3), store.Fetched)
	mute := b.outcome(part, 2, assay.Answered)
	mute.Cost, mute.Outcome.Usage = nil, assay.Usage{}
	b.settle(part, b.outcome(part, 0, assay.Answered), b.outcome(part, 1, assay.Rejected), mute)
	b.ok(b.s.Work.Finish(b.ctx, part.Lease, time.Time{}))
	u := b.outcome(part, 0, assay.Answered).Outcome.Usage
	want := []store.Took{{Run: b.run.No, Study: "demo", Stage: "answers", Lane: "gpt", Provider: "openai", Model: "gpt-5", Params: "{}",
		Turn: 1, Answers: 3, Input: 3 * u.Input, Output: 3 * u.Output, Reasoning: 3 * u.Reasoning}}
	if g, err := b.s.Reader.Segment(b.ctx, whole.No); err != nil {
		t.Fatal(err)
	} else if g.Tokens > 0 {
		want[0].Bytes, want[0].Counted = g.Tokens*store.BytesPerToken, 2*u.Input
	}
	got, err := b.s.Reader.Took(b.ctx, b.run.No, "answers", "gpt")
	b.ok(err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error("in the run: " + d)
	}
	got, err = b.s.Reader.Took(b.ctx, b.run.No, "", "")
	b.ok(err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error("in the run, all lanes: " + d)
	}
	for rehearsal, want := range map[bool][]store.Took{false: want, true: nil} {
		got, err := b.s.Reader.TookAll(b.ctx, rehearsal, []string{"gpt-5", "another"})
		b.ok(err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("in all, rehearsals %t: %s", rehearsal, d)
		}
	}
	served, err := b.s.Reader.Served(b.ctx, b.run.No)
	b.ok(err)
	if d := cmp.Diff([]store.Served{{Stage: "answers", Lane: "gpt", Model: "gpt-5-1", Answers: 1},
		{Stage: "answers", Lane: "gpt", Model: "gpt-5-2", Answers: 1}}, served); d != "" {
		t.Error("models that answered: " + d)
	}
}
