package ledger_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
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

func TestManyRowsAreInsertedAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "a.db"), "postgresql": server.Database(t)} {
		s, err := ledger.Open(t.Context(), where, ledger.Options{})
		must(t, err)
		defer s.Close()
		columns := []string{"run_no", "input", "ord", "id", "cluster", "expect", "fields", "files"}
		for n := range 83 { // of every number of rows, as statements take some at a time
			var rows [][]any
			for i := range n {
				rows = append(rows, []any{n, "in", i, fmt.Sprint("item ", i), fmt.Sprint("about ", i*n/1500), store.Live, "{}", ""})
			}
			must(t, s.Insert(t.Context(), "items", columns, rows))
			i := 0
			for item, err := range s.Reader.Items(t.Context(), int64(n), "in") {
				must(t, err)
				want := assay.Item{ID: fmt.Sprint("item ", i), Cluster: fmt.Sprint("about ", i*n/1500), Expect: string(store.Live)}
				if item.ID != want.ID || item.Cluster != want.Cluster || item.Expect != want.Expect {
					t.Fatalf("%s: row %d of %d is %+v", name, i, n, item)
				}
				i++
			}
			if i != n {
				t.Errorf("%s: %d rows of %d", name, i, n)
			}
		}
		twice := []any{1000, "in", 1, "one", "", "", "{}", ""}
		if err := s.Insert(t.Context(), "items", columns, [][]any{twice, twice}); err == nil {
			t.Errorf("%s took a row twice", name)
		}
		must(t, s.Insert(t.Context(), "items", columns, [][]any{twice})) // the first of the two is not there
	}
}
