// Package ratiotest measures work as a ratio to a floor that is measured in the same run: machines are noisy, ratios less so.
package ratiotest

import (
	"testing"
	"time"
)

// Against runs a floor and the work that is held against it in turn, and reports how many times the floor's time the work took.
func Against(b *testing.B, floor, work func()) {
	b.Helper()
	var least, spent time.Duration
	for b.Loop() {
		start := time.Now()
		floor()
		middle := time.Now()
		work()
		least += middle.Sub(start)
		spent += time.Since(middle)
	}
	b.ReportMetric(spent.Seconds()/least.Seconds(), "floors/op")
}
