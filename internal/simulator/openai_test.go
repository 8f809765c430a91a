package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator/backend"
)

// chatLines are n good lines for OpenAI, and whatever else is given.
func chatLines(n int, more ...string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"id-%03d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"Question %d?"}]}}`+"\n", i, i)
	}
	for _, m := range more {
		b.WriteString(m + "\n")
	}
	return b.String()
}

const badTemperature = `{"custom_id":"hot","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","temperature":3,"messages":[{"role":"user","content":"x"}]}}`

// openAIBatchOf uploads lines and makes a batch of them.
func (w *world) openAIBatchOf(content string) string {
	w.t.Helper()
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", content, "purpose", "batch")
	return w.openAICreate(f.str("id"))
}

func (w *world) openAICreate(file string) string {
	w.t.Helper()
	b := w.json("POST", w.base["openai"]+"/batches",
		`{"input_file_id":"`+file+`","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"run":"r1"}}`)
	return b.str("id")
}

func (w *world) openAIBatch(id string) doc {
	w.t.Helper()
	return w.json("GET", w.base["openai"]+"/batches/"+id, "")
}

func (w *world) openAIContent(file string) []byte {
	w.t.Helper()
	g := w.do("GET", w.base["openai"]+"/files/"+file+"/content", nil)
	wantStatus(w.t, g, 200)
	if g.Err != nil {
		w.t.Fatal(g.Err)
	}
	return g.Body
}

func TestOpenAIBatchesWalkThroughTheirStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: 20 * time.Second, Rate: 2})
	id := w.openAIBatchOf(chatLines(10, badTemperature))
	fields := []string{"status", "request_counts", "output_file_id", "error_file_id"}
	counts := func(total, done, failed float64) map[string]any {
		return map[string]any{"total": total, "completed": done, "failed": failed}
	}
	for _, step := range []struct {
		after  time.Duration
		status string
		counts map[string]any
	}{
		{0, "validating", counts(0, 0, 0)},
		{10 * time.Second, "in_progress", counts(11, 0, 0)},
		{12 * time.Second, "in_progress", nil},
		{4 * time.Second, "finalizing", counts(11, 10, 1)},
	} {
		w.clock.Advance(step.after)
		b := w.openAIBatch(id)
		if step.counts == nil { // which of them ran first is the permutation's business
			done := b.at("request_counts.completed").(float64) + b.at("request_counts.failed").(float64)
			diff(t, 4.0, done)
			continue
		}
		diff(t, map[string]any{"status": step.status, "request_counts": step.counts, "output_file_id": nil, "error_file_id": nil},
			b.pick(fields...))
	}
	w.clock.Advance(time.Minute)
	b := w.openAIBatch(id)
	diff(t, "completed", b.str("status"))
	diff(t, map[string]any{"run": "r1"}, b.at("metadata"))
	outs := lines(t, w.openAIContent(b.str("output_file_id")))
	ids := idsOf(outs, "custom_id")
	if slices.IsSorted(ids) {
		t.Error("results come in the order of the requests")
	}
	slices.Sort(ids)
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("id-%03d", i))
	}
	diff(t, want, ids)
	sum := 0.0
	for _, o := range outs {
		sum += o.at("response.body.usage.total_tokens").(float64)
	}
	diff(t, sum, b.at("usage.total_tokens"))
	errs := lines(t, w.openAIContent(b.str("error_file_id")))
	diff(t, []map[string]any{{"custom_id": "hot", "response.status_code": 400.0, "response.body.error.param": "temperature", "error": nil}},
		[]map[string]any{errs[0].pick("custom_id", "response.status_code", "response.body.error.param", "error")})
}

func TestOpenAIFindsAFileInvalidOnlyAfterCreate(t *testing.T) {
	t.Parallel()
	line := func(id, url, model string) string {
		return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":%q,"body":{"model":%q,"messages":[{"role":"user","content":"x"}]}}`,
			id, url, model)
	}
	for name, c := range map[string]struct {
		content, code string
		line          any
	}{
		"not JSON":     {chatLines(2, `{"custom_id":`), "invalid_json_line", 3.0},
		"twice":        {chatLines(2, line("id-001", "/v1/chat/completions", "gpt-4o")), "duplicate_custom_id", 3.0},
		"other url":    {chatLines(1, line("u", "/v1/responses", "gpt-4o")), "invalid_url", 2.0},
		"other model":  {chatLines(1, line("m", "/v1/chat/completions", "gpt-4.1")), "mismatched_model", 2.0},
		"no custom id": {chatLines(1, `{"method":"POST","url":"/v1/chat/completions","body":{}}`), "missing_required_parameter", 2.0},
		"a stream": {chatLines(1,
			`{"custom_id":"s","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","stream":true,"messages":[]}}`),
			"streaming_unsupported", 2.0},
		"two bad lines": {chatLines(1, line("u", "/v1/responses", "gpt-4o"), `{"custom_id":`), "invalid_url", 2.0},
		"empty":         {"", "empty_file", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, Options{Queue: 10 * time.Second})
			id := w.openAIBatchOf(c.content)
			diff(t, "validating", w.openAIBatch(id).str("status"))
			w.clock.Advance(5 * time.Second)
			diff(t, nil, w.openAIBatch(id).at("errors.data.1"))
			diff(t, map[string]any{"status": "failed", "errors.data.0.code": c.code, "errors.data.0.line": c.line, "output_file_id": nil,
				"request_counts.total": 0.0},
				w.openAIBatch(id).pick("status", "errors.data.0.code", "errors.data.0.line", "output_file_id", "request_counts.total"))
		})
	}
}

func TestOpenAIRefusesABadCreateAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", chatLines(1), "purpose", "batch")
	for body, param := range map[string]string{
		`{"input_file_id":"` + f.str("id") + `","endpoint":"/v1/dreams","completion_window":"24h"}`:          "endpoint",
		`{"input_file_id":"` + f.str("id") + `","endpoint":"/v1/chat/completions","completion_window":"7d"}`: "completion_window",
	} {
		g := w.do("POST", w.base["openai"]+"/batches", strings.NewReader(body))
		wantStatus(t, g, 400)
		diff(t, param, g.doc(t).str("error.param"))
	}
	made := w.json("POST", w.base["openai"]+"/batches",
		`{"input_file_id":"file-none","endpoint":"/v1/chat/completions","completion_window":"24h"}`)
	w.clock.Advance(time.Minute)
	diff(t, map[string]any{"status": "failed", "errors.data.0.code": "invalid_request",
		"errors.data.0.param": "file_id", "errors.data.0.line": nil},
		w.openAIBatch(made.str("id")).pick("status", "errors.data.0.code", "errors.data.0.param", "errors.data.0.line"))
}

func TestABatchThatRunsOutOfTimeKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1, Window: 4 * time.Second})
	id := w.openAIBatchOf(chatLines(10))
	w.clock.Advance(time.Hour)
	b := w.openAIBatch(id)
	diff(t, map[string]any{"status": "expired", "request_counts.completed": 4.0}, b.pick("status", "request_counts.completed"))
	diff(t, 4, len(lines(t, w.openAIContent(b.str("output_file_id")))))
	errs := lines(t, w.openAIContent(b.str("error_file_id")))
	diff(t, 6, len(errs))
	diff(t, map[string]any{"response": nil, "error.code": "batch_expired"}, errs[0].pick("response", "error.code"))
	l := w.s.Ledger().Jobs[0]
	diff(t, []int{10, 4}, []int{len(l.CustomIDs), len(l.Billed)})
}

func TestACancelledBatchKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1}, "openai cancel slow-cancel=3s once")
	id := w.openAIBatchOf(chatLines(10))
	w.clock.Advance(2 * time.Second)
	diff(t, "cancelling", w.json("POST", w.base["openai"]+"/batches/"+id+"/cancel", "").str("status"))
	w.clock.Advance(2 * time.Second)
	diff(t, "cancelling", w.openAIBatch(id).str("status"))
	w.clock.Advance(2 * time.Second)
	b := w.openAIBatch(id)
	diff(t, "cancelled", b.str("status"))
	diff(t, 5, len(lines(t, w.openAIContent(b.str("output_file_id")))))
	wantStatus(t, w.do("POST", w.base["openai"]+"/batches/"+id+"/cancel", nil), 409)
}

func TestListsComeInPagesNewestFirstAndOnlyToTheirKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	f := w.upload(w.base["openai"]+"/files", "in.jsonl", chatLines(1), "purpose", "batch").str("id")
	var made []string
	for range 5 {
		made = append(made, w.openAICreate(f))
		w.clock.Advance(time.Second)
	}
	slices.Reverse(made)
	var seen []string
	after := ""
	for {
		page := w.json("GET", w.base["openai"]+"/batches?limit=2&after="+after, "")
		for _, b := range page.at("data").([]any) {
			seen = append(seen, doc(b.(map[string]any)).str("id"))
		}
		after = page.str("last_id")
		if page.at("has_more") == false {
			break
		}
	}
	diff(t, made, seen)
	other := w.as("someone")
	diff(t, []any{}, other.json("GET", w.base["openai"]+"/batches", "").at("data"))
	wantStatus(t, other.do("GET", w.base["openai"]+"/batches/"+made[0], nil), 404)
	wantStatus(t, other.do("GET", w.base["openai"]+"/files/"+f, nil), 404)
	g := w.as("bad-key").do("GET", w.base["openai"]+"/batches", nil)
	wantStatus(t, g, 401)
	diff(t, "invalid_api_key", g.doc(t).str("error.code"))
}

func TestFilesAreListedShownReadAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["openai"] + "/files"
	f := w.upload(url, "run/shard-1.jsonl", chatLines(2), "purpose", "batch")
	diff(t, map[string]any{"object": "file", "filename": "shard-1.jsonl", "purpose": "batch", "status": "processed",
		"bytes": float64(len(chatLines(2)))}, f.pick("object", "filename", "purpose", "status", "bytes"))
	id := w.openAICreate(f.str("id"))
	out := w.openAIBatch(id).str("output_file_id")
	diff(t, 2, len(w.json("GET", url, "").at("data").([]any)))
	diff(t, 1, len(w.json("GET", url+"?purpose=batch", "").at("data").([]any)))
	diff(t, float64(len(w.openAIContent(out))), w.json("GET", url+"/"+out, "").at("bytes"))
	diff(t, chatLines(2), string(w.openAIContent(f.str("id"))))
	for _, one := range []string{f.str("id"), out} {
		diff(t, true, w.json("DELETE", url+"/"+one, "").at("deleted"))
		wantStatus(t, w.do("GET", url+"/"+one+"/content", nil), 404)
	}
	diff(t, 2, len(w.s.Ledger().Jobs[0].CustomIDs))
}

func TestWaitingTokensAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: time.Minute, Limits: backend.Limits{Enqueued: 120}})
	first, second := w.openAIBatchOf(chatLines(10)), w.openAIBatchOf(chatLines(10))
	w.clock.Advance(30 * time.Second)
	diff(t, "in_progress", w.openAIBatch(first).str("status"))
	diff(t, map[string]any{"status": "failed", "errors.data.0.code": "token_limit_exceeded"},
		w.openAIBatch(second).pick("status", "errors.data.0.code"))
	w.clock.Advance(time.Hour)
	third := w.openAIBatchOf(chatLines(10))
	w.clock.Advance(time.Hour)
	diff(t, "completed", w.openAIBatch(third).str("status"))
}

func TestTheKeyPartOfACustomIDDecidesTheAnswerNotTheNonce(t *testing.T) {
	t.Parallel()
	const key = "abcdefghijklmnopqrstuvwxya"
	line := func(nonce, key string) string {
		return fmt.Sprintf(`{"custom_id":"a%s-%s","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"same"}]}}`, nonce, key)
	}
	texts := map[string]string{}
	for range 2 { // and a restart changes nothing
		w := newWorld(t, Options{Seed: 5})
		for _, l := range []string{line("aaaaaaaaaa", key), line("bbbbbbbbbb", key), line("aaaaaaaaaa", "b"+key[1:])} {
			id := w.openAIBatchOf(l)
			out := lines(t, w.openAIContent(w.openAIBatch(id).str("output_file_id")))[0]
			text := out.str("response.body.choices.0.message.content")
			if old := texts[l]; old != "" && old != text {
				t.Error("a restart changed an answer")
			}
			texts[l] = text
		}
	}
	if texts[line("aaaaaaaaaa", key)] != texts[line("bbbbbbbbbb", key)] {
		t.Error("a retry under a new nonce got another answer")
	}
	if texts[line("aaaaaaaaaa", key)] == texts[line("aaaaaaaaaa", "b"+key[1:])] {
		t.Error("another draw got the same answer")
	}
}
