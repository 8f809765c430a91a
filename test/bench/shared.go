package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"

	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/store/storetest/pgtest"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/test/bench/child"
)

// shared holds what worker processes have in common: a PostgreSQL that is as careful as a real one, and a bucket in this process.
type shared struct {
	b    *bench
	db   *pgtest.Server
	made int
}

func (b *bench) startShared(context.Context) (*shared, error) {
	db, err := pgtest.Start("fsync=on", "full_page_writes=on", "autovacuum=on", "shared_buffers=256MB", "max_wal_size=4GB")
	if err != nil {
		return nil, err
	}
	return &shared{b: b, db: db}, nil
}

func (s *shared) stop() { s.db.Stop() }

// dbCPU returns what all processes of the database have used, also those that have ended.
func (s *shared) dbCPU() (sum time.Duration) {
	for i, pid := range s.db.Processes() {
		var children time.Duration
		if i == 0 {
			children = endedCPU(pid)
		}
		if used, err := cpuOf(pid); err == nil { // it may have ended since
			sum += used
		}
		sum += children
	}
	return sum
}

// team is some workers with a database, a bucket and providers of their own.
type team struct {
	*shared
	dir     string
	url     string // of the database
	ledger  *sql.DB
	bucket  *artifactstest.Server
	sim     *exec.Cmd
	env     []string
	workers []*exec.Cmd
}

func (s *shared) newTeam(ctx context.Context, dir string, sim ...string) (_ *team, err error) {
	t := &team{shared: s, dir: dir}
	defer func() {
		if err != nil {
			t.stop()
		}
	}()
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return nil, err
	}
	t.bucket = artifactstest.StartLarge(objects)
	if t.url, err = s.db.Create(ctx); err != nil {
		return nil, err
	}
	if t.ledger, err = sql.Open("pgx", t.url); err != nil {
		return nil, err
	}
	if t.sim, t.env, err = child.Simulator(ctx, s.b.assay, filepath.Join(dir, "sim"), sim...); err != nil {
		return nil, err
	}
	t.env = append(t.env, "ASSAY_DB="+t.url, "ASSAY_ARTIFACTS="+t.bucket.S3("runs"))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.env = append(t.env, name+"="+artifactstest.Env(name))
	}
	return t, nil
}

func (t *team) stop() {
	for _, w := range t.workers {
		_ = w.Process.Signal(os.Interrupt) // it may have ended
	}
	for _, w := range t.workers {
		_ = w.Wait()
	}
	if t.sim != nil {
		_ = t.sim.Process.Kill()
		_ = t.sim.Wait()
	}
	if t.ledger != nil {
		_ = t.ledger.Close()
	}
	t.bucket.Close()
	_ = os.RemoveAll(t.dir) // the folder of all benchmarks is removed at the end
}

// work starts a worker and waits until it takes work.
func (t *team) work(ctx context.Context, name string, args ...string) error {
	w := exec.CommandContext(ctx, name, args...)
	w.Dir, w.Env = t.dir, append(os.Environ(), t.env...)
	out, err := w.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	t.workers = append(t.workers, w)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("a worker ended: %s", line)
		}
		if strings.HasPrefix(line, "taking work") {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // until it ends
			return nil
		}
	}
}

// team is the work of a number of workers for a while.
func (s *shared) team(ctx context.Context, workers int, do func(*team) error) error {
	s.made++
	t, err := s.newTeam(ctx, filepath.Join(s.b.dir, fmt.Sprintf("team-%d", s.made)), "--latency", liveLatency.String())
	if err != nil {
		return err
	}
	defer t.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for i := range workers {
		if err := t.work(ctx, self, "work-of-workers", filepath.Join(t.dir, fmt.Sprintf("worker-%d", i))); err != nil {
			return err
		}
	}
	return do(t)
}

// workOfWorkers is the program as a worker, which looks at jobs more often: those of the simulator are done at once.
func workOfWorkers(home string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code := cli.Main(ctx, shell.World{
		Args: []string{"worker", "--home", home}, Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
		Disk: shell.Disk{Dir: "."}, HTTP: provider.NewTransport(), Seams: workspace.Seams{Timing: often},
	})
	if code != 0 && ctx.Err() == nil {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
}

// often has jobs looked at every second or so.
func often(t engine.Timing) engine.Timing {
	t.PollMin, t.PollEach = time.Second, 10*time.Millisecond
	return t
}

// runOfWorkers is the program that drives a run alone, in the folder of its study, and looks at jobs as often.
func runOfWorkers(dir string) error {
	code := cli.Main(context.Background(), shell.World{
		Args: []string{"run", "study.yaml", "--yes", "--no-canary"}, Env: os.LookupEnv, Stdin: os.Stdin, Stdout: io.Discard,
		Stderr: os.Stderr, Now: time.Now, Disk: shell.Disk{Dir: dir}, HTTP: provider.NewTransport(), Seams: workspace.Seams{Timing: often},
	})
	if code != 0 && code != exitIncomplete {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
}

// alone measures one process with a ledger and a folder of its own.
func (s *shared) alone(ctx context.Context, k load) (child.Cost, error) {
	dir := filepath.Join(s.b.dir, "alone-"+k.name)
	defer os.RemoveAll(dir)
	if err := k.write(dir, k.n); err != nil {
		return child.Cost{}, err
	}
	sim, env, err := child.Simulator(ctx, s.b.assay, filepath.Join(dir, "sim"), "--latency", liveLatency.String())
	if err != nil {
		return child.Cost{}, err
	}
	defer func() { _ = sim.Process.Kill(); _ = sim.Wait() }()
	self, err := os.Executable()
	if err != nil {
		return child.Cost{}, err
	}
	run := exec.CommandContext(ctx, self, "run-of-workers", dir)
	run.Env = append(os.Environ(), env...)
	return child.Timed(run)
}

// figures are those of a team.
type figures struct {
	wall   time.Duration
	cpu    spent
	size   int64         // of the database, in bytes
	insert time.Duration // what it needs to insert the same rows
}

// shift has a number of workers do one run.
func (s *shared) shift(ctx context.Context, k load, workers int) (f figures, err error) {
	err = s.team(ctx, workers, func(t *team) error {
		before, began := t.cpu(), time.Now()
		run, err := t.begin(ctx, k, "run")
		if err != nil {
			return err
		}
		if err := t.closed(ctx, run); err != nil {
			return err
		}
		f.wall, f.cpu = time.Since(began), t.cpu().less(before)
		if answered, err := t.number(ctx, `SELECT COUNT(*) FROM outcomes`); err != nil || answered < int64(k.n)*9/10 {
			return errors.Join(err, fmt.Errorf("%d of %d requests have an outcome", answered, k.n))
		}
		if f.size, err = t.number(ctx, `SELECT pg_database_size(current_database())`); err != nil {
			return err
		}
		f.insert, err = t.insert(ctx)
		return err
	})
	return f, err
}

// insert has the database insert the rows of a run into tables with the same indexes, and returns the CPU that took.
func (t *team) insert(ctx context.Context) (time.Duration, error) {
	before := t.dbCPU()
	for _, table := range []string{"attempts", "outcomes"} {
		if _, err := t.ledger.ExecContext(ctx, fmt.Sprintf(`CREATE TABLE floor_of_%[1]s (LIKE %[1]s INCLUDING ALL)`, table)); err != nil {
			return 0, err
		}
		if _, err := t.ledger.ExecContext(ctx, fmt.Sprintf(`INSERT INTO floor_of_%[1]s SELECT * FROM %[1]s`, table)); err != nil {
			return 0, err
		}
	}
	return t.dbCPU() - before, nil
}

// cpu returns what all parts have used so far.
func (t *team) cpu() spent {
	s := spent{database: t.dbCPU(), bucket: usedCPU()}
	for _, w := range t.workers {
		used, _ := cpuOf(w.Process.Pid) // it is alive, or the run does not close
		s.workers += used
	}
	s.simulator, _ = cpuOf(t.sim.Process.Pid)
	return s
}

// begin begins a run that is left to the workers, and returns its number.
func (t *team) begin(ctx context.Context, k load, name string) (int64, error) {
	dir := filepath.Join(t.dir, name)
	if err := k.write(dir, k.n); err != nil {
		return 0, err
	}
	run := exec.CommandContext(ctx, t.b.assay, "run", "study.yaml", "--yes", "--no-canary", "--detach")
	run.Dir, run.Env = dir, append(os.Environ(), t.env...)
	if out, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("begin a run: %w\n%s", err, out)
	}
	return t.number(ctx, `SELECT MAX(no) FROM runs`)
}

// number returns the answer to a query that has one.
func (t *team) number(ctx context.Context, query string) (n int64, err error) {
	return n, t.ledger.QueryRowContext(ctx, query).Scan(&n)
}

// until waits until a query has an answer.
func (t *team) until(ctx context.Context, query string) error {
	for {
		if _, err := t.number(ctx, query); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if slices.ContainsFunc(t.workers, func(w *exec.Cmd) bool { return w.Process.Signal(syscall.Signal(0)) != nil }) {
			return errors.New("a worker has ended")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (t *team) closed(ctx context.Context, run int64) error {
	return t.until(ctx, fmt.Sprintf(`SELECT 1 FROM runs WHERE no = %d AND state = 'closed'`, run))
}

// endedCPU returns what the children of a process had used that have ended.
func endedCPU(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var user, system int64
	if len(fields) < 15 {
		return 0
	}
	if _, err := fmt.Sscan(strings.Join(fields[13:15], " "), &user, &system); err != nil {
		return 0
	}
	return time.Duration(user+system) * time.Second / ticks
}

// counter passes calls on to the simulator and counts the looks at jobs.
type counter struct {
	looks  atomic.Int64
	server *httptest.Server
}

// count puts a counter between the workers that start from now on and OpenAI.
func (t *team) count() (*counter, error) {
	for i, v := range t.env {
		at, found := strings.CutPrefix(v, "OPENAI_BASE_URL=")
		if !found {
			continue
		}
		to, err := url.Parse(at)
		if err != nil {
			return nil, err
		}
		c := &counter{}
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
		c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/batches/") {
				c.looks.Add(1)
			}
			proxy.ServeHTTP(w, r)
		}))
		t.env[i] = "OPENAI_BASE_URL=" + c.server.URL + to.Path
		return c, nil
	}
	return nil, errors.New("the simulator has no OpenAI")
}

func (c *counter) close() { c.server.CloseClientConnections(); c.server.Close() }
