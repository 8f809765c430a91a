package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/internal/simulator"
)

// TestMain makes the test binary the program itself, in processes that tests start.
func TestMain(m *testing.M) {
	if os.Getenv("ASSAY_BE_THE_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// doorway is a provider that lets so many live requests wait at its door.
type doorway struct {
	sim    *simulator.Server
	server *httptest.Server
	shut   atomic.Bool
	opened chan struct{}
	came   chan struct{} // one for each request at the shut door
}

func newDoorway(t *testing.T) *doorway {
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d := &doorway{sim: sim, opened: make(chan struct{}), came: make(chan struct{}, 100)}
	d.shut.Store(true)
	d.server = httptest.NewServer(d)
	t.Cleanup(func() { d.open(); d.server.Close(); sim.Close() })
	return d
}

func (d *doorway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && d.shut.Load() {
		d.came <- struct{}{}
		<-d.opened
	}
	d.sim.ServeHTTP(w, r)
}

func (d *doorway) open() {
	if d.shut.CompareAndSwap(true, false) {
		close(d.opened)
	}
}

// program is the command line in a folder with a study of its own.
type program struct {
	*testing.T
	dir  string
	door *doorway
}

const atTheDoor = 4

func newProgram(t *testing.T) *program {
	p := &program{T: t, dir: t.TempDir(), door: newDoorway(t)}
	for name, text := range map[string]string{
		"items.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
		"study.yaml": `study: door
mode: live
inputs: {items: {file: items.txt}}
lanes: {a: {model: openai/gpt-4.1-mini, max_tokens: 50, concurrency: 4}}
stages: [{name: answers, ask: items, prompt: "What is {{ text }}?"}]
`} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// process is a run of the program.
type process struct {
	*exec.Cmd
	out   *output
	ended chan error
}

// output is the output of a process, and a signal for every write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	bell chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.text.Write(b)
	o.mu.Unlock()
	select {
	case o.bell <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (p *program) start(args ...string) *process {
	p.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "ASSAY_BE_THE_PROGRAM=1", "ASSAY_HOME="+filepath.Join(p.dir, "home"),
		"OPENAI_API_KEY=sim", "OPENAI_BASE_URL="+p.door.sim.BaseURLs(p.door.server.URL)["openai"])
	v := &process{c, &output{bell: make(chan struct{}, 1)}, make(chan error, 1)}
	c.Stdout, c.Stderr = v.out, v.out
	if err := c.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = c.Process.Kill() }) // it may have ended long ago
	go func() { v.ended <- c.Wait() }()
	return v
}

// running returns a run with as many requests at the provider as may be in flight.
func running(t *testing.T) (*program, *process) {
	t.Helper()
	p := newProgram(t)
	v := p.start("run", "study.yaml", "--yes")
	for range atTheDoor {
		select {
		case <-p.door.came:
		case <-time.After(5 * time.Minute):
			t.Fatalf("too few requests at the door after a minute:\n%s", v.out)
		}
	}
	return p, v
}

// waitFor waits until a process has printed something.
func (p *program) waitFor(v *process, text string) {
	p.Helper()
	for !strings.Contains(v.out.String(), text) {
		select {
		case <-v.out.bell:
		case err := <-v.ended:
			p.Fatalf("ended (%v) and did not say %q:\n%s", err, text, v.out)
		case <-time.After(5 * time.Minute):
			p.Fatalf("%q is not said:\n%s", text, v.out)
		}
	}
}

// exit waits for the end of a process and returns its exit code; -1: a signal ended it.
func (p *program) exit(v *process) int {
	p.Helper()
	select {
	case err := <-v.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.Fatal(err)
		}
		return v.ProcessState.ExitCode()
	case <-time.After(5 * time.Minute):
		p.Fatalf("it does not end:\n%s", v.out)
	}
	return 0
}

func (p *program) exits(v *process, want int) {
	p.Helper()
	if code := p.exit(v); code != want {
		p.Errorf("exit %d, want %d:\n%s", code, want, v.out)
	}
}

// goesOn resumes the run, and wants every request answered and so many named as perhaps billed twice.
func (p *program) goesOn(doubts int, also string) {
	p.Helper()
	p.door.open()
	v := p.start("resume")
	if code := p.exit(v); code != 0 || !strings.Contains(v.out.String(), "10 of 10 requests have an answer") ||
		!strings.Contains(v.out.String(), also) {
		p.Errorf("exit %d, and not %q:\n%s", code, also, v.out)
	}
	s := p.start("status", "--doubts")
	if code := p.exit(s); code != 0 {
		p.Errorf("status exits %d", code)
	}
	if got := strings.Count(s.out.String(), "  lane a, item"); got != doubts {
		p.Errorf("status names %d requests, want %d:\n%s", got, doubts, s.out)
	}
	for _, l := range p.door.sim.Ledger().Live {
		if l.Count != 1 && doubts == 0 {
			p.Errorf("a request was billed %d times", l.Count)
		}
	}
}

func TestTheFirstCtrlCWaitsForWhatIsPaidFor(t *testing.T) {
	t.Parallel()
	for _, how := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} { // the last is a terminal that is closed
		if signal.Ignored(how) {
			continue // processes of this one ignore it, too
		}
		p, v := running(t)
		p.signal(v, how)
		p.waitFor(v, "4 live requests in flight, paid for, and waited for")
		p.door.open()
		p.exits(v, 130)
		if n := len(p.door.sim.Ledger().Live); n != atTheDoor {
			t.Errorf("%d requests were asked, %d of them after the stop", n, n-atTheDoor)
		}
		p.goesOn(0, "")
	}
}

func TestTheSecondCtrlCEndsAtOnce(t *testing.T) {
	t.Parallel()
	p, v := running(t)
	p.signal(v, syscall.SIGINT)
	p.waitFor(v, "Ctrl-C again stops at once")
	p.signal(v, syscall.SIGINT)
	p.exits(v, -1)
	p.goesOn(atTheDoor, "is gone: going on from where it was")
}

func TestAKilledProcessIsSucceededAtOnce(t *testing.T) {
	t.Parallel()
	p, v := running(t)
	p.signal(v, syscall.SIGKILL)
	p.exits(v, -1)
	s := p.start("status")
	if code := p.exit(s); code != 0 || !strings.Contains(s.out.String(), "No process drives it. Next: `assay resume ") {
		t.Errorf("status exits %d:\n%s", code, s.out)
	}
	p.goesOn(atTheDoor, "is gone: going on from where it was")
}

func (p *program) signal(v *process, s syscall.Signal) {
	p.Helper()
	if err := v.Process.Signal(s); err != nil {
		p.Fatal(err)
	}
}

func TestAUserHasANameWhereTheEnvironmentHasNone(t *testing.T) {
	t.Setenv("USER", "")
	want := "" // where the system has no name either
	if u, err := user.Current(); err == nil {
		want = u.Username
	}
	if got, ok := lookup("USER"); !ok || got != want {
		t.Errorf("the name is %q (%v), want %q", got, ok, want)
	}
	t.Setenv("USER", "ada")
	if got, _ := lookup("USER"); got != "ada" {
		t.Errorf("the name is %q, want ada", got)
	}
	if got, ok := lookup("ASSAY_IS_NOT_SET"); ok || got != "" {
		t.Errorf("a variable that is not set is %q", got)
	}
}
