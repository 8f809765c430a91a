package storetest

import (
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// takenAfterARetry takes over a judge's second reply, not the first, malformed one.
func takenAfterARetry(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	at := assay.Coordinates{Stage: "answers", Source: "asked", Item: "q", Lane: "a", Turn: 1, Judge: "gpt"}
	digest := []byte("the same request")
	reply := func(at assay.Coordinates, text string) store.Segment {
		g, err := b.s.Work.AddSegment(b.ctx,
			store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1, Again: at.Again},
				Mode: store.Batch, Purpose: store.ForWave, Provider: "openai", Model: "gpt-5", Nonce: "aaaaaaaaaa"}, "me", ttl)
		b.ok(err)
		b.ok(b.s.Work.AddAttempts(b.ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, Digest: digest, At: at}}))
		g = b.to(b.stage(g), store.Fetched)
		o := b.outcome(g, 0, assay.Answered)
		o.Outcome.Text = text
		b.settle(g, o)
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		return g
	}
	first := reply(at, "garbled")
	_, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{{Run: b.run.No, At: at, State: assay.VerdictMalformed, Segment: first.No}})
	b.ok(err)
	taken := func(run string) string {
		next := b.newRun(run, nil)
		found, err := b.s.Reuse.Reusable(b.ctx, store.ReuseFrom{Run: next.No, From: []int64{b.run.No}, Whole: true},
			[]store.Question{{Key: at.Key(), At: at, Digest: []byte("the same request")}})
		b.ok(err)
		return found[at.Key()].Outcome.Text
	}
	again := at
	again.Again = 3
	second := reply(again, "good")
	b.ok(b.s.Runs.SecondVerdicts(b.ctx,
		[]store.Verdict{{Run: b.run.No, At: at, State: assay.VerdictValid, Label: "yes", Segment: second.No, Again: 3}}))
	if text := taken("second"); text != "good" {
		t.Errorf("%q is taken over", text)
	}
}
