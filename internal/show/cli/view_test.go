package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// dashboard is `assay view` of a home, with its address and token.
type dashboard struct {
	t           *testing.T
	base, token string
}

// rehearsed returns a folder with one rehearsal of the first example in it.
func rehearsed(t *testing.T) string {
	t.Helper()
	study, err := filepath.Abs("../../../examples/start/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if code := cli.Main(t.Context(), worldIn(dir, &out, &out, "run", study, "--rehearse")); code != 0 {
		t.Fatalf("the rehearsal: exit code %d\n%s", code, &out)
	}
	return dir
}

func worldIn(dir string, stdout, stderr io.Writer, args ...string) shell.World {
	return shell.World{Args: args, Env: keyed, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Now: time.Now,
		Disk: shell.Disk{Dir: dir}, HTTP: http.DefaultTransport}
}

// keyed returns an environment in which all keys are set.
func keyed(name string) (string, bool) {
	if strings.HasSuffix(name, "_API_KEY") {
		return secret, true
	}
	return "", false
}

// lines is an output that hands over its first line.
type lines struct {
	mu   sync.Mutex
	text string
	line chan string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(p)
	if first, _, ok := strings.Cut(l.text, "\n"); ok && l.line != nil {
		l.line <- first
		l.line = nil
	}
	return len(p), nil
}

func openDashboard(t *testing.T, dir string) *dashboard {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out := &lines{line: make(chan string, 1)}
	printed := out.line
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, worldIn(dir, out, io.Discard, "view", "--listen", "127.0.0.1:0", "--token-file", "token"))
	}()
	t.Cleanup(func() {
		stop()
		if got := <-code; got != 0 && got != 130 {
			t.Errorf("view ended with %d", got)
		}
	})
	select {
	case line := <-printed:
		base, token, ok := strings.Cut(line, "/?token=")
		if !ok {
			t.Fatalf("printed %q", line)
		}
		return &dashboard{t, base, token}
	case got := <-code:
		t.Fatalf("view ended with %d", got)
	case <-time.After(2 * time.Minute):
		t.Fatal("view prints no address")
	}
	return nil
}

func (d *dashboard) get(path string) (int, string) {
	d.t.Helper()
	q, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+d.token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

func (d *dashboard) json(path string, into any) {
	d.t.Helper()
	status, text := d.get("/api" + path)
	if status != http.StatusOK {
		d.t.Fatalf("%s: %d %s", path, status, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		d.t.Fatalf("%s: %v", path, err)
	}
}

func TestTheDashboardShowsARehearsal(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, rehearsed(t))
	var runs struct {
		Runs []struct {
			Run                string
			Planned, Answered  int64
			Rehearsal          bool
			Spent_at_least_usd float64
		}
	}
	d.json("/runs", &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Planned != 444 || runs.Runs[0].Answered != 444 || !runs.Runs[0].Rehearsal ||
		runs.Runs[0].Spent_at_least_usd <= 0 {
		t.Fatalf("runs: %+v", runs)
	}
	run := "/runs/" + runs.Runs[0].Run
	var computed struct{ Run string }
	d.json(run+"/findings", &computed) // a program waits until they are there, a page does not
	for path, want := range map[string]string{
		run:                         "no difference between them was found",
		run + "/progress":           "Lanes and stages",
		run + "/answers":            "boiling",
		run + "/item?id=boiling":    "Does water boil",
		run + "/verdicts":           "arena",
		run + "/segments":           "batch",
		run + "/segments/1":         "Raw bytes",
		run + "/answers?ending=cut": "No answer is like that",
	} {
		if status, text := d.get(path); status != http.StatusOK || !strings.Contains(text, want) || !strings.Contains(text, "Rehearsal.") {
			t.Errorf("%s: %d without %q", path, status, want)
		}
	}
	d.followLinks(run)
	d.judge(run)
	for _, path := range []string{"/runs", run, run + "/progress", run + "/answers", run + "/item?id=boiling", run + "/segments/1",
		run + "/findings", "/metrics", "/api" + run + "/answers?limit=1000", run + "/artifacts/1"} {
		if _, text := d.get(path); strings.Contains(text, secret) || strings.Contains(text, d.token) {
			t.Errorf("%s serves a key or the token", path)
		}
	}
}

// secret is every API key that the sessions of these tests see.
const secret = "sk-very-secret"

// judge says that A is better, as a form does, and finds the verdict among those of the stage.
func (d *dashboard) judge(run string) {
	d.t.Helper()
	var shown struct {
		Task  string
		Sheet struct{ Asked, A, B string }
	}
	d.json(run+"/people/arena?as=anna", &shown)
	if shown.Sheet.Asked == "" || shown.Sheet.A == "" || shown.Sheet.B == "" {
		d.t.Fatalf("nothing is shown: %+v", shown)
	}
	_, page := d.get(run + "/people/arena?as=anna")
	_, rest, _ := strings.Cut(page, `name="csrf" value="`)
	csrf, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(page, `name="seen" value="`)
	seen, _, _ := strings.Cut(rest, `"`)
	form := url.Values{"csrf": {csrf}, "as": {"anna"}, "task": {shown.Task}, "seen": {seen}, "say": {"a"}}
	q, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.base+run+"/people/arena", strings.NewReader(form.Encode()))
	if err != nil {
		d.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+d.token)
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		d.t.Fatal(err)
	}
	a.Body.Close()
	var given struct {
		Verdicts []struct{ Label, Judge string }
	}
	d.json(run+"/verdicts?stage=arena&judge=human:anna", &given)
	if a.StatusCode != http.StatusSeeOther || len(given.Verdicts) != 1 || given.Verdicts[0].Label != "a" {
		d.t.Errorf("judged: %d, %+v", a.StatusCode, given)
	}
	var next struct{ Task string }
	if d.json(run+"/people/arena?as=anna", &next); next.Task == shown.Task || next.Task == "" {
		d.t.Errorf("next is %q after %q", next.Task, shown.Task)
	}
}

// followLinks holds every number of the findings against the rows that it links to.
func (d *dashboard) followLinks(run string) {
	d.t.Helper()
	var all struct {
		Tables []struct {
			Stage, Method string
			Findings      []struct {
				What string
				N    int
				By   map[string]string
			}
		}
	}
	d.json(run+"/findings", &all)
	checked := 0
	for _, table := range all.Tables {
		if table.Method != "rate" {
			continue
		}
		for _, f := range table.Findings {
			if f.What != "rate" {
				continue
			}
			query := "?limit=1000&stage=" + table.Stage
			for field, value := range f.By {
				query += "&" + field + "=" + value
			}
			var rows struct{ Verdicts []any }
			d.json(run+"/verdicts"+query, &rows)
			checked++
			if len(rows.Verdicts) < f.N || len(rows.Verdicts) == 0 {
				d.t.Errorf("%s %v rests on %d verdicts, its link shows %d", table.Stage, f.By, f.N, len(rows.Verdicts))
			}
		}
	}
	if checked == 0 {
		d.t.Error("no finding was held against its rows")
	}
}

func TestADashboardForOtherMachinesHasToBeAskedFor(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "nonsense"} {
		var out bytes.Buffer
		if code := cli.Main(t.Context(), worldIn(t.TempDir(), &out, &out, "view", "--listen", listen)); code != 2 {
			t.Errorf("--listen %s: exit code %d\n%s", listen, code, &out)
		}
	}
}

func TestATokenIsKeptForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := openDashboard(t, dir)
	info, err := os.Stat(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s", info.Mode())
	}
	if second := openDashboard(t, dir); second.token != first.token || len(second.token) < 32 {
		t.Errorf("tokens %q, %q", first.token, second.token)
	}
}
