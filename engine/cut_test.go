package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/store"
)

func TestSegmentsAreCutAsTheStageSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name           string
		size, segments int
		limit          int // of the provider
		want           []int64
	}{
		{"as few as possible", 0, 0, 100, []int64{11}},
		{"by the provider's limit", 0, 0, 4, []int64{4, 4, 3}},
		{"by size", 5, 0, 100, []int64{5, 5, 1}},
		{"into three", 0, 3, 100, []int64{4, 4, 3}},
		{"into two, each over the provider's limit", 0, 2, 4, []int64{4, 2, 4, 1}},
		{"into more than there are requests", 0, 20, 100, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) {
				w.plan.items, w.plan.cut.Size, w.plan.cut.Segments, w.house.limits.Requests = 11, tt.size, tt.segments, tt.limit
			})
			w.finished(store.ResultDone)
			var got []int64
			for _, g := range w.segments() {
				got = append(got, g.Requests)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			w.billedOnce(11)
		})
	}
}

// TestABudgetIsSpentInAFewSlices plans far more than the budget covers, at twice what answers cost: what comes back of each slice
// pays for the next one, and nothing is made again and again that cannot be paid for.
func TestABudgetIsSpentInAFewSlices(t *testing.T) {
	t.Parallel()
	const price, items = 40_000, 5_000 // an answer costs half of it
	budget := assay.Money(100 * price)
	for _, mode := range []store.SegmentMode{store.Live, store.Batch} {
		w := newWorld(t, one, func(w *world) {
			w.plan.items, w.plan.mode, w.plan.price, w.budget = items, mode, price, &budget
			w.plan.policy.LiveBelow, w.plan.cut.Size = 500, 10
		})
		st, err := w.drive()
		w.ok(err)
		if !st.Budget {
			t.Errorf("%s: standing %+v\n%s", mode, st, w.history())
		}
		segments, err := w.s.Segments(w.ctx, w.run.No)
		w.ok(err)
		sent := 0
		for _, g := range segments {
			if sent += int(g.Requests); g.Mode != mode {
				t.Errorf("segment %d went %s, not %s", g.No, g.Mode, mode)
			}
		}
		if sent < 190 || sent > 200 || len(segments) > 28 {
			t.Errorf("%s: %d requests in %d segments\n%s", mode, sent, len(segments), w.history())
		}
		if w.plan.made > 10*sent {
			t.Errorf("%s: %d requests were made to send %d", mode, w.plan.made, sent)
		}
	}
}
