// Package crash proves that a run keeps what it paid for: it stops real processes everywhere and looks at what is left.
package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// The variables that tell a child process what to do. Everything else of it is the program itself.
const (
	envChild   = "ASSAY_PROOF_CHILD"   // set: be the program
	envPoint   = "ASSAY_PROOF_POINT"   // where to stop; empty: nowhere
	envSignal  = "ASSAY_PROOF_SIGNAL"  // how: a signal's number; empty: SIGKILL
	envJournal = "ASSAY_PROOF_JOURNAL" // file for every moment that was passed
)

// Child returns the program with a fuse in it: the real commands, against providers that the environment names.
func Child() int {
	f, err := fuseFromEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		return 99
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		return 99
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	transport := &http.Transport{MaxIdleConnsPerHost: 16, WriteBufferSize: 256, DisableCompression: true}
	return cli.Main(ctx, shell.World{
		Args: os.Args[1:], Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
		Disk: shell.Disk{Dir: dir}, HTTP: &wire{fuse: f, inner: transport},
		Seams: workspace.Seams{Around: f.around, Timing: Hasty},
	})
}

// Hasty makes waits of milliseconds, and leases that end soon after the process that held them.
func Hasty(t engine.Timing) engine.Timing {
	t = t.Scaled(2000)
	t.Lease, t.Create = lease, lease/2
	t.Call, t.Stall, t.Unfenced = 5*lease, 5*lease, 2*lease
	return t
}

// lease is how long a process that gives no sign still seems to be at work: far longer than a busy machine lets a live one wait.
// One that was killed is recognised at once by others on its machine.
const lease = 5 * time.Second

func fuseFromEnvironment() (*fuse, error) {
	f := &fuse{signal: syscall.SIGKILL, journal: func(string) {}}
	if text := os.Getenv(envPoint); text != "" {
		at, err := ParsePoint(text)
		if err != nil {
			return nil, err
		}
		f.at = at
	}
	if text := os.Getenv(envSignal); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("the signal is no number")
		}
		f.signal = syscall.Signal(n)
	}
	if name := os.Getenv(envJournal); name != "" {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		f.journal = func(line string) { _, _ = file.WriteString(line + "\n") } // without it the test sees a point that was not reached
	}
	return f, nil
}
