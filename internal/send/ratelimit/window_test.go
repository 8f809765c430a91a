package ratelimit

import (
	"testing"
	"time"
)

// What is left below half of a limit is spread over the time until it is full again; above it requests go at once.
func TestBelowHalfOfALimitRequestsAreSpread(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	for left, want := range map[int64]time.Duration{100: 0, 51: 0, 49: time.Minute / 49, 20: time.Minute / 20} {
		var w window
		w.hinted(at, Hint{Known: true, Limit: 100, Remaining: left, Reset: time.Minute}, 0)
		if first := w.wait(at, 1); first > 0 {
			t.Errorf("%d left: the first waits %s", left, first)
		}
		w.sent(at, 1)
		if got := w.wait(at, 1); want == 0 && got > 0 || want > 0 && (got < want-time.Second/4 || got > want+time.Second/4) {
			t.Errorf("%d left: the next waits %s, want %s", left, got, want)
		}
	}
}

// A limit whose headers do not say when it is full again is full after the usual time.
func TestALimitWithoutATimeIsFullAfterAMinute(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	var w window
	w.hinted(at, Hint{Known: true, Limit: 100}, 0)
	if got := w.wait(at, 1); got != usualPeriod {
		t.Errorf("the next waits %s, want %s", got, usualPeriod)
	}
}

// What is refused no longer counts as taken, as long as its second is counted at all.
func TestARefusalTakesBackOnlyWhatIsStillCounted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	var l learned
	l.sent(at)
	l.sent(at.Add(span * time.Second)) // in the place of the first
	l.refused(at)
	if n := l.ring[l.second%span]; n != 1 {
		t.Errorf("%d are counted, want the second", n)
	}
	l.refused(at.Add(span * time.Second))
	l.refused(at.Add(span * time.Second))
	if n := l.ring[l.second%span]; n != 0 {
		t.Errorf("%d are counted, want none", n)
	}
}
