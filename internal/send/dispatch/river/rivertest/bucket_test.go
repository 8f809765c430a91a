package rivertest

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/store"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// machine returns the environment of a machine of its own: two URLs, keys, and an empty disk.
func (s *shop) machine(bucket *artifactstest.Server, providers ...string) (env map[string]string, dir string) {
	env, dir = s.environment(root, providers...), s.t.TempDir()
	env["ASSAY_HOME"], env["ASSAY_ARTIFACTS"] = filepath.Join(dir, "home"), bucket.S3("runs")
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		env[name] = artifactstest.Env(name)
	}
	return env, dir
}

func TestWorkersOnMachinesOfTheirOwnShareABucket(t *testing.T) {
	t.Parallel()
	t.Run("in batches, and its server is away for a while", func(t *testing.T) {
		t.Parallel()
		shareABucket(t, conversation, 12)
	})
	t.Run("live", func(t *testing.T) {
		t.Parallel()
		shareABucket(t, strings.Replace(conversation, "live_below: 0", "live_below: 1000", 1), 0)
	})
}

func shareABucket(t *testing.T, study string, away int64) {
	s := newShop(t, study)
	bucket := artifactstest.NewServer(t)
	var hands []*hand
	var dirs []string
	for range 2 {
		env, dir := s.machine(bucket, "openai", "anthropic")
		dirs = append(dirs, dir)
		hands = append(hands, s.worker(env, func(w *shell.World) { w.Disk.Dir = dir }, "--concurrency", "2"))
	}
	env, dir := s.machine(bucket, "openai", "anthropic")
	dirs = append(dirs, dir)
	w := s.world(env, "run", "study.yaml", "--yes", "--detach")
	if code := cli.Main(s.ctx, w); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, w.Stderr)
	}
	s.ok(os.Remove(filepath.Join(s.dir, "study.yaml"))) // no worker needs it
	var calls atomic.Int64
	bucket.Fault(func(*http.Request) artifactstest.Answer {
		if calls.Add(1) <= away {
			return artifactstest.Refused
		}
		return artifactstest.Served
	})
	run, err := s.look.Reader.FindRun(s.ctx, "latest", "")
	s.ok(err)
	if run = s.closed(run.No); run.Result != store.ResultDone {
		t.Errorf("the run is %s\n%s", run.Result, s.history())
	}
	for _, h := range hands {
		h.stop()
	}
	s.answeredOnce(run, 24)
	s.free(run)
	s.read(bucket, run)
	for _, dir := range dirs {
		s.ok(filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.Contains(name, "/cache/") {
				t.Errorf("%s lies on a machine", name)
			}
			return err
		}))
	}
	s.compared(bucket, run)
	said := s.history() + hands[0].said.String() + hands[1].said.String() + strings.Join(bucket.Keys(), "\n")
	if strings.Contains(said, artifactstest.Secret) {
		t.Error("the secret of the bucket was said")
	}
}

// read reads the raw bytes of every answer on one more machine.
func (s *shop) read(bucket *artifactstest.Server, run store.Run) {
	s.t.Helper()
	env, dir := s.machine(bucket)
	out := filepath.Join(dir, "out")
	w := s.world(env, "clean", run.ID)
	if code := cli.Main(s.ctx, w); code != 0 {
		s.t.Fatalf("clean: exit code %d\n%s", code, w.Stderr)
	}
	w = s.world(env, "export", run.ID, "--format", "jsonl", "--out", out)
	if code := cli.Main(s.ctx, w); code != 0 {
		s.t.Fatalf("export: exit code %d\n%s", code, w.Stderr)
	}
}

// compared wants bucket and ledger to agree, changed bytes to be found where they are read, and lost objects without reading any.
func (s *shop) compared(bucket *artifactstest.Server, run store.Run) {
	s.t.Helper()
	check := func(code int, want string, args ...string) {
		s.t.Helper()
		env, _ := s.machine(bucket)
		w := s.world(env, append([]string{"clean", "--check"}, args...)...)
		if got := cli.Main(s.ctx, w); got != code || !strings.Contains(fmt.Sprint(w.Stdout), want) {
			s.t.Errorf("clean --check %v: exit code %d, no %q in\n%s%s", args, got, want, w.Stdout, w.Stderr)
		}
	}
	check(0, "0 missing, 0 damaged, 0 extra, 0 unfinished", "--hash")
	all, err := s.look.Pages.ArtifactsOf(s.ctx, run.No)
	s.ok(err)
	one := all[max(0, slices.IndexFunc(all, func(a store.Artifact) bool { return a.SHA256 == "" && a.Size > 0 }))] // a log, if there is one
	at := run.ID + "/" + one.Name + "/"
	manifest := func(key string) bool { return strings.Contains(key, "/whole.") || strings.Contains(key, "/packed.") }
	for _, key := range bucket.Keys() {
		if strings.Contains(key, at) && !manifest(key) {
			bucket.Spoil(key)
			check(0, "0 damaged")
			if one.SHA256 != "" {
				check(3, one.Name, run.ID, "--hash")
			}
			bucket.Lose(key)
			check(3, one.Name+" ("+assay.Size(one.Size)+"): 1 of its objects are gone", run.ID)
			break
		}
	}
	bucket.Lose(at)
	check(3, "1 missing, 0 damaged, 0 extra")
}
