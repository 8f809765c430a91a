package rivertest

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/store"
)

// TestAWorkerShowsHowItIs asks a worker for its health and its numbers, before and after a run.
func TestAWorkerShowsHowItIs(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root, "openai"), nil, "--listen", "127.0.0.1:0", "--log", "json")
	at := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(h.said.String())
	get := func(path string) (int, string) {
		t.Helper()
		r, err := http.Get(at + path)
		s.ok(err)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		s.ok(err)
		return r.StatusCode, string(text)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		s.until(path, func() bool { status, text := get(path); return status == http.StatusOK && text == "ok\n" })
	}
	if run := s.closed(s.begin("openai").No); run.Result != store.ResultDone {
		t.Errorf("the run is %s", run.Result)
	}
	_, text := get("/metrics")
	for _, want := range []string{"assay_runs_open 0\n", "assay_segments_due 0\n", "assay_uncertain_calls 0\n",
		"# TYPE assay_takeovers_total counter\nassay_takeovers_total 0\n",
		"assay_reserved_dollars 0\n", "# TYPE assay_spent_dollars gauge\nassay_spent_dollars "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "assay_spent_dollars 0\n") {
		t.Error("nothing was spent")
	}
	h.stop()
}

// TestAnOldWorkerStopsWhenTheLedgerIsMigrated lets a newer program change the ledger under a worker.
func TestAnOldWorkerStopsWhenTheLedgerIsMigrated(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root, "openai"), nil)
	db, err := sql.Open("pgx", s.db)
	s.ok(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	s.ok(err)
	select {
	case code := <-h.code:
		if said := h.said.String(); code != 1 || !strings.Contains(said, "the ledger was written by a newer assay (version 9999") {
			t.Errorf("exit code %d\n%s", code, said)
		}
	case <-time.After(patience):
		t.Errorf("it goes on\n%s", h.said)
	}
}

// TestAWorkerPrintsMovesAgainAfterTheLedgerWasAway takes a table away for a moment.
func TestAWorkerPrintsMovesAgainAfterTheLedgerWasAway(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root, "openai"), nil, "-v")
	db, err := sql.Open("pgx", s.db)
	s.ok(err)
	defer db.Close()
	_, err = db.ExecContext(s.ctx, `ALTER TABLE runs RENAME TO away`)
	s.ok(err)
	h.said.await(s, "the moves cannot be printed, and are later: ")
	_, err = db.ExecContext(s.ctx, `ALTER TABLE away RENAME TO runs`)
	s.ok(err)
	// Moves are read once a second, of runs that are open: one that is over sooner would not be seen.
	s.sim.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/sim/faults", strings.NewReader("openai create stuck=3s")))
	run := s.begin("openai")
	h.said.await(s, " run "+run.ID+", segment 1 (answers g, ")
	if n := strings.Count(h.said.String(), "the moves cannot be printed"); n != 1 {
		t.Errorf("told %d times", n)
	}
	h.stop()
}

// TestAWorkersLogNamesRuns reads the log as JSON: it has a run by the id that commands take.
func TestAWorkersLogNamesRuns(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root), nil, "--log", "json")
	run := s.begin("openai")
	h.said.await(s, `"run":"`+run.ID+`","providers":"openai"`)
	h.stop()
}

// TestAQueueThatCouldNotBeReadOnceIsReadLater has the queue's table away when a run comes, as a full PostgreSQL has it.
func TestAQueueThatCouldNotBeReadOnceIsReadLater(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	h := s.worker(s.environment(root, "openai"), nil)
	db, err := sql.Open("pgx", s.db)
	s.ok(err)
	defer db.Close()
	_, err = db.ExecContext(s.ctx, `ALTER TABLE assay_river.river_queue RENAME TO away`)
	s.ok(err)
	run := s.begin("openai")
	h.said.await(s, "a run cannot be served from here")
	_, err = db.ExecContext(s.ctx, `ALTER TABLE assay_river.away RENAME TO river_queue`)
	s.ok(err)
	s.closed(run.No)
	h.stop()
}
