package rivertest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/storetest/pgtest"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
)

var server *pgtest.Server // set once by TestMain

// asChild makes a process of this binary be the program itself.
const asChild = "ASSAY_RIVER_CHILD"

// TestMain is the program itself where a test has asked for a child.
func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		os.Exit(child())
	}
	os.Exit(pgtest.Main(m, &server))
}

func child() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		return 99
	}
	return cli.Main(ctx, shell.World{Args: os.Args[1:], Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Disk: shell.Disk{Dir: dir}, HTTP: http.DefaultTransport,
		Seams: workspace.Seams{Timing: timings[os.Getenv(asChild)]}})
}

// timings are those of a child, by the value of its variable.
var timings = map[string]func(engine.Timing) engine.Timing{"1": hasty, "rare": rare}

// rare makes polls so rare that no test sees one.
func rare(t engine.Timing) engine.Timing {
	t = hasty(t)
	t.PollFirst, t.PollMin, t.PollMax = time.Hour, time.Hour, time.Hour
	return t
}

// lease is how long a dead worker still seems to be at work. It has to be longer than a busy machine lets a live one wait.
const lease = 2 * time.Second

// hasty makes waits of milliseconds, and leases that end soon after the process that held them.
func hasty(t engine.Timing) engine.Timing {
	t = t.Scaled(2000)
	t.Lease, t.Create = lease, lease/2
	return t
}

// patience is how long anything in a test may take.
const patience = 3 * time.Minute

// shop is a study, a database and providers that workers share.
type shop struct {
	t    *testing.T
	ctx  context.Context
	dir  string
	db   string
	sim  *simulator.Server
	look *ledger.Ledger // for looking
}

func newShop(t *testing.T, study string) *shop {
	t.Helper()
	return newShopAt(t, study, server.Database(t))
}

func newShopAt(t *testing.T, study, db string) *shop {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	s := &shop{t: t, ctx: ctx, dir: t.TempDir(), db: db}
	s.ok(os.WriteFile(filepath.Join(s.dir, "study.yaml"), []byte(study), 0o600))
	var err error
	s.sim, err = simulator.New(simulator.Options{Seed: 1, Queue: 20 * time.Millisecond, Dir: s.dir})
	s.ok(err)
	t.Cleanup(func() { s.sim.Close() })
	s.look, err = ledger.Open(ctx, s.db, ledger.Options{})
	s.ok(err)
	t.Cleanup(func() { s.look.Close() })
	return s
}

func (s *shop) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// environment returns what a process that knows a database and some keys finds; its providers are at a root.
func (s *shop) environment(root string, providers ...string) map[string]string {
	env := map[string]string{"ASSAY_DB": s.db, "ASSAY_HOME": filepath.Join(s.dir, "home")}
	urls := s.sim.BaseURLs(root)
	for _, name := range providers {
		v, _ := catalog.Default().Vendor(name)
		env[v.BaseURLEnv], env[v.KeyEnv[0]] = urls[name], "key"
	}
	return env
}

// world returns the surroundings of a process in this process.
func (s *shop) world(env map[string]string, args ...string) shell.World {
	return shell.World{Args: args, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Now: time.Now, Disk: shell.Disk{Dir: s.dir},
		HTTP: s.sim.Transport(), Seams: workspace.Seams{Timing: hasty}}
}

const root = "http://simulator.invalid"

// begin begins the run and leaves it to the workers.
func (s *shop) begin(providers ...string) store.Run {
	s.t.Helper()
	w := s.world(s.environment(root, providers...), "run", "study.yaml", "--yes", "--detach")
	if code := cli.Main(s.ctx, w); code != 0 {
		s.t.Fatalf("run: exit code %d\n%s", code, w.Stderr)
	}
	if said := fmt.Sprint(w.Stderr); !strings.Contains(said, "is left to the workers") {
		s.t.Fatalf("run drives itself although a worker is alive:\n%s", said)
	}
	run, err := s.look.Reader.FindRun(s.ctx, "latest", "")
	s.ok(err)
	return run
}

// hand is a worker in this process.
type hand struct {
	*shop
	said *lines
	quit context.CancelFunc
	code chan int
}

func (s *shop) worker(env map[string]string, set func(w *shell.World), args ...string) *hand {
	s.t.Helper()
	ctx, quit := context.WithCancel(s.ctx)
	h := &hand{shop: s, said: newLines(), quit: quit, code: make(chan int, 1)}
	w := s.world(env, append([]string{"worker"}, args...)...)
	w.Stderr = h.said
	if set != nil {
		set(&w)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.code <- cli.Main(ctx, w)
	}()
	s.t.Cleanup(func() { quit(); <-done })
	h.said.await(s, "taking work")
	return h
}

// stop stops a worker as Ctrl-C does, and wants the exit code of that.
func (h *hand) stop() {
	h.t.Helper()
	h.quit()
	if code := <-h.code; code != 130 {
		h.t.Errorf("exit code %d\n%s", code, h.said)
	}
}

// lines is the output of a process.
type lines struct {
	mu   sync.Mutex
	all  bytes.Buffer
	more chan struct{}
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

// Write keeps the output.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.all.Write(p)
}

// String returns all output.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func (l *lines) await(s *shop, text string) {
	s.t.Helper()
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.more:
		case <-s.ctx.Done():
			s.t.Fatalf("no worker said %q:\n%s\n%s", text, l, s.history())
		}
	}
}

// until waits for something that the ledger will show.
func (s *shop) until(what string, there func() bool) {
	s.t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); !there(); {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			s.t.Fatalf("%s: it never comes\n%s", what, s.history())
		}
	}
}

// closed waits until the run is closed, and reads it.
func (s *shop) closed(no int64) store.Run {
	s.t.Helper()
	var run store.Run
	s.until("the end of the run", func() bool {
		var err error
		run, err = s.look.Reader.Run(s.ctx, no)
		s.ok(err)
		return run.State == store.RunClosed
	})
	return run
}

func (s *shop) history() string {
	var b strings.Builder
	ctx := context.Background()
	runs, _ := s.look.Reader.Runs(ctx, "")
	for _, r := range runs {
		fmt.Fprintf(&b, "run %d %s %s due %s holder %q\n", r.No, r.State, r.Result, r.Due.Format("05.000"), r.Lease.Holder)
		events, _ := s.look.Reader.Events(ctx, r.No, 0, 1000)
		for _, e := range events {
			fmt.Fprintf(&b, "%s s%d %s %s\n", e.At.Format("05.000"), e.Segment, e.Kind, e.Text)
		}
		segments, _ := s.look.Reader.Segments(ctx, r.No)
		for _, g := range segments {
			fmt.Fprintf(&b, "s%d %s %s %s due %s holder %q until %s %v %s\n", g.No, g.Lane, g.Mode, g.State, g.Due.Format("05.000"),
				g.Lease.Holder, g.Lease.Until.Format("05.000"), g.Endings, g.Reason)
		}
	}
	fmt.Fprintf(&b, "now %s\n", time.Now().UTC().Format("05.000"))
	return b.String()
}

// answeredOnce wants every request of a run answered, and billed once by the providers.
func (s *shop) answeredOnce(run store.Run, want int) {
	s.t.Helper()
	answers := 0
	for a, err := range s.look.Reader.Answers(s.ctx, run.No, "", "") {
		s.ok(err)
		if answers++; !a.Ended || !a.Outcome.Ending.Stands() {
			s.t.Errorf("%s of %s in %s has no answer", a.At.Item, a.Lane, a.At.Stage)
		}
	}
	billed := map[string]int{}
	l := s.sim.Ledger()
	for _, j := range l.Jobs {
		for _, id := range j.Billed {
			_, key, err := assay.ParseCustomID(id)
			s.ok(err)
			billed[key.String()]++
		}
	}
	for _, q := range l.Live {
		billed[q.Provider+q.Digest] += q.Count
	}
	for key, n := range billed {
		if n != 1 {
			s.t.Errorf("request %s was billed %d times", key, n)
		}
	}
	if answers != want || len(billed) != want {
		s.t.Errorf("%d answers, %d requests billed, want %d\n%s", answers, len(billed), want, s.history())
	}
}

// free wants nothing to be held by any process.
func (s *shop) free(run store.Run) {
	s.t.Helper()
	r, err := s.look.Reader.Run(s.ctx, run.No)
	s.ok(err)
	segments, err := s.look.Reader.Segments(s.ctx, run.No)
	s.ok(err)
	held := r.Lease.Holder
	for _, g := range segments {
		held += g.Lease.Holder
	}
	if held != "" {
		s.t.Errorf("leases were not given back: %s\n%s", held, s.history())
	}
}

// front is the providers as one worker sees them.
type front struct {
	to    http.RoundTripper
	calls atomic.Int64
	hold  func(r *http.Request) // called when the provider has answered, before the worker knows
}

// RoundTrip carries one call.
func (f *front) RoundTrip(r *http.Request) (*http.Response, error) {
	f.calls.Add(1)
	resp, err := f.to.RoundTrip(r)
	if f.hold != nil {
		f.hold(r)
	}
	return resp, err
}

// process is a worker in a process of its own.
type process struct {
	*exec.Cmd
	said  *lines
	calls chan time.Time // of its first calls to a provider
}

// process starts the program with providers of its own address. Hold is called when one has answered, before the process
// knows.
func (s *shop) process(hold func(r *http.Request), providers ...string) *process {
	s.t.Helper()
	p := &process{said: newLines(), calls: make(chan time.Time, 1)}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.calls <- time.Now():
		default:
		}
		if hold == nil {
			s.sim.ServeHTTP(w, r)
			return
		}
		reply := httptest.NewRecorder()
		s.sim.ServeHTTP(reply, r)
		hold(r)
		for k, v := range reply.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(reply.Code)
		w.Write(reply.Body.Bytes())
	}))
	s.t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	p.Cmd = s.child(p.said, "1", s.environment(h.URL, providers...), "worker")
	p.said.await(s, "taking work")
	return p
}

// child starts the program in a process of its own, under a timing.
func (s *shop) child(said *lines, timing string, env map[string]string, args ...string) *exec.Cmd {
	s.t.Helper()
	exe, err := os.Executable()
	s.ok(err)
	c := exec.CommandContext(s.ctx, exe, args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, said, said
	c.Env = append(os.Environ(), asChild+"="+timing)
	for k, v := range env {
		c.Env = append(c.Env, k+"="+v)
	}
	s.ok(c.Start())
	s.t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c
}
