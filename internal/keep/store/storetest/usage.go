package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// unknownUsage settles replies that do not report their tokens: their number is unknown, never 0.
func unknownUsage(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	spend :=
		"SELECT priced, unpriced, spent_usd, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown FROM run_spend"
	withoutUsage := func(g store.Segment, ord int64) store.Settlement {
		o := b.outcome(g, ord, assay.Answered)
		o.Cost, o.Outcome.Usage = nil, assay.Usage{}
		return o
	}
	g := b.to(b.staged(store.Batch, 4), store.Fetched)
	b.settle(g, withoutUsage(g, 0), b.outcome(g, 1, assay.Rejected))
	b.settle(g, withoutUsage(g, 2))
	if d := cmp.Diff([]string{"1 2 0 <nil> <nil> <nil> <nil> 2"}, b.table(spend)); d != "" {
		t.Error("no reply reports it: " + d)
	}
	b.settle(g, b.outcome(g, 3, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	if d := cmp.Diff([]string{"2 2 4e-06 10 4 5 2 2"}, b.table(spend)); d != "" {
		t.Error("one of three reports it: " + d)
	}
	all, err := b.s.Reader.Segments(b.ctx, b.run.No)
	b.ok(err)
	if all[0].UsageUnknown != 2 {
		t.Errorf("%d are unknown, want 2", all[0].UsageUnknown)
	}
}
