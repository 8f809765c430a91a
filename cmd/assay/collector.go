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

	largeHeap   = 80 << 20 // with more in it, a quarter as much garbage
	largeGrowth = 25
)

// collector decides when garbage is collected. What streams through leaves a small heap, which Go by itself would collect
// many times a second: a small heap may grow until all of Go's memory is smallMemory, or what lives in it and some room. A larger one may
// hold as much garbage as what lives in it, and the slack; one with millions of verdicts a quarter as much: they are numbers in a few long
// columns, which are collected in milliseconds.
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
	if live > largeHeap {
		return largeGrowth, math.MaxInt64
	}
	return 100 + int(100*slack/live)/5*5, math.MaxInt64
}
