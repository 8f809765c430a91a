package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/simulator"
)

const watchedStudy = `study: watched
mode: live
inputs: {q: {file: items.txt}}
lanes: {a: {model: openai/gpt-4.1-mini, max_tokens: 50}}
stages: [{name: answers, ask: q, prompt: "What is {{ text }}?"}]
`

// TestALiveRunCanBeWatchedFromElsewhere holds a live run in its middle until two others have seen it there: one on a
// terminal, one in a log. Both see it end.
func TestALiveRunCanBeWatchedFromElsewhere(t *testing.T) {
	t.Parallel()
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"study.yaml": watchedStudy, "items.txt": strings.Repeat("a stone\n", 20)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	world := func(to io.Writer, args ...string) shell.World {
		return shell.World{
			Args: args, Stdin: strings.NewReader(""), Stdout: to, Stderr: to, Disk: shell.Disk{Dir: dir}, Now: time.Now,
			Env: func(name string) (string, bool) {
				v, ok := map[string]string{"OPENAI_BASE_URL": sim.BaseURLs("http://simulator.invalid")["openai"],
					"OPENAI_API_KEY": "k"}[name]
				return v, ok
			},
		}
	}
	gate := &turnstile{inner: sim.Transport(), more: make(chan struct{}), open: make(chan struct{})}
	var wg sync.WaitGroup
	var driven bytes.Buffer
	began := make(chan struct{})
	gate.began = sync.OnceFunc(func() { close(began) })
	wg.Go(func() {
		w := world(&driven, "run", "study.yaml", "--yes")
		w.HTTP = gate
		if code := cli.Main(t.Context(), w); code != 0 {
			t.Errorf("run: exit %d\n%s", code, driven.String())
		}
	})
	<-began
	start := time.Now()
	quick := func() time.Time { return start.Add(time.Since(start) * 200) } // a rate takes seconds to see
	screen, log := newSighting(), newSighting()
	for _, s := range []*sighting{screen, log} {
		wg.Go(func() {
			w := world(s, "status", "--watch", "watched", "--interval", "5ms")
			w.Terminal, w.Now = term.Terminal{Err: s == screen, Width: 100, Height: 20}, quick
			if code := cli.Main(t.Context(), w); code != 0 {
				t.Errorf("watch: exit %d", code)
			}
		})
	}
	log.wait(`\b5 of 20 done`)
	screen.wait(` 5/20 `)
	close(gate.more)
	screen.wait(`(?s) 10/20 .*about [0-9].* left, at [0-9.,]+/(s|min)`)
	close(gate.open)
	wg.Wait()
	for s, want := range map[*sighting][]string{
		screen: {"answers a", "█", "░", "$0.00", "20 of 20 requests have an answer"},
		log:    {"20 of 20 done, 0 open", " spent", "20 of 20 requests have an answer"},
	} {
		for _, w := range want {
			if !strings.Contains(s.String(), w) {
				t.Errorf("%q was not seen in\n%s", w, s.String())
			}
		}
	}
	if strings.ContainsAny(log.String(), "█░\x1b") {
		t.Errorf("bars in a log\n%s", log.String())
	}
}

// turnstile lets five calls through, five more when it is allowed to, and then the rest.
type turnstile struct {
	inner      http.RoundTripper
	began      func()
	more, open chan struct{}
	calls      atomic.Int64
}

func (g *turnstile) RoundTrip(r *http.Request) (*http.Response, error) {
	switch n := g.calls.Add(1); {
	case n > 10:
		<-g.open
	case n > 5:
		<-g.more
	case n == 5:
		defer g.began()
	}
	return g.inner.RoundTrip(r)
}

// sighting is a stream whose reader waits for words.
type sighting struct {
	mu    sync.Mutex
	text  strings.Builder
	wrote chan struct{}
}

func newSighting() *sighting { return &sighting{wrote: make(chan struct{}, 1)} }

func (s *sighting) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *sighting) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until something was written that fits; the test's own limit ends it otherwise.
func (s *sighting) wait(pattern string) {
	for fits := regexp.MustCompile(pattern); !fits.MatchString(s.String()); {
		<-s.wrote
	}
}
