// Package providertest is the contract that every vendor keeps, as tests against the simulator.
package providertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/provider"
	"assay/internal/simulator"
	"assay/internal/simulator/clocktest"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"
	"assay/internal/study/catalog"

	"github.com/google/go-cmp/cmp"
)

// Subject is one vendor under test.
type Subject struct {
	Kind  string // as the catalogue names it
	API   string // "chat", "responses"; empty: the vendor's default
	Model string
	Sim   string // as the simulator names it; empty: the kind
	Open  func(provider.Config) (provider.Account, error)
	// More sets what else this vendor is configured with; nil: nothing.
	More func(cfg *provider.Config, simulated map[string]string)

	Catalog *catalog.Catalog // nil: the one that is built in

	// Socket reaches the simulator over a real connection.
	Socket bool

	LosesExpired bool // an expired job hands out nothing
	Shards       bool // results may lie in several files
	NoRefusals   bool // a refusal is in words only
	NoStrangers  bool // the simulator cannot make up lines under other ids
	Moves        bool // a redirect of a result file is followed, without the key
	Copy         bool // it shares its code with another subject: what takes long is done there
}

func (s Subject) catalog() *catalog.Catalog {
	if s.Catalog == nil {
		return catalog.Default()
	}
	return s.Catalog
}

const secret = "key-never-to-be-shown-7f3a9c"

var epoch = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// world is a simulator under a clock that the test moves, and an account at it.
type world struct {
	t     *testing.T
	s     Subject
	sim   *simulator.Server
	clock *clocktest.Clock
	batch provider.Provider
	live  provider.Asker
	lane  assay.Lane
	wire  assay.Wire
	seen  *watch
	root  string // of the simulator's URLs
	made  int    // parcels so far
}

// newWorld starts a simulator with rules of what goes wrong. A rule names no vendor: it begins with the kind of call.
func newWorld(t *testing.T, s Subject, o simulator.Options, rules ...string) *world {
	t.Helper()
	w := &world{t: t, s: s, clock: clocktest.New(epoch), seen: &watch{t: t}, root: "https://sim.example"}
	o.Clock, o.Dir = w.clock, t.TempDir()
	o.Limits.BatchLeast = 1 // parcels of these tests are small
	for _, text := range rules {
		r, err := simulator.ParseRule("* " + text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, r)
	}
	var err error
	if w.sim, err = simulator.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.sim.Close(); err != nil {
			t.Error(err)
		}
		*w = world{} // a test that is over is kept until the one it is part of is over, with all that its cleanups name
	})
	w.seen.next = w.sim.Transport()
	if s.Socket {
		server := httptest.NewServer(w.sim)
		t.Cleanup(server.Close)
		w.root, w.seen.next = server.URL, provider.NewTransport()
	}
	_, w.seen.home, _ = strings.Cut(w.root, "://")
	w.lane = assay.Lane{Name: "lane", Provider: s.Kind, Model: s.Model, API: s.API, Params: assay.Params{MaxTokens: 4000}}
	w.open(secret)
	return w
}

// open opens the account with a key.
func (w *world) open(key string) {
	w.t.Helper()
	row, ok := w.s.catalog().Vendor(w.s.Kind)
	if !ok {
		w.t.Fatalf("the catalogue has no vendor %s", w.s.Kind)
	}
	name := w.s.Sim
	if name == "" {
		name = w.s.Kind
	}
	simulated := w.sim.BaseURLs(w.root)
	cfg := provider.Config{
		Name: "subject", Kind: w.s.Kind, BaseURL: simulated[name], Key: provider.NewSecret(key), Limits: row.Limits, HTTP: w.seen,
	}
	if cfg.BaseURL == "" {
		w.t.Fatalf("the simulator has no vendor %s", name)
	}
	if w.s.More != nil {
		w.s.More(&cfg, simulated)
	}
	a, err := w.s.Open(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.batch, w.live = a.Batch, a.Live
	w.wire = w.s.catalog().Wire(w.lane, w.s.Kind, assay.ModeBatch)
}

// watch is the network as the account sees it. It remembers where calls went.
type watch struct {
	t      *testing.T
	next   http.RoundTripper
	home   string
	mu     sync.Mutex
	away   []string // hosts other than the simulator's
	onCall func()   // nil: nothing more happens
}

func (n *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != n.home {
		n.mu.Lock()
		n.away = append(n.away, r.URL.Host)
		n.mu.Unlock()
		for _, values := range r.Header {
			for _, v := range values {
				if strings.Contains(v, secret) {
					n.t.Errorf("the key went to %s", r.URL.Host)
				}
			}
		}
	}
	if n.onCall != nil {
		n.onCall()
	}
	return n.next.RoundTrip(r)
}

// nowhere is a network on which no server answers.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// testInput is the input of a batch with its questions.
type testInput struct {
	provider.BatchInput
	nonce assay.Nonce
	asked map[string]string // custom id: the user message
}

// input makes the input of a batch with these questions.
func (w *world) input(questions ...string) testInput {
	w.t.Helper()
	w.made++
	c := testInput{nonce: assay.NonceFrom([7]byte{byte(w.made), 1, 2, 3, 4, 5, 6}), asked: map[string]string{}}
	frame := dialect.FrameOf(w.wire, w.lane.Model)
	b := []byte(frame.Open)
	for i, q := range questions {
		req := w.request(fmt.Sprintf("item%d", i), q, w.wire)
		id := assay.CustomID(c.nonce, req.Key)
		c.asked[id] = q
		if i > 0 {
			b = append(b, frame.Separator...)
		}
		var err error
		if b, err = dialect.AppendLine(b, id, req); err != nil {
			w.t.Fatal(err)
		}
	}
	b = append(b, frame.Close...)
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	c.BatchInput = provider.BatchInput{
		Stamp: provider.Stamp{Run: "r7k2m", Segment: fmt.Sprintf("s%d", w.made), Attempt: 1, SHA256: hash},
		Model: w.lane.Model, Wire: w.wire, Count: len(questions),
		Body: provider.Source{Size: int64(len(b)), SHA256: hash, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(b)), nil
		}},
	}
	return c
}

func (w *world) request(item, question string, wire assay.Wire) *assay.Request {
	lane := w.lane
	return &assay.Request{
		Key: assay.Coordinates{Stage: "s", Item: item, Lane: lane.Name}.Key(), Lane: &lane, Wire: &wire,
		Prompt: &assay.Prompt{System: "Be brief.", Messages: []assay.Message{{Role: assay.RoleUser, Text: question}}},
	}
}

// questions are n different ones.
func questions(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("Question %d?", i)
	}
	return out
}

// prepare uploads, and tries again what fails for a while, as the engine does.
func (w *world) prepare(c testInput) provider.Handle {
	w.t.Helper()
	var h provider.Handle
	for range 40 {
		next, ready, err := w.batch.Prepare(context.Background(), c.BatchInput, h)
		w.clean(err)
		h = next
		switch {
		case err != nil && provider.FaultOf(err) == nil:
			w.t.Fatal(err)
		case ready == provider.Ready && err == nil:
			return h
		}
		w.clock.Advance(10 * time.Second)
	}
	w.t.Fatal("the upload is never ready")
	return ""
}

// launch prepares and launches a batch that must be accepted.
func (w *world) launch(c testInput) provider.Job {
	w.t.Helper()
	h := w.prepare(c)
	r := w.batch.Launch(context.Background(), c.BatchInput, h)
	if r.Status != provider.Accepted {
		w.t.Fatalf("launch: %s: %v", r.Status, r.Err)
	}
	return w.job(c, h, r.Job)
}

func (w *world) job(c testInput, h provider.Handle, id string) provider.Job {
	return provider.Job{ID: id, Handle: h, Stamp: c.Stamp, Model: c.Model, Wire: c.Wire, Count: c.Count}
}

// settle moves the clock until the job is over.
func (w *world) settle(job provider.Job) provider.Status {
	w.t.Helper()
	for range 200 {
		st, err := w.batch.Check(context.Background(), job)
		w.clean(err)
		if err != nil {
			w.t.Fatal(err)
		}
		if st.State.Terminal() {
			return st
		}
		w.clock.Advance(30 * time.Minute)
	}
	w.t.Fatal("the job is never over")
	return provider.Status{}
}

// result is everything a job handed out.
type result struct {
	lines map[string][]provider.Line // by custom id; "" for those without
	order []string
	bytes map[string]string // by part
}

// collect fetches and decodes every part.
func (w *world) collect(job provider.Job, st provider.Status) result {
	w.t.Helper()
	r := result{lines: map[string][]provider.Line{}, bytes: map[string]string{}}
	for _, part := range st.Parts {
		var into bytes.Buffer
		if err := w.batch.Fetch(context.Background(), job, part, provider.Fresh(&into)); err != nil {
			w.clean(err)
			w.t.Fatalf("fetch %s: %v", part.Name, err)
		}
		if _, dup := r.bytes[part.Name]; dup {
			w.t.Errorf("two parts are called %s", part.Name)
		}
		r.bytes[part.Name] = into.String()
		for line, err := range w.batch.Decode(job, part, &into) {
			if err != nil {
				w.t.Fatal(err)
			}
			r.lines[line.CustomID] = append(r.lines[line.CustomID], line)
			r.order = append(r.order, line.CustomID)
			raw := r.bytes[part.Name][line.Offset : line.Offset+line.Length]
			if strings.ContainsAny(raw, "\n") || raw == "" {
				w.t.Errorf("the line of %s is not one line: %q", line.CustomID, raw)
			}
		}
	}
	return r
}

// endings counts how the requests of a batch ended; those without a line are "none".
func (r result) endings(c testInput) map[assay.Ending]int {
	out := map[assay.Ending]int{}
	for id := range c.asked {
		if lines := r.lines[id]; len(lines) > 0 {
			out[lines[0].Outcome.Ending]++
		} else {
			out["none"]++
		}
	}
	return out
}

// billed counts how often the simulator billed each request.
func (w *world) billed() map[string]int {
	out := map[string]int{}
	for _, j := range w.sim.Ledger().Jobs {
		for _, id := range j.Billed {
			out[id]++
		}
	}
	return out
}

// clean holds an error against the promise that it shows no secret, and wraps a fault.
func (w *world) clean(err error) {
	w.t.Helper()
	if err == nil {
		return
	}
	if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "upload_id=") {
		w.t.Errorf("an error shows a secret: %s", text)
	}
}

// class returns the fault class an error wraps.
func (w *world) class(err error) assay.FaultClass {
	w.t.Helper()
	w.clean(err)
	if err == nil {
		return ""
	}
	f := provider.FaultOf(err)
	if f == nil {
		w.t.Errorf("no fault in %v", err)
		return ""
	}
	return f.Class
}

func diff(t *testing.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// echo is a model that repeats its user message, for tests of what survives the way.
type echo struct{}

func (echo) Respond(q *minds.Question) minds.Answer {
	return minds.Answer{Text: q.Messages[len(q.Messages)-1].Text}
}

// lenient lets every parameter pass.
type lenient struct{}

func (lenient) Check(rules.Asked) *rules.Rejection { return nil }

func sorted(ids []string) []string {
	out := slices.Clone(ids)
	slices.Sort(out)
	return out
}
