package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

// world returns the program as a user has it, but for how long it waits for providers.
func world(dir string, stdout io.Writer, args ...string) shell.World {
	return shell.World{
		Args: args, Env: func(string) (string, bool) { return "", false }, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: io.Discard,
		Now: time.Now, Disk: shell.Disk{Dir: dir}, HTTP: http.DefaultTransport,
		Seams: workspace.Seams{Timing: func(t engine.Timing) engine.Timing {
			t.PollMin, t.PollMax = 1500*time.Millisecond, 1500*time.Millisecond // long enough to look at
			return t
		}},
	}
}

// rehearse begins a rehearsal that takes seconds; the channel has its exit code.
func rehearse(t *testing.T, ctx context.Context, dir string) <-chan int {
	t.Helper()
	study, err := filepath.Abs("../../examples/start/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	code := make(chan int, 1)
	go func() { code <- cli.Main(ctx, world(dir, io.Discard, "run", study, "--rehearse", "--interval", "3s")) }()
	return code
}

// firstLine is an output that hands over its first line.
type firstLine struct {
	mu   sync.Mutex
	text bytes.Buffer
	line chan string
}

func (f *firstLine) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Write(p)
	if line, _, ok := strings.Cut(f.text.String(), "\n"); ok && f.line != nil {
		f.line <- line
		f.line = nil
	}
	return len(p), nil
}

// dashboard opens `assay view`, and returns the address that it prints.
func dashboard(t *testing.T, ctx context.Context, dir string) string {
	t.Helper()
	out := &firstLine{line: make(chan string, 1)}
	printed := out.line
	ended := make(chan int, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() { ended <- cli.Main(ctx, world(dir, out, "view", "--listen", "127.0.0.1:0")) }()
	t.Cleanup(func() { stop(); <-ended })
	select {
	case line := <-printed:
		return line
	case code := <-ended:
		t.Fatalf("view ended with %d", code)
	case <-time.After(patience):
		t.Fatal("view prints no address")
	}
	return ""
}

// patience is how long a step may take on a busy machine.
const patience = 2 * time.Minute

// visitor is a person with a browser.
type visitor struct {
	t           *testing.T
	ctx         context.Context
	base, token string

	begun    bool
	mu       sync.Mutex
	wrong    []string // console errors, exceptions, requests to elsewhere
	requests int
}

// visit opens a browser on a dashboard.
func visit(t *testing.T, ctx context.Context, address string) *visitor {
	t.Helper()
	base, token, ok := strings.Cut(address, "/?token=")
	if !ok {
		t.Fatalf("address %q has no token", address)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	v := &visitor{t: t, ctx: ctx, base: base, token: token}
	v.watch()
	v.do("open the printed address", v.size(1400, 1000), chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
	return v
}

// watch notes what must not happen: errors on the console, exceptions, requests to elsewhere.
func (v *visitor) watch() {
	note := func(format string, args ...any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
	}
	messages, requests := chromedp.Console(v.ctx), chromedp.Events(v.ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(v.ctx, network.Enable, network.EnableParams{}); err != nil {
		v.t.Fatalf("watch the network: %v", err)
	}
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				note("console: %s (%s %s)", m, m.Source, m.URL)
			}
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			if u := e.Request.URL; !strings.HasPrefix(u, v.base+"/") {
				note("request to %s", u)
			}
			v.mu.Lock()
			v.requests++
			v.mu.Unlock()
		}
	}()
}

// clean fails where something happened that must not.
func (v *visitor) clean() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.wrong {
		v.t.Error(w)
	}
	if v.requests == 0 {
		v.t.Error("no request was seen: nothing is watched")
	}
}

func (v *visitor) size(width, height int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(width, height)
}

// do carries out steps that together have a limit.
func (v *visitor) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	read(v, what, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Steps(steps...)(ctx, t)
	})
}

// firstRun returns the address of the first run in the list.
func firstRun(v *visitor) string {
	v.t.Helper()
	return read(v, "read where the run is", chromedp.Evaluate[string](`document.querySelector(".runs .study a").getAttribute("href")`))
}

// read carries out a step and hands over what it found.
func read[T any](v *visitor, what string, step chromedp.Action[T]) T {
	v.t.Helper()
	if !v.begun { // the first step starts the browser, which lives as long as that step's context
		v.begun = true
		if err := chromedp.Do(v.ctx); err != nil {
			v.t.Fatalf("start the browser: %v", err)
		}
	}
	ctx, stop := context.WithTimeout(v.ctx, patience)
	defer stop()
	began := time.Now()
	found, err := chromedp.Run(ctx, step)
	if err != nil {
		v.shot("failed")
		v.t.Fatalf("%s: %v", what, err)
	}
	if took := time.Since(began); took > time.Second {
		v.t.Logf("%s: %d ms", what, took.Milliseconds())
	}
	return found
}

// text returns the text of an element.
func (v *visitor) text(selector string) string {
	v.t.Helper()
	return read(v, "read "+selector, chromedp.Text(chromedp.CSS(selector)))
}

// until waits for a condition on the page, written in JavaScript.
func (v *visitor) until(what, condition string) {
	v.t.Helper()
	read(v, what, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// follow clicks a link and waits for the page behind it.
func (v *visitor) follow(what, selector, then string) {
	v.t.Helper()
	v.do(what, chromedp.Click(chromedp.CSS(selector)), chromedp.WaitVisible(chromedp.CSS(then)))
	v.fits(what)
}

// fits fails where a page is wider than the window: what is wide scrolls in a box of its own.
func (v *visitor) fits(what string) {
	v.t.Helper()
	for _, width := range []int64{420, 1400} {
		v.do("resize", v.size(width, 900))
		over := read(v, "measure", chromedp.Evaluate[int64](`Math.max(0, document.documentElement.scrollWidth - window.innerWidth)`))
		if over > 0 {
			v.shot(fmt.Sprintf("wide-%d", width))
			v.t.Errorf("%s: at %d pixels the page is %d too wide", what, width, over)
		}
	}
	v.shots(what)
}

// shots keeps pictures of the page, light and dark, wide and narrow, where ASSAY_SHOTS names a folder for them.
func (v *visitor) shots(what string) {
	if os.Getenv("ASSAY_SHOTS") == "" {
		return
	}
	name := strings.NewReplacer(" ", "-", "/", "_", "?", "_").Replace(what)
	name = name[:min(len(name), 60)]
	for _, scheme := range []string{"light", "dark"} {
		v.scheme(scheme)
		for _, width := range []int64{420, 1400} {
			v.do("size", v.size(width, 1000))
			v.shot(fmt.Sprintf("%s-%s-%d", name, scheme, width))
		}
	}
}

func (v *visitor) shot(name string) {
	dir := os.Getenv("ASSAY_SHOTS")
	if dir == "" {
		return
	}
	ctx, stop := context.WithTimeout(v.ctx, 10*time.Second)
	defer stop()
	if png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100)); err == nil {
		os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
}

// api asks the dashboard as a program does.
func (v *visitor) api(path string, into any) {
	v.t.Helper()
	q, err := http.NewRequestWithContext(v.ctx, http.MethodGet, v.base+"/api"+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+v.token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		v.t.Fatal(err)
	}
	defer a.Body.Close()
	if err := json.NewDecoder(a.Body).Decode(into); err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
}
