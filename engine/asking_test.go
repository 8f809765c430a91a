package engine

import (
	"testing"
	"time"

	"assay/ratelimit"
)

// claim is a round that writes no replies.
func (a *asking) claim(t *testing.T) int {
	t.Helper()
	n := a.hungry(t.Context())
	if n > 0 {
		a.tune(n)
		a.away += n
		a.unsent.Add(int64(n))
	}
	return n
}

func askingAt(d *desk, caps ratelimit.Caps) *asking {
	a := &asking{desk: d, own: d.laneOf("red", caps), model: &ratelimit.Limiter{}}
	a.ahead = int(a.own.ahead.Load())
	return a
}

func TestAsManyAreClaimedAheadAsGoOutMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		caps ratelimit.Caps
		want int
	}{
		{"half of what may fly", ratelimit.Caps{}, 4},
		{"not more than may fly", ratelimit.Caps{Concurrency: 2}, 1},
		{"what a rate lets out in a tenth of a second", ratelimit.Caps{Rate: 35}, 3},
		{"one at a low rate", ratelimit.Caps{Rate: 2}, 1},
		{"one between pauses", ratelimit.Caps{Pause: 20 * time.Second}, 1},
	} {
		d := (&Engine{Clock: WallClock()}).deskOf(Access{Fingerprint: "key"}, ratelimit.Caps{})
		a := askingAt(d, c.caps)
		if n := a.claim(t); n != c.want {
			t.Errorf("%s: %d are claimed first, want %d", c.name, n, c.want)
		}
		if n := a.claim(t); n != 0 {
			t.Errorf("%s: %d more are claimed before any has left", c.name, n)
		}
		a.unsent.Store(0)
		if n := a.claim(t); n != c.want || a.ahead != 2*c.want {
			t.Errorf("%s: all have left: %d are claimed, and %d the next time", c.name, n, a.ahead)
		}
	}
}

func TestASegmentClaimsAsTheOneBeforeHasLearned(t *testing.T) {
	t.Parallel()
	d := (&Engine{Clock: WallClock()}).deskOf(Access{Fingerprint: "key"}, ratelimit.Caps{})
	a := askingAt(d, ratelimit.Caps{})
	for range 20 {
		a.claim(t)
		a.unsent.Store(0)
		a.away = 0
	}
	if a.ahead != mostAhead {
		t.Fatalf("%d are claimed ahead where all leave at once, want %d", a.ahead, mostAhead)
	}
	next := askingAt(d, ratelimit.Caps{})
	if n := next.claim(t); n != mostAhead {
		t.Errorf("the next segment claims %d first", n)
	}
	if other := (askingAt(d, ratelimit.Caps{})); other.own != next.own {
		t.Error("a lane has two places at the desk")
	}
	for range 100 {
		a.unsent.Store(int64(a.ahead / 2)) // as many as were there before the claims were written
		a.tune(a.ahead)
	}
	if a.ahead > 2 {
		t.Errorf("%d are claimed ahead where few go", a.ahead)
	}
	a.ahead = 100
	for _, c := range []struct {
		name    string
		left, n int
	}{{"most of the 50 went out", 20, 100}, {"one request was built", 0, 1}} {
		a.unsent.Store(int64(c.left))
		if a.tune(c.n); a.ahead != 100 {
			t.Errorf("%s: %d are claimed ahead where 100 are right", c.name, a.ahead)
		}
	}
}

func TestLargeRequestsAreBuiltAFewAtATime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, page, want int }{
		{10 << 10, 128, 102}, // a megabyte
		{100, 128, 256},      // twice as many as before
		{100, mostPage, mostPage},
		{50 << 20, 3, 1},
	} {
		if got := nextPage(c.page, c.page*c.bytes); got != c.want {
			t.Errorf("after a page of %d requests of %d bytes come %d, want %d", c.page, c.bytes, got, c.want)
		}
	}
}
