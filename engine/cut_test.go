package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
