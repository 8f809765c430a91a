package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/ratelimit"
)

func TestAnAccountQueueServesTheLaneThatWaitsLongestAndOfItTheOldestSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewQueues(&engine.Config{Clock: engine.WallClock(), Own: time.Now})
		d := e.of(engine.Access{Fingerprint: "key"}, ratelimit.Caps{})
		red, blue := d.laneOf("red", ratelimit.Caps{}), d.laneOf("blue", ratelimit.Caps{})
		m := &ratelimit.Limiter{Most: 1}
		first, err := d.enter(t.Context(), red, 1, m, ratelimit.Load{})
		if err != nil {
			t.Fatal(err)
		}
		type served struct {
			name string
			slot
		}
		order := make(chan served, 5)
		for _, w := range []struct {
			name  string
			lane  *quota
			place int64
		}{{"red 3", red, 3}, {"red 2", red, 2}, {"blue 9", blue, 9}, {"red 1", red, 1}, {"blue 8", blue, 8}} {
			go func() {
				p, err := d.enter(t.Context(), w.lane, w.place, m, ratelimit.Load{})
				if err != nil {
					t.Error(err)
				}
				order <- served{w.name, p}
			}()
			synctest.Wait() // it waits in line
		}
		last := first
		for _, want := range []string{"blue 8", "red 1", "blue 9", "red 2", "red 3"} {
			last.leave(ratelimit.Reply{}, 0)
			synctest.Wait()
			got := <-order
			if got.name != want {
				t.Errorf("%s is served, want %s", got.name, want)
			}
			last = got.slot
		}
	})
}

func TestNothingIsLetOutAfterAStop(t *testing.T) {
	t.Parallel()
	d := NewQueues(&engine.Config{Clock: engine.WallClock(), Own: time.Now}).of(engine.Access{Fingerprint: "key"}, ratelimit.Caps{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	lane, m := d.laneOf("red", ratelimit.Caps{}), &ratelimit.Limiter{Most: 1}
	if _, err := d.enter(ctx, lane, 1, m, ratelimit.Load{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := d.enter(t.Context(), lane, 1, m, ratelimit.Load{}); err != nil || d.whole.inFlight != 1 {
		t.Errorf("%d in flight, %v: the place was not given back", d.whole.inFlight, err)
	}
}
