package main

import (
	"math"
	"testing"
)

func TestASmallHeapHasALimitAndALargeOneSlack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		live    uint64
		percent int
		limit   int64
	}{
		{0, 1000, smallMemory}, {8 << 20, 1000, smallMemory}, {smallHeap - 4<<20, 1000, 44 << 20}, {smallHeap, 1000, 48 << 20},
		{32 << 20, 150, math.MaxInt64}, {40 << 20, 140, math.MaxInt64}, {80 << 20, 50, math.MaxInt64}, {100 << 20, 30, math.MaxInt64},
		{120 << 20, leastGrowth, math.MaxInt64}, {16 << 30, leastGrowth, math.MaxInt64},
	} {
		if percent, limit := pace(c.live); percent != c.percent || limit != c.limit {
			t.Errorf("%d MB live: %d%%, at most %d; want %d%%, at most %d", c.live>>20, percent, limit, c.percent, c.limit)
		}
	}
}
