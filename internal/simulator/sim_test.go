package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/simulator/clocktest"
)

const (
	aDay       = 24 * time.Hour
	chunkUnit  = 256 << 10    // of uploads to Google
	newVersion = "2026-10-21" // of Anthropic's API
)

var epoch = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// world is a simulator under a clock that the test moves, and a client of it.
type world struct {
	t     *testing.T
	s     *Server
	clock *clocktest.Clock
	http  *http.Client
	base  map[string]string
	head  http.Header
}

func newWorld(t *testing.T, o Options, rules ...string) *world {
	t.Helper()
	clock := clocktest.New(epoch)
	o.Clock, o.Dir = clock, t.TempDir()
	for _, text := range rules {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, r)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{Transport: s.Transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	head := http.Header{"Authorization": {"Bearer key"}, "X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"},
		"X-Goog-Api-Key": {"key"}}
	return &world{t: t, s: s, clock: clock, http: client, base: s.BaseURLs("http://sim.invalid"), head: head}
}

// as returns the same world under another key.
func (w *world) as(key string) *world {
	v := *w
	v.head = w.head.Clone()
	for _, h := range []string{"X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		v.head.Set(h, key)
	}
	v.head.Set("Authorization", "Bearer "+key)
	return &v
}

// reply is a response of the simulator.
type got struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error // of reading the body
}

func (w *world) try(method, url string, body io.Reader, head ...string) (got, error) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = w.head.Clone()
	for i := 0; i < len(head); i += 2 {
		req.Header.Del(head[i])
		if head[i+1] != "" {
			req.Header.Set(head[i], head[i+1])
		}
	}
	res, err := w.http.Do(req)
	if err != nil {
		return got{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return got{Status: res.StatusCode, Header: res.Header, Body: b, Err: err}, nil
}

func (w *world) do(method, url string, body io.Reader, head ...string) got {
	w.t.Helper()
	g, err := w.try(method, url, body, head...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, url, err)
	}
	return g
}

// json does a call that must succeed and reads its document.
func (w *world) json(method, url, body string, head ...string) doc {
	w.t.Helper()
	g := w.do(method, url, strings.NewReader(body), head...)
	if g.Status/100 != 2 {
		w.t.Fatalf("%s %s: %d %s", method, url, g.Status, g.Body)
	}
	return g.doc(w.t)
}

type doc map[string]any

func (g got) doc(t *testing.T) doc {
	t.Helper()
	var d doc
	if err := json.Unmarshal(g.Body, &d); err != nil {
		t.Fatalf("reply %q: %v", g.Body, err)
	}
	return d
}

// at walks into a document: "choices.0.message.content".
func (d doc) at(path string) any {
	var v any = map[string]any(d)
	for _, p := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			var i int
			if _, err := fmt.Sscan(p, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (d doc) str(path string) string { s, _ := d.at(path).(string); return s }

// pick returns the part of a document that a test speaks about.
func (d doc) pick(paths ...string) map[string]any {
	out := map[string]any{}
	for _, p := range paths {
		out[p] = d.at(p)
	}
	return out
}

// upload sends a multipart file and returns its document.
func (w *world) upload(url, name, content string, fields ...string) doc {
	w.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = m.WriteField(fields[i], fields[i+1])
	}
	f, _ := m.CreateFormFile("file", name)
	_, _ = io.WriteString(f, content)
	_ = m.Close()
	g := w.do("POST", url, &b, "Content-Type", m.FormDataContentType())
	if g.Status != 200 {
		w.t.Fatalf("upload %s: %d %s", name, g.Status, g.Body)
	}
	return g.doc(w.t)
}

// lines takes a JSONL body apart.
func lines(t *testing.T, b []byte) []doc {
	t.Helper()
	var out []doc
	for _, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if l == "" {
			continue
		}
		var d doc
		if err := json.Unmarshal([]byte(l), &d); err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		out = append(out, d)
	}
	return out
}

func idsOf(ds []doc, field string) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.str(field))
	}
	return out
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func wantStatus(t *testing.T, g got, status int) {
	t.Helper()
	if g.Status != status {
		t.Fatalf("status %d, want %d: %s", g.Status, status, g.Body)
	}
}
