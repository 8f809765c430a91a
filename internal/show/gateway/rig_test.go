package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/gateway"
	"assay/internal/simulator"
)

const (
	anna = "anna-token-0123456789"
	bert = "bert-token-0123456789"
)

// rig is a gateway behind a real socket, in front of a simulator.
type rig struct {
	t     *testing.T
	sim   *simulator.Server
	world *workspace.World
	home  *workspace.Home
	url   string
	env   map[string]string // of the gateway; to be changed while it is stopped
	later *atomic.Int64     // nanoseconds by which the ledger's clock is ahead
	keys  *sync.Map         // what Anthropic takes a key for: another name of it, or one that it refuses
	place workspace.Place
	stop  func() // ends the gateway, as Ctrl-C does
}

type rigOptions struct {
	budget  *assay.Money // of bert
	rules   []string
	queue   time.Duration
	stall   time.Duration
	latency time.Duration
	lacks   string // a provider without a key
	refused string // a provider whose key is refused
	storage int64
	silence time.Duration
	removed bool              // bert is no user any more
	env     map[string]string // besides
	bases   map[string]string // vendors of the simulator by the names of their addresses, besides
	log     io.Writer         // nil: the test's
	charged func(simulator.Charge)
}

func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	so := simulator.Options{Seed: 1, Dir: t.TempDir(), Queue: o.queue, Latency: o.latency, Charged: o.charged}
	for _, text := range o.rules {
		rule, err := simulator.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		so.Faults = append(so.Faults, rule)
	}
	sim, err := simulator.New(so)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	urls := sim.BaseURLs(server.URL)
	env := map[string]string{"OPENAI_BASE_URL": urls["openai"], "ANTHROPIC_BASE_URL": urls["anthropic"],
		"GOOGLE_GEMINI_BASE_URL": urls["gemini"], "OPENAI_API_KEY": "sim", "ANTHROPIC_API_KEY": "sim", "GOOGLE_API_KEY": "sim",
		"DEEPSEEK_API_KEY": "sim", "DEEPSEEK_BASE_URL": urls["deepseek"]}
	delete(env, o.lacks)
	maps.Copy(env, o.env)
	for name, vendor := range o.bases {
		env[name] = urls[vendor]
	}
	if o.refused != "" {
		env[o.refused] = "bad-key"
	}
	r := &rig{t: t, sim: sim, env: env, later: &atomic.Int64{}, keys: &sync.Map{}, place: workspace.Place{Home: t.TempDir()}}
	r.open()
	r.start(o)
	return r
}

// open opens the rig's home.
func (r *rig) open() {
	r.t.Helper()
	now := func() time.Time { return time.Now().Add(time.Duration(r.later.Load())) }
	r.world = &workspace.World{Env: func(name string) (string, bool) { v, ok := r.env[name]; return v, ok }, Now: now,
		Disk: workspace.Disk{Dir: r.t.TempDir()}, HTTP: r,
		Seams: workspace.Seams{Timing: func(t engine.Timing) engine.Timing { return t.Scaled(1000) }}}
	var err error
	if r.home, err = r.place.Open(r.t.Context(), r.world, false); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.home.Close() })
}

// beside returns another gateway on the same ledger, with another key of Anthropic. It is not started.
func (r *rig) beside(key string) *rig {
	other := *r
	other.env = maps.Clone(r.env)
	other.env["ANTHROPIC_API_KEY"] = key
	other.open()
	return &other
}

// RoundTrip passes calls on, with the key that Anthropic takes theirs for.
func (r *rig) RoundTrip(q *http.Request) (*http.Response, error) {
	if as, ok := r.keys.Load(q.Header.Get("X-Api-Key")); ok {
		if as == "panic" {
			panic("the transport crashes")
		}
		q = q.Clone(q.Context())
		q.Header.Set("X-Api-Key", as.(string))
	}
	return http.DefaultTransport.RoundTrip(q)
}

// start serves a gateway over the rig's home.
func (r *rig) start(o rigOptions) {
	r.t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	log := o.log
	if log == nil {
		log = r.t.Output()
	}
	users := []gateway.User{gateway.NewUser("anna", anna, nil)}
	if !o.removed {
		users = append(users, gateway.NewUser("bert", bert, o.budget))
	}
	s := gateway.New(gateway.Options{Home: r.home, Admin: "anna", Silence: o.silence, Stall: o.stall, Storage: o.storage,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Users: users})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, on) }()
	ended := false
	r.stop = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			r.t.Error(err)
		}
	}
	r.t.Cleanup(r.stop)
	r.url = "http://" + on.Addr().String() + "/v1"
}

// pass moves the simulator's clock.
func (r *rig) pass(d string) {
	r.t.Helper()
	r.control("POST", "/sim/clock", fmt.Sprintf(`{"advance":%q}`, d))
}

// control has the simulator change something.
func (r *rig) control(method, path, body string) {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.sim.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if w.Code >= 300 {
		r.t.Fatalf("%s %s: %s", method, path, w.Body)
	}
}

// object is a JSON object.
type object map[string]any

func (o object) text(names ...string) string {
	var v any = map[string]any(o)
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// call makes a call and reads its answer.
func (r *rig) call(token, method, path string, body io.Reader, headers ...string) (int, object) {
	r.t.Helper()
	status, text := r.raw(token, method, path, body, headers...)
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		r.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return status, o
}

func (r *rig) raw(token, method, path string, body io.Reader, headers ...string) (int, []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// upload sends a file and returns its id.
func (r *rig) upload(token, text string) string {
	r.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "in.jsonl") // before the purpose, as some clients send it
	if err != nil {
		r.t.Fatal(err)
	}
	io.WriteString(part, text)
	w.WriteField("purpose", "batch")
	w.Close()
	status, o := r.call(token, "POST", "/files", &form, "Content-Type", w.FormDataContentType())
	if status != 200 {
		r.t.Fatalf("upload: %d %v", status, o)
	}
	return o.text("id")
}

func (r *rig) create(token, file string, headers ...string) (int, object) {
	r.t.Helper()
	return r.createAt(token, file, "/v1/chat/completions", headers...)
}

func (r *rig) createAt(token, file, endpoint string, headers ...string) (int, object) {
	r.t.Helper()
	return r.call(token, "POST", "/batches", strings.NewReader(fmt.Sprintf(
		`{"input_file_id":%q,"endpoint":%q,"completion_window":"24h","metadata":{"who":"me"}}`, file, endpoint)), headers...)
}

// until waits for a status of a batch. It has minutes for that, and takes moments.
func (r *rig) until(token, id string, status ...string) object {
	r.t.Helper()
	var o object
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, o = r.call(token, "GET", "/batches/"+id, nil)
		for _, s := range status {
			if o.text("status") == s {
				return o
			}
		}
	}
	r.t.Fatalf("batch %s never was %s: %v", id, status, o)
	return nil
}

// rows reads a file of results by custom id.
func (r *rig) rows(token, id string) map[string]object {
	r.t.Helper()
	if id == "" {
		return nil
	}
	status, text := r.raw(token, "GET", "/files/"+id+"/content", nil)
	if status != 200 {
		r.t.Fatalf("content of %s: %d %s", id, status, text)
	}
	out := map[string]object{}
	for line := range strings.Lines(string(text)) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			r.t.Fatalf("%v: %s", err, line)
		}
		if _, twice := out[o.text("custom_id")]; twice {
			r.t.Errorf("%s has two lines", o.text("custom_id"))
		}
		out[o.text("custom_id")] = o
	}
	return out
}

// chat returns a line of a batch file.
func chat(id, model, more string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":"What is 2+2?"}]%s}}`+"\n", id, model, more)
}
