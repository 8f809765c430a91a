package storetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// readOnly tries to write through a person's query in every way that is known.
func readOnly(t *testing.T, fresh Fresh) {
	where := fresh(t)
	b := &bench{t: t, clock: newClock(), ctx: t.Context()}
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	_, err := b.s.Runs.SetMeta(b.ctx, "mark", "made")
	b.ok(err)
	out := filepath.Join(t.TempDir(), "out")
	for _, text := range []string{
		"DELETE FROM meta", "UPDATE runs SET note = 'x' RETURNING no", "WITH x AS (SELECT 1) DELETE FROM meta",
		"WITH d AS (DELETE FROM meta RETURNING 1) SELECT * FROM d", "INSERT INTO meta VALUES ('a', 'b')", "DROP TABLE meta",
		"SELECT 1; DELETE FROM meta", "COMMIT; DELETE FROM meta", "SELECT 1; COMMIT; DELETE FROM meta", "/* SELECT */ DELETE FROM meta",
		"-- SELECT\nDELETE FROM meta", "EXPLAIN ANALYZE DELETE FROM meta", "SELECT * INTO other FROM meta",
		// SQLite
		"PRAGMA query_only = 0", "PRAGMA query_only = 0; DELETE FROM meta", "PRAGMA user_version = 7", "PRAGMA journal_mode = DELETE",
		"ATTACH '" + out + "' AS e", "SELECT 1; ATTACH 'file:" + where + "?mode=rw' AS e; DELETE FROM e.meta",
		"SELECT 1; COMMIT; ATTACH '" + out + "' AS e; CREATE TABLE e.t (x)", "SELECT 1; COMMIT; VACUUM INTO '" + out + "'",
		"PRAGMA writable_schema = 1; SELECT 1; DELETE FROM sqlite_master",
		// PostgreSQL
		"SELECT set_config('transaction_read_only', 'off', false)",
		"SELECT set_config('transaction_read_only', 'off', true), query_to_xml('DELETE FROM meta RETURNING 1', true, true, '')",
		"SET TRANSACTION READ WRITE", "SELECT nextval('runs_no_seq')", "SELECT setval('runs_no_seq', 99)", "SELECT lo_create(4711)",
		"SELECT lo_from_bytea(4711, 'x')", "COPY (SELECT 1) TO PROGRAM 'touch " + out + "'", "COPY (SELECT 1) TO '" + out + "'",
		"COPY meta FROM PROGRAM 'echo a,b' WITH (FORMAT csv)", "DO $$ BEGIN DELETE FROM meta; END $$", "CALL x()", "NOTIFY x",
		"LOCK TABLE meta",
	} {
		// whether it is refused or does nothing is its own affair
		_ = b.s.Reader.Query(b.ctx, text, func([]string, []any) error { return nil })
	}
	mark, err := b.s.Reader.Meta(b.ctx, "mark")
	b.ok(err)
	r, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if d := cmp.Diff([]any{"made", "", b.run}, []any{mark, r.Note, r}, cmp.AllowUnexported(store.Lease{})); d != "" {
		t.Errorf("something was written (-want +got):\n%s", d)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
	var objects int
	if b.s.Postgres() {
		b.ok(b.s.Reader.Query(b.ctx, "SELECT 1 FROM pg_largeobject_metadata WHERE oid = 4711", func([]string, []any) error {
			objects++
			return nil
		}))
	}
	next, err := b.s.Runs.CreateRun(b.ctx, store.NewRun{ID: "r2", Study: "demo", Settings: "{}"})
	b.ok(err)
	if objects != 0 || next.No > b.run.No+2 {
		t.Errorf("%d large objects, and the next run is number %d after %d", objects, next.No, b.run.No)
	}
	for _, text := range []string{" SELECT 1", "WITH x AS (SELECT 1) SELECT * FROM x", "VALUES (1)", "(SELECT 1)",
		"-- a word\n/* and more */ select 1", "EXPLAIN SELECT 1"} {
		rows := 0
		if err := b.s.Reader.Query(b.ctx, text, func([]string, []any) error { rows++; return nil }); (err != nil || rows == 0) &&
			(text != "(SELECT 1)" || b.s.Postgres()) {
			t.Errorf("%q: %d rows, %v", text, rows, err)
		}
	}
}
