package crash

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator"
)

// TestALockThatAnotherProgramHoldsOnTheLedgerCostsNothing has another program hold the write lock of a ledger in the middle of a run, for
// longer than SQLite waits and for longer than a lease. Whether the run goes on or ends, all that it paid for is kept, and paid for once.
func TestALockThatAnotherProgramHoldsOnTheLedgerCostsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, from string }{{"batch", "upload"}, {"batch", "intend"}, {"batch", "launched"}, {"batch", "settle"},
		{"live", "settle"}, {"live", "finish"}} {
		for _, held := range []time.Duration{45 * time.Second, 170 * time.Second} {
			t.Run(c.mode+" "+c.from+" "+held.String(), func(t *testing.T) {
				busy := busyError(t)
				bubble(t, func(t *testing.T) { lockLedger(t, c.mode, c.from, held, busy) })
			})
		}
	}
}

// busyError returns what SQLite says where it has waited for another program in vain.
func busyError(t *testing.T) error {
	t.Helper()
	var err error
	for range 2 {
		db, e := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "..", "locked.db"))+"?_txlock=immediate")
		if e != nil {
			t.Fatal(e)
		}
		defer db.Close()
		tx, e := db.Begin()
		if err = e; e == nil {
			defer tx.Rollback()
		}
	}
	if err == nil || !strings.Contains(err.Error(), "database is locked") {
		t.Fatalf("a second writer: %v", err)
	}
	return err
}

func lockLedger(t *testing.T, mode, from string, held time.Duration, busy error) {
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	s := newStation(t, lockedStudy, 60, sim.Transport(), keys(sim))
	const patience = 30 * time.Second // for as long SQLite waits
	turn := make(chan struct{}, 1)    // one writes at a time
	var until time.Time
	refused := 0
	s.world.Seams.Around = func(op string, call func() error) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		if op == from && until.IsZero() {
			until = time.Now().Add(held)
		}
		left := time.Until(until)
		if left > patience {
			time.Sleep(patience)
			refused++
			return busy
		}
		time.Sleep(max(left, 0))
		return call()
	}
	code := s.run(t.Context(), "run", "study.yaml", "--yes", "--mode", mode, "--no-canary")
	if until.IsZero() || refused == 0 {
		t.Fatalf("no lock was met (%d refused): %s", refused, s.out.String())
	}
	if code != 0 {
		if code = s.run(t.Context(), "resume"); code != 0 {
			t.Fatalf("exit %d\n%s", code, s.out.String())
		}
	}
	billed := map[string]int{}
	for _, j := range sim.Ledger().Jobs {
		for _, id := range j.Billed {
			billed[id]++
		}
	}
	for _, a := range sim.Ledger().Live {
		billed[a.Digest] += a.Count
	}
	for id, n := range billed {
		if n != 1 {
			t.Errorf("%s is billed %d times", id, n)
		}
	}
	s.out.Reset()
	s.run(t.Context(), "sql", "--csv", `SELECT COUNT(DISTINCT key) AS n FROM outcomes WHERE ending = 'answered'`)
	if len(billed) != 60 || s.out.String() != "n\n60\n" {
		t.Errorf("%d are billed, kept are %q", len(billed), s.out.String())
	}
}

const lockedStudy = `study: locked
inputs: {items: {file: items.txt}}
lanes: {gpt: {model: openai/gpt-4.1-mini, max_tokens: 500}}
stages: [{name: answers, ask: items, prompt: "What is {{ text }}?"}]
`
