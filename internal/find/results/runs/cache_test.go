package runs

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestACacheThatIsPaidForAndHardlyReadIsLow(t *testing.T) {
	t.Parallel()
	segment := func(mode store.SegmentMode, purpose store.Purpose, answers, hits, written int64) store.Segment {
		return store.Segment{NewSegment: store.NewSegment{Mode: mode, Purpose: purpose, GroupKey: store.GroupKey{Stage: "ask", Lane: "a"}},
			CacheHits: hits, WrittenTokens: written, Endings: map[assay.Ending]int64{assay.Answered: answers}}
	}
	unwritten := segment(store.Batch, store.ForCanary, 1, 0, 0)
	own := segment(store.Live, store.ForCanary, 1, 0, 0)
	ahead := segment(store.Batch, store.ForCanary, 1, 0, 9)
	for name, c := range map[string]struct {
		segments []store.Segment
		shown    bool
		low      bool
		requests int64
	}{
		"read by all":                    {[]store.Segment{ahead, segment(store.Batch, store.ForWave, 10, 10, 0)}, true, false, 10},
		"sent ahead and read by few":     {[]store.Segment{ahead, segment(store.Batch, store.ForWave, 10, 4, 0)}, true, true, 10},
		"sent ahead and nothing written": {[]store.Segment{unwritten, segment(store.Batch, store.ForWave, 10, 0, 0)}, true, true, 10},
		"written by all, live":           {[]store.Segment{segment(store.Live, store.ForWave, 10, 1, 900)}, true, true, 10},
		"by itself, and for nothing":     {[]store.Segment{own, segment(store.Batch, store.ForWave, 10, 2, 0)}, true, false, 11},
		"no cache":                       {[]store.Segment{segment(store.Batch, store.ForWave, 10, 0, 0)}, false, false, 0},
		"the others are not back":        {[]store.Segment{ahead, segment(store.Batch, store.ForWave, 0, 0, 0)}, false, false, 0},
		"taken over":                     {[]store.Segment{segment(store.Reuse, store.ForWave, 10, 10, 0)}, false, false, 0},
	} {
		got := Caches(c.segments)
		if len(got) != 1 != !c.shown {
			t.Errorf("%s: %+v", name, got)
		} else if c.shown && (got[0].Low() != c.low || got[0].Requests != c.requests) {
			t.Errorf("%s: %+v, low %t", name, got[0], got[0].Low())
		}
	}
	few := Cache{Stage: "ask", Lane: "a", Requests: 10, Hits: 4, Paid: true}
	if got := few.Warning(); !strings.Contains(got, "lane a in stage ask: only 4 of 10 requests read from the provider's cache (40%)") {
		t.Error(got)
	}
}
