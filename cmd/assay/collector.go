package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	smallMemory = 32 << 20 // all that Go takes while little lives in the heap
	smallHeap   = 24 << 20 // what may live in it then
	room        = 24 << 20 // what Go takes at least beside what lives in a small heap: with less it would collect without end
	slack       = 16 << 20 // how much more garbage a larger heap may hold than what lives in it
	leastGrowth = 25       // by how many percent the largest may grow
)

// collector decides when garbage is collected. What streams through leaves a small heap, which Go by itself would collect
// many times a second: a small heap may grow until all of Go's memory is smallMemory, or what lives in it and some room. A larger one may
// hold as much garbage as what lives in it, and the slack; the more lives in it the less, down to a quarter: what stays of millions of
// verdicts is numbers in a few long columns, which are collected in milliseconds.
type collector struct {
	percent int
	limit   int64
	live    []metrics.Sample
}

// startCollector begins to decide, unless the user does.
func startCollector() {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := os.LookupEnv(name); set {
			return
		}
	}
	c := &collector{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	c.again(&cycle{})
}

// cycle is garbage as soon as it is made: the collector finds one whenever it has run.
type cycle struct{ c *collector }

func (c *collector) again(*cycle) {
	metrics.Read(c.live)
	percent, limit := pace(c.live[0].Value.Uint64())
	if percent != c.percent || limit != c.limit {
		c.percent, c.limit = percent, limit
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(&cycle{c}, c.again)
}

// pace returns by how many percent of what lives in it the heap may grow, and how much memory Go may take.
func pace(live uint64) (percent int, limit int64) {
	if live <= smallHeap {
		return 1000, max(smallMemory, int64(live)>>22<<22+room)
	}
	const most, less = 72 << 20, 2. / 5 // at 40 MB both rules give 56 MB of garbage
	garbage := min(float64(live)+slack, max(most-less*float64(live), leastGrowth*float64(live)/100))
	return int(100*garbage/float64(live)) / 5 * 5, math.MaxInt64
}
