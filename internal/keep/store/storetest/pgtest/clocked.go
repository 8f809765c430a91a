package pgtest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"
)

// Clocked returns a database like that of Database whose clock a test can set: by so much ahead of the machine's.
func (s *Server) Clocked(t testing.TB) (where string, set func(ahead time.Duration)) {
	t.Helper()
	where = s.Database(t) + "&search_path=public%2Cpg_catalog"
	db, err := sql.Open("pgx", where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	set = func(ahead time.Duration) {
		t.Helper()
		for _, name := range []string{"clock_timestamp", "now"} {
			_, err := db.Exec(fmt.Sprintf(`CREATE OR REPLACE FUNCTION public.%s() RETURNS timestamptz LANGUAGE sql VOLATILE AS
				'SELECT pg_catalog.%[1]s() + make_interval(secs => %f)'`, name, ahead.Seconds()))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	set(0)
	return where, set
}
