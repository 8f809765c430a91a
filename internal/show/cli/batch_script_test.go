package cli_test

import (
	"net/http/httptest"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"assay/internal/simulator"
	"assay/internal/simulator/clocktest"
)

// slowWorld is a simulator of a script's own whose jobs take time, and whose time only the script moves.
type slowWorld struct{ clock *clocktest.Clock }

type slowKey struct{}

// slow starts such a simulator, one request a second and job, and names it in SLOW.
func slow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: slow")
	}
	world := ts.Value(slowKey{}).(*slowWorld)
	world.clock = clocktest.New(noon)
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), "slow")
	ts.Check(err)
	sim, err := simulator.New(simulator.Options{Seed: 1, Rate: 1, Clock: world.clock, Dir: dir})
	ts.Check(err)
	server := httptest.NewServer(sim)
	ts.Defer(func() { server.Close(); sim.Close() })
	ts.Setenv("SLOW", server.URL)
}

// later moves the time of the slow simulator: later 3s.
func later(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Value(slowKey{}).(*slowWorld).clock.Advance(d)
}
