package rivertest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/show/cli"
)

// TestAWorkerHasNoMoreConnectionsThanItMayHave counts them while a worker brings a run to its end with the fewest that it may have.
func TestAWorkerHasNoMoreConnectionsThanItMayHave(t *testing.T) {
	t.Parallel()
	s := newShop(t, judged)
	env := s.environment(root, "openai", "anthropic")
	env["ASSAY_DB"] += "&application_name=counted"
	h := s.worker(env, nil, "--connections", fmt.Sprint(ledger.LeastConnections))
	db, err := sql.Open("pgx", s.db)
	s.ok(err)
	defer db.Close()
	run, most := s.begin("openai", "anthropic"), 0
	s.until("the end of the run", func() bool {
		var n int
		s.ok(db.QueryRowContext(s.ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name = 'counted'`).Scan(&n))
		most = max(most, n)
		run, err = s.look.Reader.Run(s.ctx, run.No)
		s.ok(err)
		return run.State == store.RunClosed
	})
	if run.Result != store.ResultDone {
		t.Errorf("the run is %s\n%s", run.Result, s.history())
	}
	if most > ledger.LeastConnections || most < 4 {
		t.Errorf("%d connections, want at most %d", most, ledger.LeastConnections)
	}
	h.stop()
}

// TestAServerThatIsNotThereYetIsWaitedFor starts a worker and a run before PostgreSQL can be reached.
func TestAServerThatIsNotThereYetIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newShop(t, single)
	env := s.environment(root, "openai")
	u, err := url.Parse(s.db)
	s.ok(err)
	const socket = ".s.PGSQL.5432"
	folder, q := t.TempDir(), u.Query()
	there := filepath.Join(q.Get("host"), socket)
	q.Set("host", folder)
	u.RawQuery = q.Encode()
	env["ASSAY_DB"] = u.String()

	begin := func(ctx context.Context, args ...string) (said *lines, code chan int) {
		said, code = newLines(), make(chan int, 1)
		w := s.world(env, args...)
		w.Stderr = said
		go func() { code <- cli.Main(ctx, w) }()
		said.await(s, "the ledger cannot be reached, and is waited for (Ctrl-C ends that): open ledger postgres:///")
		return said, code
	}
	ctx, interrupt := context.WithCancel(s.ctx)
	_, code := begin(ctx, "run", "study.yaml", "--yes")
	interrupt()
	if got := <-code; got != 130 {
		t.Errorf("an interrupted wait has exit code %d", got)
	}
	if got := cli.Main(s.ctx, s.world(env, "status")); got != 1 {
		t.Errorf("status does not wait, and has exit code %d", got)
	}

	_, code = begin(s.ctx, "run", "study.yaml", "--yes")
	ctx, interrupt = context.WithCancel(s.ctx)
	worker, stopped := begin(ctx, "worker")
	s.ok(os.Symlink(there, filepath.Join(folder, socket)))
	worker.await(s, "taking work")
	if got := <-code; got != 0 {
		t.Errorf("the run has exit code %d", got)
	}
	interrupt()
	<-stopped
}
