package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
)

// TestARunShowsHowItIs asks a run whose job lies at its provider for its health and its numbers, and its status ten minutes later.
func TestARunShowsHowItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sim, err := simulator.New(simulator.Options{Seed: 1, Queue: time.Hour, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	const study = "study: s\ncanary: false\nlive_below: 0\ninputs:\n  q: {items: [{id: a, text: one}]}\nlanes:\n" +
		"  g: {model: openai/gpt-4.1-mini, temperature: 0, max_tokens: 100}\nstages:\n" +
		"  - {name: one, ask: q, prompt: \"{{ text }}\", lanes: [g]}\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(study), 0o600); err != nil {
		t.Fatal(err)
	}
	world := func(stdout, stderr io.Writer, args ...string) shell.World {
		w := worldIn(dir, stdout, stderr, args...)
		w.HTTP = sim.Transport()
		w.Env = func(name string) (string, bool) {
			if name == "OPENAI_BASE_URL" {
				return sim.BaseURLs("http://sim.invalid")["openai"], true
			}
			return keyed(name)
		}
		return w
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, code := &lines{}, make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, world(io.Discard, said, "run", "s.yaml", "--yes", "--listen", "127.0.0.1:0"))
	}()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	base := ""
	for deadline := time.After(time.Minute); base == ""; {
		said.mu.Lock()
		base = address.FindString(said.text)
		said.mu.Unlock()
		select {
		case <-time.After(10 * time.Millisecond):
		case got := <-code:
			t.Fatalf("the run ended with %d", got)
		case <-deadline:
			t.Fatal("the run prints no address")
		}
	}
	get := func(path string) string {
		t.Helper()
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%s: %s %s %v", path, resp.Status, text, err)
		}
		return string(text)
	}
	if get("/healthz") != "ok\n" || get("/readyz") != "ok\n" {
		t.Error("it is not well")
	}
	text := get("/metrics")
	for _, want := range []string{"assay_runs_open 1\n", "# TYPE assay_takeovers_total counter\nassay_takeovers_total 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	status := func(later time.Duration, args ...string) string {
		var out bytes.Buffer
		w := world(&out, &out, append([]string{"status"}, args...)...)
		w.Now = func() time.Time { return time.Now().Add(later) }
		cli.Main(t.Context(), w)
		return out.String()
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(status(0, "--segments"), "launched"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no job was made")
		}
	}
	if now, later := status(0), status(10*time.Minute); strings.Contains(now, "No progress") ||
		!regexp.MustCompile(`\nNo progress since \d{4}-\d\d-\d\d .* \((9m\d\ds|10m)\): no request has left or come back\.\n`).MatchString(later) {
		t.Errorf("status now:\n%s\nten minutes later:\n%s", now, later)
	}
	var doc struct {
		Since *time.Time `json:"no_progress_since"`
	}
	err = json.Unmarshal([]byte(status(10*time.Minute, "--json")), &doc)
	if err != nil || doc.Since == nil || time.Since(*doc.Since) > time.Minute {
		t.Errorf("in the JSON: %v, %v", doc.Since, err)
	}
	stop()
	if got := <-code; got != 130 {
		t.Errorf("the run ended with %d", got)
	}
}
