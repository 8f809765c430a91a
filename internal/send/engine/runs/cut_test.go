package runs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

func TestSegmentsAreCutAsTheStageSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name           string
		size, segments int
		limit          int // of the provider
		want           []int64
		least          int // of the provider
	}{
		{"as few as possible", 0, 0, 100, []int64{11}, 0},
		{"by the provider's limit", 0, 0, 4, []int64{4, 4, 3}, 0},
		{"by size", 5, 0, 100, []int64{5, 5, 1}, 0},
		{"by size, and none too small", 5, 0, 100, []int64{4, 4, 3}, 3},
		{"by the provider's limit, with enough left", 0, 0, 8, []int64{8, 3}, 3},
		{"into three", 0, 3, 100, []int64{4, 4, 3}, 0},
		{"into two, each over the provider's limit", 0, 2, 4, []int64{4, 2, 4, 1}, 0},
		{"into more than there are requests", 0, 20, 100, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) {
				w.plan.items, w.plan.cut.Size, w.plan.cut.Segments, w.fake.limits.Requests, w.fake.limits.Least = 11, tt.size, tt.segments,
					tt.limit, tt.least
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

// TestTooFewForABatchGoLive has a provider whose jobs fail when they have fewer requests than the wave.
func TestTooFewForABatchGoLive(t *testing.T) {
	t.Parallel()
	for least, want := range map[int]store.SegmentMode{12: store.Live, 11: store.Batch, 0: store.Batch} {
		w := newWorld(t, one, func(w *world) { w.plan.items, w.fake.limits.Least = 11, least })
		w.finished(store.ResultDone)
		if got := w.segments(); len(got) != 1 || got[0].Mode != want || got[0].Requests != 11 {
			t.Errorf("least %d: %+v", least, got)
		}
	}
}

// TestABudgetIsSpentInAFewSlices plans far more than the budget covers, at twice what answers cost: what comes back of each slice
// pays for the next one, nothing is made again and again that cannot be paid for, and the last few make no jobs of their own.
func TestABudgetIsSpentInAFewSlices(t *testing.T) {
	t.Parallel()
	const price, items = 40_000, 5_000 // an answer costs half of it
	budget := assay.Money(100 * price)
	for mode, most := range map[store.SegmentMode]int{store.Live: 28, store.Batch: 20} {
		w := newWorld(t, one, func(w *world) {
			w.plan.items, w.plan.mode, w.plan.price, w.budget = items, mode, price, &budget
			w.plan.policy.LiveBelow, w.plan.cut.Size = 500, 10
		})
		st, err := w.drive()
		w.ok(err)
		if !st.Budget {
			t.Errorf("%s: standing %+v\n%s", mode, st, w.history())
		}
		segments, err := w.s.Reader.Segments(w.ctx, w.run.No)
		w.ok(err)
		sent := 0
		for _, g := range segments {
			if sent += int(g.Requests); g.Mode != mode {
				t.Errorf("segment %d went %s, not %s", g.No, g.Mode, mode)
			}
		}
		if sent < 180 || sent > 200 || len(segments) > most {
			t.Errorf("%s: %d requests in %d segments\n%s", mode, sent, len(segments), w.history())
		}
		if w.plan.made > 10*sent {
			t.Errorf("%s: %d requests were made to send %d", mode, w.plan.made, sent)
		}
	}
}

// TestSegmentsWithoutAStampDifferInSize cuts by number, into a set number of segments, and by bytes.
func TestSegmentsWithoutAStampDifferInSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set     func(w *world)
		stamped bool
		want    []int64
	}{
		"by number":           {func(w *world) { w.plan.cut.Size = 20 }, false, []int64{20, 19, 18, 3}},
		"by number, stamped":  {func(w *world) { w.plan.cut.Size = 20 }, true, []int64{20, 20, 20}},
		"in a set number":     {func(w *world) { w.plan.cut.Segments = 5 }, false, []int64{14, 13, 12, 11, 10}},
		"set number, stamped": {func(w *world) { w.plan.cut.Segments = 5 }, true, []int64{12, 12, 12, 12, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.plan.items, w.fake.stamped = 60, c.stamped }, c.set)
			w.finished(store.ResultDone)
			w.billedOnce(60)
			var got []int64
			for _, g := range w.segments() {
				got = append(got, g.Requests)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSixteenCreatesWithoutAStampGoAtOnce loses the reply to one of them: the others do not wait for it.
func TestSixteenCreatesWithoutAStampGoAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) {
		w.plan.items, w.plan.cut.Size, w.fake.stamped, w.fake.takes = 16*15, 20, false, 5*time.Hour
	})
	w.inline()
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n == 3 {
			return provider.Unknown
		}
		return provider.Accepted
	}
	began := w.clock.Now()
	w.finished(store.ResultDone)
	w.answers(16 * 15)
	w.billedOnce(16 * 15)
	launched := w.events("launched")
	if len(launched) < 16 || launched[len(launched)-2].At.Sub(began) > time.Second {
		t.Errorf("%d creates, the last but one after %s\n%s", len(launched), launched[len(launched)-2].At.Sub(began), w.history())
	}
}
