package plan_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/plan"
)

func same(n int, size int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = size
	}
	return out
}

func cut(sizes []int32, b plan.Bounds) []plan.Segment {
	c := plan.NewCut(b)
	for _, size := range sizes {
		c.Add(size, 1)
	}
	return c.Segments()
}

func counts(segments []plan.Segment) []int {
	var out []int
	for _, s := range segments {
		out = append(out, s.Requests)
	}
	return out
}

func TestCutFollowsTheStudyAndTheProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sizes  []int32
		bounds plan.Bounds
		want   []int
	}{
		"ten in three segments":               {same(10, 1), plan.Bounds{Segments: 3}, []int{4, 3, 3}},
		"more segments than requests":         {same(2, 1), plan.Bounds{Segments: 5}, []int{1, 1}},
		"by size, the rest last":              {same(10, 1), plan.Bounds{Size: 4}, []int{4, 4, 2}},
		"the provider's count wins":           {same(10, 1), plan.Bounds{Size: 8, Requests: 5}, []int{5, 5}},
		"exactly at the count":                {same(50_000, 1), plan.Bounds{Requests: 50_000}, []int{50_000}},
		"one over the count":                  {same(50_001, 1), plan.Bounds{Requests: 50_000}, []int{50_000, 1}},
		"exactly at the bytes":                {same(4, 24), plan.Bounds{Bytes: 49, Between: 1}, []int{2, 2}},
		"one byte over":                       {same(4, 24), plan.Bounds{Bytes: 48, Between: 1}, []int{1, 1, 1, 1}},
		"the frame counts":                    {same(4, 24), plan.Bounds{Bytes: 49, Between: 1, Frame: 1}, []int{1, 1, 1, 1}},
		"a line over the limit travels alone": {[]int32{10, 100, 10}, plan.Bounds{Bytes: 50}, []int{1, 1, 1}},
		"a segment over the limit is cut":     {same(10, 10), plan.Bounds{Bytes: 30, Segments: 2}, []int{3, 2, 3, 2}},
		"nothing":                             {nil, plan.Bounds{Requests: 5, Segments: 3}, nil},
	} {
		if diff := cmp.Diff(c.want, counts(cut(c.sizes, c.bounds))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCutLosesNothingAndKeepsTheBounds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		sizes := make([]int32, rng.IntN(200))
		total := int64(0)
		for i := range sizes {
			sizes[i] = int32(1 + rng.IntN(50))
			total += int64(sizes[i])
		}
		b := plan.Bounds{Requests: 1 + rng.IntN(40), Bytes: int64(60 + rng.IntN(500)), Between: 1, Frame: int64(rng.IntN(9)),
			Segments: rng.IntN(5)}
		n, bytes := 0, int64(0)
		for _, s := range cut(sizes, b) {
			if s.Requests == 0 || s.Requests > b.Requests || s.Bytes > b.Bytes {
				t.Fatalf("%+v breaks %+v", s, b)
			}
			n += s.Requests
			bytes += s.Bytes - b.Frame - int64(s.Requests-1)*b.Between
		}
		if n != len(sizes) || bytes != total {
			t.Fatalf("%d requests of %d, %d bytes of %d", n, len(sizes), bytes, total)
		}
	}
}

func TestCutCountsEveryDraw(t *testing.T) {
	t.Parallel()
	for _, b := range []plan.Bounds{{Requests: 4}, {Segments: 2}} {
		c := plan.NewCut(b)
		for range 3 {
			c.Add(10, 2) // the draws of a question stand together
		}
		n := 0
		for _, s := range c.Segments() {
			n += s.Requests
		}
		if n != 6 {
			t.Errorf("%+v: %d requests of 6", b, n)
		}
	}
}
