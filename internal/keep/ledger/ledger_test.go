package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest"
	"assay/internal/keep/store/storetest/pgtest"
)

var server *pgtest.Server // set once by TestMain

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m, &server)) }

func TestSQLiteKeepsTheContract(t *testing.T) {
	t.Parallel()
	empty := func(t testing.TB) string { return filepath.Join(t.TempDir(), "home", "assay.db") }
	storetest.Suite(t, empty, func(t testing.TB) string { return storetest.NewFile(t, empty(t)) })
}

func TestPostgreSQLKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Suite(t, func(t testing.TB) string {
		where, err := server.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return where
	}, func(t testing.TB) string { return server.Cleared(t) })
}

func TestALedgerFromBeforeTheFirstReleaseIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	where := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", where)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(
		`PRAGMA journal_mode = WAL; CREATE TABLE goose_db_version (version_id BIGINT); INSERT INTO goose_db_version VALUES (0), (1), (1025);
		CREATE TABLE runs (no INTEGER PRIMARY KEY, id TEXT); INSERT INTO runs VALUES (1, 'paid for')`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(t.Context(), where, ledger.Options{}); err == nil ||
		!strings.Contains(err.Error(), "before the first release") {
		t.Fatalf("opening it: %v", err)
	}
	after, err := os.ReadFile(where)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed (%v)", err)
	}
}

// TestAWrongClockDoesNotCountOnASharedLedger opens a ledger in a process whose clock is ten minutes ahead, and then is set right.
func TestAWrongClockDoesNotCountOnASharedLedger(t *testing.T) {
	t.Parallel()
	ahead := 10 * time.Minute
	s, err := ledger.Open(t.Context(), server.Database(t),
		ledger.Options{Now: func() time.Time { return time.Now().Add(ahead) }, SharedTime: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	right := func(what string) {
		t.Helper()
		if off := time.Until(s.Now()).Abs(); off > time.Minute {
			t.Errorf("%s, its time is %s off", what, off)
		}
	}
	right("at the start")
	r, err := s.Runs.CreateRun(t.Context(), store.NewRun{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	ahead = 0
	if _, err := s.Leases.HoldRun(t.Context(), r.No, "me", time.Minute); err != nil {
		t.Fatal(err)
	}
	right("after a lease was taken")
}
