package web_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/find/results"
	"assay/internal/keep/ledger"
	"assay/internal/show/web"
	"assay/internal/show/web/site"
)

// news opens a stream of news and hands over its lines.
func (r *rig) news(ctx context.Context, path string) <-chan string {
	r.t.Helper()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL+path, nil)
	r.ok(err)
	q.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(q)
	r.ok(err)
	r.t.Cleanup(func() { a.Body.Close() })
	if got := a.Header.Get("Content-Type"); got != "text/event-stream" {
		r.t.Fatalf("%s: %d, %s", path, a.StatusCode, got)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(a.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// await reads news until a line begins in a way.
func await(t *testing.T, lines <-chan string, begin string) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				t.Fatalf("the news ended before %q", begin)
			}
			if strings.HasPrefix(l, begin) {
				return
			}
		case <-late:
			t.Fatalf("no news %q", begin)
		}
	}
}

func TestNewsComeWhenSomethingHappens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/news", "/runs/run1/news", "/runs/run1/news?by=lane"} {
		lines := r.news(t.Context(), path)
		await(t, lines, "event: hello")
		r.ok(r.ledger.Work.Note(t.Context(), r.run.No, 0, "something", path))
		await(t, lines, "event: change")
	}
}

func TestTheDashboardEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ledger, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "l.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	s, err := web.New(site.Options{Homes: func() []*site.Home {
		return []*site.Home{{Reader: &results.Reader{Ledger: ledger.Reader, Pages: ledger.Pages}}}
	}, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, on) }()
	r := &rig{t: t}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+on.Addr().String()+"/news", nil)
	r.ok(err)
	q.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(q) // a client still listens when it ends
	r.ok(err)
	defer a.Body.Close()
	stop()
	select {
	case err := <-ended:
		r.ok(err)
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end")
	}
}
