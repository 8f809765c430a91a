package crash

import (
	"database/sql"
	"net/url"
	"syscall"
	"testing"
)

// TestADatabaseThatRefusesForAWhileCostsNothing has PostgreSQL take no writes in the middle of a run, as a standby does while another
// takes its place, or end statements after 15 ms. Whether the run goes on or ends, everything is answered and billed once.
func TestADatabaseThatRefusesForAWhileCostsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		study   string
		at      Point
		setting string
	}{
		{"turns", Point{"ledger intend", 1, After}, "default_transaction_read_only = on"},
		{"turns", Point{"POST /openai/v1/batches", 1, Accepted}, "default_transaction_read_only = on"},
		{"flood", Point{"POST /openai/v1/responses", 30, Accepted}, "default_transaction_read_only = on"},
		{"flood", Point{"ledger settle", 1, Before}, "default_transaction_read_only = on"},
		{"turns", Point{"ledger intend", 1, After}, "statement_timeout = 15"},
		{"flood", Point{"POST /openai/v1/responses", 30, Accepted}, "statement_timeout = 15"},
	} {
		t.Run(c.study+" "+c.at.String()+" "+c.setting, func(t *testing.T) {
			t.Parallel()
			db := server.Database(t)
			s := newScene(t, c.study)
			s.db = db
			s.env["ASSAY_DB"] = db
			p, err := s.stopAt(t.Context(), c.at, "run", "study.yaml", "--yes", "--no-canary")
			s.ok(err)
			s.altered(db, "SET "+c.setting)
			s.ok(p.Process.Signal(syscall.SIGCONT))
			e, err := p.wait()
			s.ok(err)
			s.altered(db, "RESET ALL")
			if e.code != 0 {
				s.exits(0, []string{"resume"})
			}
			s.whole()
			if n, err := s.doubts(t.Context()); n != 0 || err != nil {
				t.Errorf("%d live calls are in doubt: %v", n, err)
			}
		})
	}
}

// altered changes a setting of a database, and ends all connections to it: new ones have it.
func (s scene) altered(where, how string) {
	s.Helper()
	at, err := url.Parse(where)
	s.ok(err)
	name := at.Path[1:]
	at.Path = "/postgres"
	db, err := sql.Open("pgx", at.String())
	s.ok(err)
	defer db.Close()
	_, err = db.ExecContext(s.Context(), `ALTER DATABASE "`+name+`" `+how)
	s.ok(err)
	_, err = db.ExecContext(s.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
	s.ok(err)
}
