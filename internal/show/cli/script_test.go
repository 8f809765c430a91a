package cli_test

import (
	"context"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"assay/internal/keep/hub/hubtest"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/minds"
)

var (
	update    = flag.Bool("update", false, "rewrite golden files and generated documents")
	processes = flag.Bool("processes", false, "run every command of the scripts in a process of its own")
)

// noon is when every session in testdata/script begins; from there its clock runs as usual.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// A script types assay, which runs in this process: starting one costs more than most commands do. What has to be a
// process, since it reads its standard input or runs beside others, is exec assay-process; where PROCESSES is set,
// every command is one, and it is gone when it ends.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assay-process": func() { os.Exit(process()) }})
}

// process returns the program as a process of its own.
func process() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		return 1
	}
	w := session(dir, os.Args[1:])
	w.Env, w.Stdin, w.Stdout, w.Stderr = os.LookupEnv, os.Stdin, os.Stdout, os.Stderr
	return cli.Main(ctx, w)
}

// session returns the world as the scripts see it: the real one but for the clock.
func session(dir string, args []string) shell.World {
	start := time.Now()
	return shell.World{
		Args: args, Now: func() time.Time { return noon.Add(time.Since(start)) }, Disk: shell.Disk{Dir: dir}, HTTP: http.DefaultTransport,
		Seams: workspace.Seams{Timing: hurry},
	}
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
	babbling, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Judges: &minds.Judges{Malformed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	babbler := httptest.NewServer(babbling)
	t.Cleanup(func() { babbler.Close(); babbling.Close() })
	leaning, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Judges: &minds.Judges{Noise: 8, Lean: 15}})
	if err != nil {
		t.Fatal(err)
	}
	lenient := httptest.NewServer(leaning)
	t.Cleanup(func() { lenient.Close(); leaning.Close() })
	var waits []fault.Rule
	for _, text := range []string{"openai create 429=10h once", "anthropic ask 429=10h nth=3"} {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, rule)
	}
	busy, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir(), Faults: waits})
	if err != nil {
		t.Fatal(err)
	}
	busybody := httptest.NewServer(busy)
	t.Cleanup(func() { busybody.Close(); busy.Close() })
	datasets, moved := newDatasets(t)
	packaging, err := filepath.Abs("../../../packaging")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SIM", server.URL)
			e.Setenv("PACKAGING", packaging)
			e.Setenv("DATASETS", datasets.URL)    // a server of datasets
			e.Setenv("DATASETS_LATER", moved.URL) // one whose main has moved on
			e.Setenv("MUMBLE", mumbler.URL)       // a simulator whose judges often say nothing that can be read
			e.Setenv("DECLINE", decliner.URL)     // one whose judges also decline
			e.Setenv("BABBLE", babbler.URL)       // one whose judges never say anything that can be read
			e.Setenv("LENIENT", lenient.URL)      // one whose judges find every answer better
			e.Setenv("BUSY", busybody.URL)        // one that asks to wait
			e.Values[slowKey{}] = &slowWorld{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"assay": types, "exits": exits, "digits": digits,
			"texts": texts, "slow": slow, "later": later, "found": found, "interrupts": interrupts},
	})
}

// newDatasets starts two servers of the dataset ann/birds.
func newDatasets(t *testing.T) (now, later *hubtest.Server) {
	files := map[string]string{
		"README.md": "# Birds", "prompt.md": "{{ question }} Think of {{ more.hint | default('birds') }}.",
		"data/birds.csv": "id,question,answer\n1,Which bird is red?,robin\n2,Which bird is small?,wren\n3,Which bird is black?,crow\n",
		"data/more.csv":  "id,hint\n1,gardens\n2,hedges\n3,fields\n",
		"data/gold.csv":  "item,lane,label\n1,one,correct\n2,one,incorrect\n3,one,correct\n",
		"data/votes.csv": "a,b,winner\nrobin,wren,a\nwren,crow,a\nrobin,crow,a\ncrow,robin,a\n",
	}
	more := maps.Clone(files)
	more["data/birds.csv"] += "4,Which bird is white?,swan\n"
	now, later = hubtest.New(files), hubtest.New(files)
	later.Commits["ann/birds"][hubtest.Next], later.Refs["ann/birds@main"] = more, hubtest.Next
	t.Cleanup(func() { now.Close(); later.Close() })
	return now, later
}

// types runs assay, and wants that it does what it should, or that it does not: assay check study.yaml.
func types(ts *testscript.TestScript, neg bool, args []string) {
	if code := command(ts, args); (code != "0") != neg {
		ts.Fatalf("exit code %s", code)
	}
}

// exits runs assay and wants an exit code: exits 2 check study.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	if code := command(ts, args[1:]); code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// command runs assay where the script is, and returns its exit code.
func command(ts *testscript.TestScript, args []string) string {
	if *processes || ts.Getenv("PROCESSES") != "" {
		err := ts.Exec("assay-process", args...)
		if e, ok := err.(interface{ ExitCode() int }); ok {
			return strconv.Itoa(e.ExitCode())
		}
		ts.Check(err)
		return "0"
	}
	return strconv.Itoa(cli.Main(context.Background(), worldOf(ts, args)))
}

// worldOf returns what a command of a script has: its folder, its variables and its output.
func worldOf(ts *testscript.TestScript, args []string) shell.World {
	w := session(ts.MkAbs("."), args)
	w.Env = func(name string) (string, bool) { v := ts.Getenv(name); return v, v != "" }
	w.Stdin, w.Stdout, w.Stderr = strings.NewReader(""), ts.Stdout(), ts.Stderr()
	return w
}

// interrupts runs assay until its progress has a pattern, and interrupts it then: interrupts 'asks to wait' run study.yaml.
func interrupts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupts PATTERN ARGS...")
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w := worldOf(ts, args[1:])
	w.Stderr = &awaiting{Writer: w.Stderr, pattern: regexp.MustCompile(args[0]), then: stop}
	if code := cli.Main(ctx, w); code != shell.ExitInterrupted {
		ts.Fatalf("exit code %d, and nothing like %s was printed", code, args[0])
	}
}

// awaiting is an output that is watched for a pattern.
type awaiting struct {
	io.Writer
	pattern *regexp.Regexp
	then    func()
}

func (a *awaiting) Write(p []byte) (int, error) {
	if a.pattern.Match(p) {
		a.then()
	}
	return a.Writer.Write(p)
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
