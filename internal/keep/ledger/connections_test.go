package ledger_test

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// TestAPoolerThatKeepsNoSessionsIsRefused goes through a real PgBouncer: in transaction or statement mode it is refused
// before anything is done, in session mode it needs no settings and keeps the contract of a ledger.
func TestAPoolerThatKeepsNoSessionsIsRefused(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	for _, mode := range []string{"transaction", "statement"} {
		if _, err := ledger.Open(t.Context(), server.Pooler(t, where, mode), ledger.Options{}); err == nil ||
			!strings.Contains(err.Error(), "does not keep a session for its client (PgBouncer in transaction or statement mode?)") {
			t.Errorf("in %s mode: %v", mode, err)
		}
	}
	s, err := ledger.Open(t.Context(), server.Pooler(t, where, "session"), ledger.Options{Connections: db.LeastConnections})
	if err != nil {
		t.Fatalf("in session mode: %v", err)
	}
	defer s.Close()
	r, err := s.Runs.CreateRun(t.Context(), store.NewRun{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Leases.HoldRun(t.Context(), r.No, "me", time.Minute); err != nil {
		t.Fatal(err)
	}
}

// TestAProcessHasNoMoreConnectionsThanItMayHave writes, reads and walks in forty loops at a time, each with a walk inside another.
func TestAProcessHasNoMoreConnectionsThanItMayHave(t *testing.T) {
	t.Parallel()
	where := server.Database(t)
	s, err := ledger.Open(t.Context(), where, ledger.Options{Connections: db.LeastConnections})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Runs.CreateRun(t.Context(), store.NewRun{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	look, err := sql.Open("pgx", where)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lane := store.Lane{Run: r.No, Stage: "answers", Name: "gpt", Provider: "openai", Model: "gpt-5", Params: "{}", Planned: 1000}
	if err := s.Runs.PutLanes(ctx, []store.Lane{lane}); err != nil {
		t.Fatal(err)
	}
	var inside, done sync.WaitGroup
	const loops = 40
	inside.Add(loops)
	for range loops {
		done.Go(func() {
			for _, err := range s.Reader.Dump(ctx, r.No, "lanes") {
				if err != nil {
					t.Errorf("walk: %v", err)
				}
				inside.Done()
				inside.Wait()
				if _, err := s.Reader.EventsOf(ctx, r.No, "test"); err != nil {
					t.Errorf("walk within a walk: %v", err)
				}
				if err := s.Work.Note(ctx, r.No, 0, "test", "written in a walk"); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	inside.Wait()
	most := 0
	for range 20 {
		var n int
		if err := look.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name = 'assay'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		time.Sleep(10 * time.Millisecond)
	}
	done.Wait()
	if most > db.LeastConnections || most < 6 {
		t.Errorf("%d connections, want at most %d", most, db.LeastConnections)
	}
}
