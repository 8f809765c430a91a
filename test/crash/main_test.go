package crash

import (
	"flag"
	"os"
	"testing"

	"assay/internal/keep/store/storetest/pgtest"
)

var (
	points   = flag.Int("points", 16, "points at which processes are killed on SQLite; 0: all, there and wherever else some are chosen")
	random   = flag.Int("random", 0, "further runs that are killed several times at random points")
	seed     = flag.Uint64("seed", 1, "seed of the random points")
	pairs    = flag.Int("pairs", 1, "faults strike two at a time; 0: each in a run of its own")
	abreast  = flag.Int("abreast", 6, "proofs at a time: most of their time they wait")
	postgres = flag.Int("postgres", 2, "runs on PostgreSQL whose workers are killed, all but one; 0: one for every point")
	workers  = flag.Int("workers", 2, "workers that share such a run")
	naps     = flag.Int("naps", 3,
		"moments at which a worker with a bucket is stopped until another has its work; 0: all, also of other processes")
	commits = flag.Int("commits", 4, "commits whose replies are lost, one a run; 0: all")
)

var server *pgtest.Server // set once by TestMain

// TestMain is the program itself where a test has asked for a child.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		os.Exit(Child())
	}
	os.Exit(pgtest.Main(m, &server))
}
