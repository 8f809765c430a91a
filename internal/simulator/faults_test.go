package simulator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator/clocktest"
)

func TestStatusRulesSpeakEachProvidersWords(t *testing.T) {
	t.Parallel()
	asks := map[string]string{
		"openai": "/chat/completions", "azure": "/chat/completions", "groq": "/openai/v1/chat/completions", "generic": "/chat/completions",
		"anthropic": "/v1/messages", "gemini": "/v1beta/models/gemini-2.5-flash:generateContent", "mistral": "/v1/chat/completions",
		"vertex": "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent", "together": "/chat/completions",
		"deepseek": "/v1/chat/completions", "ollama": "/api/chat", "xai": "/chat/completions",
		"fireworks": "/inference/v1/chat/completions", "openrouter": "/chat/completions",
	}
	for vendor, path := range asks {
		w := newWorld(t, Options{}, "* ask 429=7s nth=1", "* ask 503 nth=2", "* ask 529 nth=3", "* ask revoke nth=4", "* ask quota nth=5",
			"* ask 429=bare nth=6")
		call := func() got { return w.do("POST", w.base[vendor]+path, strings.NewReader("{}"), "Api-Key", "key") }
		busy := call()
		wantStatus(t, busy, 429)
		inHeader, inBody := busy.Header.Get("Retry-After") == "7", bytes.Contains(busy.Body, []byte(`"retryDelay":"7s"`))
		if inHeader == inBody {
			t.Errorf("%s: header %v, body %v say how long to wait", vendor, inHeader, inBody)
		}
		wantStatus(t, call(), 503)
		wantStatus(t, call(), 529)
		if g := call(); g.Status != 401 && g.Status != 403 && vendor != "xai" || vendor == "xai" && g.Status != 400 {
			t.Errorf("%s: a revoked key is %d", vendor, g.Status)
		}
		if g := call(); g.Status != 429 && g.Status != 402 {
			t.Errorf("%s: out of money is %d", vendor, g.Status)
		}
		bare := call()
		wantStatus(t, bare, 429)
		if bare.Header.Get("Retry-After") != "" || bytes.Contains(bare.Body, []byte("retryDelay")) {
			t.Errorf("%s: a bare 429 says how long to wait", vendor)
		}
		if busy.Header.Get("X-Request-Id") == "" && busy.Header.Get("Request-Id") == "" {
			t.Errorf("%s: no request id", vendor)
		}
	}
}

func TestADroppedReplyLeavesAJobBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai create drop nth=1", "openai create drop-reply nth=2")
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", chatLines(2), "purpose", "batch").str("id")
	body := `{"input_file_id":"` + f + `","endpoint":"/v1/chat/completions","completion_window":"24h"}`
	for _, want := range []int{0, 1} {
		if _, err := w.try("POST", w.base["openai"]+"/batches", strings.NewReader(body)); err == nil {
			t.Fatal("the connection was not dropped")
		}
		diff(t, want, len(w.json("GET", w.base["openai"]+"/batches", "").at("data").([]any)))
	}
}

func TestDownloadsAreCutAndStalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai fetch truncate=40% nth=1", "openai fetch stall nth=2", "openai fetch error-200 nth=3",
		"openai fetch redirect nth=4")
	out := w.openAIBatch(w.openAIBatchOf(chatLines(20))).str("output_file_id")
	url := w.base["openai"] + "/files/" + out + "/content"
	cut := w.do("GET", url, nil)
	if !errors.Is(cut.Err, io.ErrUnexpectedEOF) || len(cut.Body) == 0 {
		t.Errorf("read %d bytes and %v", len(cut.Body), cut.Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	req.Header = w.head.Clone()
	res, err := w.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	half := make([]byte, res.ContentLength/2)
	if _, err := io.ReadFull(res.Body, half); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("a stalled download ended with %v", err)
	}
	_ = res.Body.Close()
	odd := w.do("GET", url, nil)
	wantStatus(t, odd, 200)
	diff(t, "server_error", odd.doc(t).str("error.type"))
	away := w.do("GET", url, nil)
	wantStatus(t, away, 307)
	diff(t, "https://elsewhere.invalid/openai/v1/files/"+out+"/content", away.Header.Get("Location"))
	whole := w.do("GET", url, nil)
	diff(t, 20, len(lines(t, whole.Body)))
	if !bytes.HasPrefix(whole.Body, cut.Body) || !bytes.HasPrefix(whole.Body, half) {
		t.Error("a cut download differs from the whole")
	}
}

func TestResultLinesAreSpoiledPerCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai fetch missing=3 nth=1", "openai fetch duplicate=2 nth=2", "openai fetch foreign nth=3",
		"openai fetch malformed nth=4")
	out := w.openAIBatch(w.openAIBatchOf(chatLines(10))).str("output_file_id")
	ids := func(b []byte) []string { return idsOf(lines(t, b), "custom_id") }
	diff(t, 7, len(ids(w.openAIContent(out))))
	twice := ids(w.openAIContent(out))
	diff(t, 12, len(twice))
	slices.Sort(twice)
	diff(t, 10, len(slices.Compact(twice)))
	strange := ids(w.openAIContent(out))
	diff(t, 11, len(strange))
	diff(t, 1, len(slices.DeleteFunc(strange, func(id string) bool { return strings.HasPrefix(id, "id-") })))
	broken := strings.Split(strings.TrimSpace(string(w.openAIContent(out))), "\n")
	diff(t, []any{10, false}, []any{len(broken), strings.HasSuffix(broken[0], "}")})
	diff(t, 10, len(ids(w.openAIContent(out))))
}

func TestChecksLieWhereAFaultSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{},
		"openai check freeze nth=1", "openai check wrong-counts nth=2", "openai check no-output nth=3", "openai check state=paused nth=4",
		"openai check blank-ids nth=5", "openai check 404 nth=6")
	id := w.openAIBatchOf(chatLines(4))
	diff(t, 0.0, w.openAIBatch(id).at("request_counts.completed"))
	diff(t, 3.0, w.openAIBatch(id).at("request_counts.completed"))
	diff(t, map[string]any{"status": "completed", "output_file_id": nil}, w.openAIBatch(id).pick("status", "output_file_id"))
	diff(t, "paused", w.openAIBatch(id).str("status"))
	diff(t, any(""), w.openAIBatch(id).at("error_file_id"))
	wantStatus(t, w.do("GET", w.base["openai"]+"/batches/"+id, nil), 404)
	diff(t, map[string]any{"status": "completed", "error_file_id": nil, "request_counts.completed": 4.0},
		w.openAIBatch(id).pick("status", "error_file_id", "request_counts.completed"))
}

func TestYoungJobsCanBeHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai check hide=10s", "openai list hide=60s")
	id := w.openAIBatchOf(chatLines(1))
	seen := func() []any {
		one := w.do("GET", w.base["openai"]+"/batches/"+id, nil).Status
		return []any{one, len(w.json("GET", w.base["openai"]+"/batches", "").at("data").([]any))}
	}
	diff(t, []any{404, 0}, seen())
	w.clock.Advance(10 * time.Second)
	diff(t, []any{200, 0}, seen())
	w.clock.Advance(50 * time.Second)
	diff(t, []any{200, 1}, seen())
}

func TestJobsAreSpoiledAtTheirMaking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "openai create stuck nth=1", "openai create stuck=1h nth=2",
		"openai create fail=token_limit_exceeded nth=3", "openai create fail-lines=50% nth=4", "openai create refuse=100% nth=5",
		"openai create in-order nth=6", "openai create expire=25% nth=7")
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", chatLines(40), "purpose", "batch").str("id")
	var ids []string
	for range 7 {
		ids = append(ids, w.openAICreate(f))
	}
	w.clock.Advance(2 * time.Hour)
	diff(t, []string{"in_progress", "completed", "failed", "completed", "completed", "completed", "expired"}, func() (all []string) {
		for _, id := range ids {
			all = append(all, w.openAIBatch(id).str("status"))
		}
		return all
	}())
	diff(t, "token_limit_exceeded", w.openAIBatch(ids[2]).str("errors.data.0.code"))
	halves := w.openAIBatch(ids[3])
	if n := halves.at("request_counts.failed").(float64); n < 10 || n > 30 {
		t.Errorf("%v of 40 lines failed, want about half", n)
	}
	diff(t, 500.0, lines(t, w.openAIContent(halves.str("error_file_id")))[0].at("response.status_code"))
	refused := lines(t, w.openAIContent(w.openAIBatch(ids[4]).str("output_file_id")))[0]
	if refused.str("response.body.choices.0.message.refusal") == "" || refused.at("response.body.choices.0.message.content") != nil {
		t.Errorf("not refused: %v", refused)
	}
	diff(t, true, slices.IsSorted(idsOf(lines(t, w.openAIContent(w.openAIBatch(ids[5]).str("output_file_id"))), "custom_id")))
	diff(t, 10.0, w.openAIBatch(ids[6]).at("request_counts.completed"))
	w.clock.Advance(aDay)
	diff(t, "expired", w.openAIBatch(ids[0]).str("status"))
}

func TestFaultsAndClockAreSetOverHTTP(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Dir: t.TempDir(), Clock: clocktest.New(epoch)})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { srv.Close(); _ = s.Close() })
	w := &world{t: t, s: s, http: srv.Client(), base: s.BaseURLs(srv.URL), head: http.Header{"Authorization": {"Bearer k"}}}
	wantStatus(t, w.do("POST", srv.URL+"/sim/faults", strings.NewReader("openai ask nonsense")), 400)
	w.json("POST", srv.URL+"/sim/faults", "# two rules\nopenai ask drop-reply once\n\nopenai fetch truncate once\n")
	ask := `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`
	if _, err := w.try("POST", w.base["openai"]+"/chat/completions", strings.NewReader(ask)); err == nil {
		t.Error("the reply came")
	}
	w.json("POST", w.base["openai"]+"/chat/completions", ask)
	diff(t, map[string]any{"faults.0.rule": "openai ask drop-reply once", "faults.0.seen": 2.0, "faults.0.fired": 1.0},
		w.json("GET", srv.URL+"/sim/faults", "").pick("faults.0.rule", "faults.0.seen", "faults.0.fired"))
	out := w.openAIBatch(w.openAIBatchOf(chatLines(5))).str("output_file_id")
	if g := w.do("GET", w.base["openai"]+"/files/"+out+"/content", nil); !errors.Is(g.Err, io.ErrUnexpectedEOF) {
		t.Errorf("the download was not cut: %v", g.Err)
	}
	diff(t, []any{}, w.json("DELETE", srv.URL+"/sim/faults", "").at("faults"))
	diff(t, "2026-11-16T12:00:00Z", w.json("POST", srv.URL+"/sim/clock", `{"advance":"24h"}`).str("now"))
	wantStatus(t, w.do("POST", srv.URL+"/sim/clock", strings.NewReader(`{"advance":"-1h"}`)), 400)
	l := w.json("GET", srv.URL+"/sim/ledger", "")
	diff(t, map[string]any{"live.0.count": 2.0, "live.0.provider": "openai", "jobs.0.provider": "openai", "jobs.0.billed.4": "id-004"},
		l.pick("live.0.count", "live.0.provider", "jobs.0.provider", "jobs.0.billed.4"))
}

func TestSomeFaultsLookDifferentElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "anthropic create fail", "xai check freeze once", "gemini check no-output x2", "mistral create expire=50%")
	b := w.json("POST", w.base["anthropic"]+"/v1/messages/batches", messageBatch(3))
	diff(t, map[string]any{"processing_status": "ended", "request_counts.errored": 3.0},
		w.json("GET", w.base["anthropic"]+"/v1/messages/batches/"+b.str("id"), "").pick("processing_status", "request_counts.errored"))

	x := w.base["xai"] + "/batches"
	id := w.json("POST", x, `{"name":"n","input_file_id":"`+w.upload(w.base["xai"]+"/files", "in", chatLines(3)).str("id")+
		`"}`).str("batch_id")
	diff(t, []any{0.0, 3.0}, []any{w.json("GET", x+"/"+id, "").at("state.num_requests"),
		w.json("GET", x+"/"+id, "").at("state.num_requests")})

	w.geminiFile("in", geminiLines(2))
	name := w.geminiBatchOf("in")
	for _, there := range []bool{false, false, true} {
		op := w.json("GET", w.base["gemini"]+"/v1beta/"+name, "")
		diff(t, []any{"BATCH_STATE_SUCCEEDED", there}, []any{op.str("metadata.state"), op.str("response.responsesFile") != ""})
	}

	m := w.base["mistral"] + "/v1"
	f := w.upload(m+"/files", "in.jsonl", bareLines(4), "purpose", "batch").str("id")
	job := w.json("POST", m+"/batch/jobs", `{"input_files":["`+f+`"],"endpoint":"/v1/chat/completions","model":"m"}`)
	job = w.json("GET", m+"/batch/jobs/"+job.str("id"), "")
	diff(t, map[string]any{"status": "TIMEOUT_EXCEEDED", "succeeded_requests": 2.0, "total_requests": 4.0},
		job.pick("status", "succeeded_requests", "total_requests"))
	diff(t, 2, len(lines(t, w.do("GET", m+"/files/"+job.str("output_file")+"/content", nil).Body)))
}
