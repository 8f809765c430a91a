package cli_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"assay/cli"
	"assay/engine"
	"assay/simulator"
	"assay/simulator/minds"
)

var update = flag.Bool("update", false, "rewrite golden files and generated documents")

// noon is when every session in testdata/script begins; from there its clock runs as usual.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assay": func() { os.Exit(session()) }})
}

// session is the program as the scripts see it: the real world but for the clock.
func session() int {
	start := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		return 1
	}
	return cli.Main(ctx, cli.World{
		Args: os.Args[1:], Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: func() time.Time { return noon.Add(time.Since(start)) }, Disk: cli.Disk{Dir: dir}, HTTP: http.DefaultTransport,
		Timing: hurry,
	})
}

// hurry waits milliseconds where the product waits minutes; a rehearsal does so by itself.
func hurry(t engine.Timing) engine.Timing {
	if t.PollMin < time.Second {
		return t
	}
	return t.Scaled(1000)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	mumbling, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Judges: &minds.Judges{Malformed: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	mumbler := httptest.NewServer(mumbling)
	t.Cleanup(func() { mumbler.Close(); mumbling.Close() })
	declining, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Judges: &minds.Judges{Malformed: 0.25, Refusals: 0.25}})
	if err != nil {
		t.Fatal(err)
	}
	decliner := httptest.NewServer(declining)
	t.Cleanup(func() { decliner.Close(); declining.Close() })
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SIM", server.URL)
			e.Setenv("MUMBLE", mumbler.URL)   // a simulator whose judges often say nothing that can be read
			e.Setenv("DECLINE", decliner.URL) // one whose judges also decline
			e.Values[slowKey{}] = &slowWorld{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "digits": digits, "texts": texts, "slow": slow, "later": later, "found": found},
	})
}

// exits runs assay and wants an exit code: exits 2 check study.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("assay", args[1:]...)
	code := "0"
	if err != nil {
		code = "none"
		if e, ok := err.(interface{ ExitCode() int }); ok {
			code = strconv.Itoa(e.ExitCode())
		}
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// found keeps what the last output has of a pattern in a variable: found KEY '[a-z2-7]{26}'.
func found(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: found NAME PATTERN")
	}
	text := regexp.MustCompile("(?m)" + args[1]).FindString(ts.ReadFile("stdout"))
	if text == "" {
		ts.Fatalf("the output has nothing like %s", args[1])
	}
	ts.Setenv(args[0], text)
}
