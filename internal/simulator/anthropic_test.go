package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator/backend"
)

// messageBatch returns the body of a batch with n good requests and whatever else is given.
func messageBatch(n int, more ...string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"custom_id":"id-%d","params":{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[{"role":"user","content":"Question %d?"}]}}`, i, i))
	}
	return `{"requests":[` + strings.Join(append(all, more...), ",\n") + `]}`
}

func params(id, more string) string {
	return fmt.Sprintf(
		`{"custom_id":%q,"params":{"model":"claude-opus-4-7","max_tokens":500,"messages":[{"role":"user","content":"x"}]%s}}`, id, more)
}

func TestAnthropicCountsStandStillUntilTheBatchHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1})
	url := w.base["anthropic"] + "/v1/messages/batches"
	b := w.json("POST", url, messageBatch(4, params("warm", `,"temperature":0.5`),
		params("budget", `,"thinking":{"type":"enabled","budget_tokens":2000}`)))
	counts := func(processing, succeeded, errored float64) map[string]any {
		return map[string]any{"processing": processing, "succeeded": succeeded, "errored": errored, "canceled": 0.0, "expired": 0.0}
	}
	diff(t, map[string]any{"type": "message_batch", "processing_status": "in_progress", "request_counts": counts(6, 0, 0),
		"results_url": nil, "ended_at": nil, "expires_at": "2026-11-16T12:00:00.000000Z"},
		b.pick("type", "processing_status", "request_counts", "results_url", "ended_at", "expires_at"))
	id := b.str("id")
	w.clock.Advance(3 * time.Second)
	diff(t, counts(6, 0, 0), w.json("GET", url+"/"+id, "").at("request_counts"))
	wantStatus(t, w.do("GET", url+"/"+id+"/results", nil), 404)
	wantStatus(t, w.do("DELETE", url+"/"+id, nil), 400)
	w.clock.Advance(3 * time.Second)
	b = w.json("GET", url+"/"+id, "")
	diff(t, map[string]any{"processing_status": "ended", "request_counts": counts(0, 4, 2)}, b.pick("processing_status", "request_counts"))
	res := w.do("GET", b.str("results_url"), nil)
	byID := map[string]doc{}
	for _, l := range lines(t, res.Body) {
		byID[l.str("custom_id")] = l
	}
	diff(t, 6, len(byID))
	for _, bad := range []string{"warm", "budget"} {
		diff(t, map[string]any{"result.type": "errored", "result.error.type": "error", "result.error.error.type": "invalid_request_error"},
			byID[bad].pick("result.type", "result.error.type", "result.error.error.type"))
	}
	diff(t, map[string]any{"result.type": "succeeded", "result.message.type": "message", "result.message.stop_reason": "end_turn",
		"result.message.usage.service_tier": "batch"},
		byID["id-0"].pick("result.type", "result.message.type", "result.message.stop_reason", "result.message.usage.service_tier"))
	diff(t, 4, len(w.s.Ledger().Jobs[0].Billed))
	w.clock.Advance(29 * aDay)
	wantStatus(t, w.do("GET", url+"/"+id+"/results", nil), 404)
	b = w.json("GET", url+"/"+id, "")
	if b.at("archived_at") == nil || b.at("results_url") != nil {
		t.Error("an old batch is not archived")
	}
	diff(t, "message_batch_deleted", w.json("DELETE", url+"/"+id, "").str("type"))
	wantStatus(t, w.do("GET", url+"/"+id, nil), 404)
}

func TestAnthropicLooksAtIDsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Limits: backend.Limits{BatchRequests: 5}})
	url := w.base["anthropic"] + "/v1/messages/batches"
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"twice":     {messageBatch(2, params("id-1", "")), 400},
		"illegal":   {messageBatch(2, params("a b", "")), 400},
		"too long":  {messageBatch(2, params(strings.Repeat("x", 65), "")), 400},
		"no params": {messageBatch(2, `{"custom_id":"x"}`), 400},
		"none":      {messageBatch(0), 400},
		"too many":  {messageBatch(6), 400},
		"not JSON":  {`{"requests":[{`, 400},
		"unknown":   {`{"requests":[],"name":"x"}`, 400},
	} {
		g := w.do("POST", url, strings.NewReader(c.body))
		if g.Status != c.status || g.doc(t).str("error.type") != "invalid_request_error" {
			t.Errorf("%s: %d %s", name, g.Status, g.Body)
		}
	}
	diff(t, 0, len(w.s.Ledger().Jobs))
}

func TestAnthropicCancelsAndExpiresLineByLine(t *testing.T) {
	t.Parallel()
	for word, window := range map[string]time.Duration{"canceled": time.Hour, "expired": 2 * time.Second} {
		w := newWorld(t, Options{Rate: 1, Window: window})
		url := w.base["anthropic"] + "/v1/messages/batches/"
		url += w.json("POST", strings.TrimSuffix(url, "/"), messageBatch(5)).str("id")
		w.clock.Advance(2 * time.Second)
		if word == "canceled" {
			diff(t, "canceling", w.json("POST", url+"/cancel", "").str("processing_status"))
		}
		b := w.json("GET", url, "")
		diff(t, map[string]any{"processing_status": "ended", "request_counts.succeeded": 2.0, "request_counts." + word: 3.0},
			b.pick("processing_status", "request_counts.succeeded", "request_counts."+word))
		n := 0
		for _, l := range lines(t, w.do("GET", url+"/results", nil).Body) {
			if l.str("result.type") == word {
				n++
			}
		}
		diff(t, 3, n)
	}
}

func TestAnthropicListsPageBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["anthropic"] + "/v1/messages/batches"
	var ids []string
	for range 4 {
		ids = append(ids, w.json("POST", url, messageBatch(1)).str("id"))
	}
	slices.Reverse(ids)
	read := func(query string) ([]string, any) {
		p := w.json("GET", url+query, "")
		var out []string
		for _, b := range p.at("data").([]any) {
			out = append(out, doc(b.(map[string]any)).str("id"))
		}
		return out, p.at("has_more")
	}
	for _, c := range []struct {
		query string
		want  []string
		more  bool
	}{
		{"?limit=3", ids[:3], true},
		{"?limit=3&after_id=" + ids[2], ids[3:], false},
		{"?limit=2&before_id=" + ids[3], ids[1:3], true},
		{"?limit=9&before_id=" + ids[1], ids[:1], false},
	} {
		got, more := read(c.query)
		diff(t, c.want, got)
		diff(t, any(c.more), more)
	}
}

func TestBothGenerationsOfAnthropicsAPIAreServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	url := w.base["anthropic"] + "/v1/messages"
	body := func(more string) string {
		return `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]` + more + `}`
	}
	for _, c := range []struct {
		name, version, key, auth, more string
		status                         int
	}{
		{"older, own header", "2023-06-01", "key", "", "", 200},
		{"older, bearer", "2023-06-01", "", "Bearer key", `,"temperature":0.3`, 200},
		{"newer, bearer", newVersion, "", "Bearer key", "", 200},
		{"newer, own header", newVersion, "key", "", "", 401},
		{"newer, temperature", newVersion, "", "Bearer key", `,"temperature":1`, 400},
		{"newer, top_k", newVersion, "", "Bearer key", `,"top_k":5`, 400},
		{"no version", "", "key", "", "", 400},
		{"strange version", "2030-01-01", "key", "", "", 400},
		{"bad key", "2023-06-01", "bad", "", "", 401},
	} {
		g := w.do("POST", url, strings.NewReader(body(c.more)), "Anthropic-Version", c.version, "X-Api-Key", c.key, "Authorization", c.auth)
		if g.Status != c.status {
			t.Errorf("%s: %d %s", c.name, g.Status, g.Body)
		}
	}
}

func TestClaudeReadsAndWritesTheCacheAsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	long := strings.Repeat("A long shared context. ", 400)
	body := func(q string) string {
		return `{"model":"claude-sonnet-4-5","max_tokens":100,"system":[{"type":"text","text":"` + long +
			`","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":"` + q + `"}]}`
	}
	ask := func(q string) doc { return w.json("POST", w.base["anthropic"]+"/v1/messages", body(q)) }
	first, second := ask("one"), ask("two")
	written := first.at("usage.cache_creation.ephemeral_1h_input_tokens").(float64)
	if written < 2000 || first.at("usage.cache_read_input_tokens") != 0.0 {
		t.Errorf("first usage: %v", first.at("usage"))
	}
	diff(t, map[string]any{"usage.cache_read_input_tokens": written, "usage.cache_creation_input_tokens": 0.0},
		second.pick("usage.cache_read_input_tokens", "usage.cache_creation_input_tokens"))
	if in := second.at("usage.input_tokens").(float64); in > 20 {
		t.Errorf("input_tokens %v holds the cached ones", in)
	}
}
