package interop

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator"
	"assay/internal/simulator/clocktest"
)

// rig is a simulator behind a real socket, and the clock that moves its jobs.
type rig struct {
	root string
	urls map[string]string // base URLs by vendor
}

// A job of a rig is validated for half of this, then waits for the other half, then runs and takes a tenth of it to hand
// out its results.
const queue = 10 * time.Minute

const (
	untilRunning = queue/2 + time.Minute
	untilOver    = 2 * queue
)

func simulate(t *testing.T, rules ...string) rig {
	t.Helper()
	o := simulator.Options{
		Seed: 1, Queue: queue, Dir: t.TempDir(), Clock: clocktest.New(time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)),
	}
	for _, text := range rules {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, rule)
	}
	sim, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() {
		server.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return rig{root: server.URL, urls: sim.BaseURLs(server.URL)}
}

// pass moves the simulator's clock, as any client can from outside.
func (r rig) pass(t *testing.T, d time.Duration) {
	t.Helper()
	resp, err := http.Post(r.root+"/sim/clock", "application/json", strings.NewReader(fmt.Sprintf(`{"advance":%q}`, d)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("move the clock: %s, %v: %s", resp.Status, err, text)
	}
}

// must is for what follows a call that is to succeed.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
