package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"assay/internal/keep/artifacts/artifactstest"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store/storetest"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
	"assay/internal/study/catalog"
)

// session is one study in a folder of its own, with a ledger and providers that no other test uses.
type session struct {
	dir     string
	sim     *simulator.Server
	http    *httptest.Server
	db      string // a PostgreSQL URL; empty: SQLite in the folder
	env     map[string]string
	journal int
	bucket  *artifactstest.Server                     // of the artifacts; nil: a folder
	around  func(op string, call func() error) error  // of commands in this process
	timing  func(engine.Timing) engine.Timing         // of commands in this process
	ahead   time.Duration                             // of the true time is the clock of commands in this process
	via     func(http.RoundTripper) http.RoundTripper // what the calls of commands in this process go through; nil: nothing

	looks sync.Mutex
	seen  *ledger.Ledger // open for looking; nil: not now
}

// queue is how long jobs wait at the providers, so that some are seen that are not done.
const queue = 20 * time.Millisecond

// open copies a study and starts its providers. They are in this process; who uses them is in another.
func open(dir, study, db string, faults ...string) (*session, error) {
	s := &session{dir: dir, db: db, env: map[string]string{}, timing: Hasty}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", study))); err != nil {
		return nil, err
	}
	o := simulator.Options{Seed: 1, Queue: queue, Dir: dir, Responder: steadfast{}}
	for _, text := range faults {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			return nil, err
		}
		o.Faults = append(o.Faults, rule)
	}
	var err error
	if s.sim, err = simulator.New(o); err != nil {
		return nil, err
	}
	s.http = httptest.NewServer(s.sim)
	for name, url := range s.sim.BaseURLs(s.http.URL) {
		v, ok := catalog.Default().Vendor(name)
		if !ok || v.BaseURLEnv == "" {
			continue
		}
		s.env[v.BaseURLEnv] = url
		if len(v.KeyEnv) > 0 {
			s.env[v.KeyEnv[0]] = "proof-key"
		}
	}
	s.env["STORAGE_EMULATOR_HOST"], s.env["VERTEX_TOKEN"] = s.http.URL+"/gcs", "proof-key"
	if db != "" {
		s.env["ASSAY_DB"] = db
		return s, nil
	}
	return s, storetest.CopyNew(filepath.Join(dir, "assay-data", "ledger.db"))
}

// steadfast gives the same answer to the same question, also when it is asked live for a second time.
type steadfast struct{ minds.Writer }

// Respond answers by what is asked alone, and at length where that is asked for.
func (w steadfast) Respond(q *minds.Question) minds.Answer {
	asked := *q
	h := fnv.New64a()
	all := fmt.Sprintln(q.Model, q.System, q.Messages)
	fmt.Fprint(h, all)
	asked.Draw = h.Sum64()
	a := w.Writer.Respond(&asked)
	if strings.Contains(all, "at length") {
		a.Text = strings.Repeat(a.Text+" ", 80<<10/(len(a.Text)+1)+1)
	}
	return a
}

func (s *session) close() {
	_ = s.lookAway() // it was read, and is thrown away
	if s.bucket != nil {
		s.bucket.Close()
	}
	s.http.CloseClientConnections()
	s.http.Close()
	s.sim.Close()
}

// ended is how a process came to its end.
type ended struct {
	code    int // -1: by a signal
	out     string
	err     string
	passed  []Point // moments that it passed
	reached bool    // it came to its point
	owed    bool    // it was done, and ended with code 3 because a job is to be looked for once more at its provider
}

// settled returns an end with the code 0 where all that the run lacks is that look: a create call was taken for lost.
func (e ended) settled() ended {
	if e.owed = e.code == 3 && strings.Contains(e.err, "to be looked for once more"); e.owed {
		e.code = 0
	}
	return e
}

func (e ended) String() string { return fmt.Sprintf("exit %d\n%s%s", e.code, e.out, e.err) }

// patience is how long any process of a proof may take.
const patience = 3 * time.Minute

// child is a process of the program that has not ended yet.
type child struct {
	*exec.Cmd
	out     transcript
	err     bytes.Buffer
	journal string
}

// transcript holds the output of a process so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func (s *session) start(ctx context.Context, at *Point, signal syscall.Signal, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := s.lookAway(); err != nil {
		return nil, err
	}
	s.journal++
	c := &child{journal: filepath.Join(s.dir, fmt.Sprintf("journal-%d", s.journal))}
	c.Cmd = exec.CommandContext(ctx, exe, args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, &c.out, &c.err
	c.Env = append(os.Environ(), envChild+"=1", envJournal+"="+c.journal)
	for k, v := range s.env {
		c.Env = append(c.Env, k+"="+v)
	}
	if at != nil {
		c.Env = append(c.Env, envPoint+"="+at.String(), fmt.Sprintf("%s=%d", envSignal, signal))
	}
	return c, c.Start()
}

func (c *child) wait() (ended, error) {
	err := c.Cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ended{}, err
	}
	e := ended{code: c.ProcessState.ExitCode(), out: c.out.String(), err: c.err.String()}.settled()
	text, err := os.ReadFile(c.journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return e, err
	}
	return e, e.note(string(text))
}

// note reads a journal.
func (e *ended) note(journal string) error {
	for line := range strings.Lines(journal) {
		line = strings.TrimSuffix(line, "\n")
		if line == burnt {
			e.reached = true
			continue
		}
		p, err := ParsePoint(line)
		if err != nil {
			return err
		}
		e.passed = append(e.passed, p)
	}
	return nil
}

// assay runs one command, in a process of its own to the point where it is killed, or in this one to its end.
func (s *session) assay(ctx context.Context, at *Point, args ...string) (ended, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if at == nil {
		e := s.here(ctx, args...)
		if ctx.Err() != nil {
			return e, fmt.Errorf("assay %s does not end: %s", strings.Join(args, " "), e)
		}
		return e, nil
	}
	c, err := s.start(ctx, at, syscall.SIGKILL, args...)
	if err != nil {
		return ended{}, err
	}
	e, err := c.wait()
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("assay %s does not end: %s", strings.Join(args, " "), e)
	}
	return e, err
}

// here runs one command in this process, with the same providers.
func (s *session) here(ctx context.Context, args ...string) ended {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, err bytes.Buffer
	if err := s.lookAway(); err != nil {
		return ended{code: 99, err: err.Error()}
	}
	var journal transcript
	f := &fuse{journal: func(line string) { _, _ = journal.Write([]byte(line + "\n")) }} // it cannot fail
	code := cli.Main(ctx, shell.World{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Disk: shell.Disk{Dir: s.dir},
		Now:  func() time.Time { return time.Now().Add(s.ahead) },
		Env:  func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		HTTP: &wire{fuse: f, inner: s.network()},
		Seams: workspace.Seams{Timing: s.timing, Around: func(op string, call func() error) error {
			if s.around == nil {
				return f.around(op, call)
			}
			return f.around(op, func() error { return s.around(op, call) })
		}},
	})
	e := ended{code: code, out: out.String(), err: err.String()}.settled()
	if err := e.note(journal.String()); err != nil {
		e.err += err.Error()
	}
	return e
}

// network returns the way to the providers, with what a test puts into it.
func (s *session) network() http.RoundTripper {
	if s.via == nil {
		return s.sim.Transport()
	}
	return s.via(s.sim.Transport())
}

// ledger opens the ledger.
func (s *session) ledger(ctx context.Context) (*ledger.Ledger, error) {
	where := s.db
	if where == "" {
		where = filepath.Join(s.dir, "assay-data", "ledger.db")
	}
	return ledger.Open(ctx, where, ledger.Options{})
}

// look reads the ledger, which stays open for the next look: to open it takes longer than most looks.
func (s *session) look(ctx context.Context, read func(l *ledger.Ledger) error) (err error) {
	s.looks.Lock()
	defer s.looks.Unlock()
	if s.seen == nil {
		if s.seen, err = s.ledger(ctx); err != nil {
			return err
		}
	}
	return read(s.seen)
}

// lookAway closes the ledger: a command finds it as the one before has left it.
func (s *session) lookAway() error {
	s.looks.Lock()
	defer s.looks.Unlock()
	l := s.seen
	if s.seen = nil; l == nil {
		return nil
	}
	return l.Close()
}

// rows returns the answers to a query on the ledger, one text a row.
func (s *session) rows(ctx context.Context, query string) (all []string, err error) {
	err = s.look(ctx, func(l *ledger.Ledger) error {
		all, err = rowsOf(ctx, l, query)
		return err
	})
	return all, err
}

func rowsOf(ctx context.Context, l *ledger.Ledger, query string) ([]string, error) {
	all := []string{}
	err := l.Reader.Query(ctx, query, func(_ []string, values []any) error {
		all = append(all, strings.TrimSpace(fmt.Sprintln(values...)))
		return nil
	})
	slices.Sort(all)
	return all, err
}

// billed returns the simulator's own account of what it did, as GET /sim/ledger returns it.
func (s *session) billed() (simulator.Ledger, error) {
	var l simulator.Ledger
	resp, err := http.Get(s.http.URL + "/sim/ledger")
	if err != nil {
		return l, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(text, &l)
}
