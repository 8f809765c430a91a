package rivertest

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// TestADatabaseIsSavedAndPutBackAsThePageSays saves a database by pg_dump while its run is open, lets the run come to its end, and puts
// the database back beside the younger bucket: a worker takes over what the providers answered, live answers from the logs in the bucket,
// and pays nothing twice.
func TestADatabaseIsSavedAndPutBackAsThePageSays(t *testing.T) {
	t.Parallel()
	for name, study := range map[string]string{"batch": "canary: false\n" + conversation, "canary": conversation,
		"live": strings.Replace(conversation, "live_below: 0", "live_below: 1000", 1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			savedAndPutBack(t, study)
		})
	}
}

func savedAndPutBack(t *testing.T, study string) {
	s := newShop(t, study)
	bucket := artifactstest.NewServer(t)
	begin := func() *hand {
		env, dir := s.machine(bucket, "openai", "anthropic")
		return s.worker(env, func(w *shell.World) { w.Disk.Dir = dir })
	}
	h := begin()
	env, _ := s.machine(bucket, "openai", "anthropic")
	w := s.world(env, "run", "study.yaml", "--yes", "--detach")
	if code := cli.Main(s.ctx, w); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, w.Stderr)
	}
	saved := filepath.Join(t.TempDir(), "assay.dump")
	s.pgTool("pg_dump", "-Fc", "-f", saved, s.db)
	run, err := s.look.Reader.FindRun(s.ctx, "latest", "")
	s.ok(err)
	if run = s.closed(run.No); run.Result != store.ResultDone {
		t.Fatalf("the run is %s\n%s", run.Result, s.history())
	}
	h.stop()

	fresh, err := server.Create(s.ctx)
	s.ok(err)
	s.pgTool("pg_restore", "-d", fresh, saved)
	s.db = fresh
	s.look, err = ledger.Open(s.ctx, s.db, ledger.Options{})
	s.ok(err)
	t.Cleanup(func() { s.look.Close() })
	back, err := s.look.Reader.Run(s.ctx, run.No)
	s.ok(err)
	t.Logf("the run that was put back is %s", back.State)
	env, _ = s.machine(bucket, "openai", "anthropic")
	w = s.world(env, "adopt", "anthropic")
	if code := cli.Main(s.ctx, w); code != 0 {
		t.Fatalf("adopt: exit code %d\n%s", code, w.Stderr)
	}
	h = begin()
	if run = s.closed(run.No); run.Result != store.ResultDone {
		t.Errorf("the run is %s\n%s", run.Result, s.history())
	}
	h.stop()
	s.answeredOnce(run, 24)
}

// pgTool runs a tool of PostgreSQL.
func (s *shop) pgTool(name string, args ...string) {
	s.t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	s.ok(err)
	if len(found) == 0 {
		found = []string{name}
	}
	for i, a := range args {
		if u, err := url.Parse(a); err == nil && u.Scheme == "postgres" {
			q := u.Query()
			args[i] = "host=" + q.Get("host") + " user=" + q.Get("user") + " dbname=" + strings.TrimPrefix(u.Path, "/")
		}
	}
	out, err := exec.CommandContext(s.ctx, found[len(found)-1], args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
