package simulator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/minds"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestParametersThatAModelRejectsAreRejectedInTheProvidersWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	chatBody := func(model, more string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"x"}]` + more + `}`
	}
	resp := func(model, more string) string { return `{"model":"` + model + `","input":"x"` + more + `}` }
	claude := func(model, more string) string {
		if !strings.Contains(more, "max_tokens") {
			more += `,"max_tokens":3000`
		}
		return `{"model":"` + model + `","messages":[{"role":"user","content":"x"}]` + more + `}`
	}
	gem := func(config string) string {
		return `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":` + config + `}`
	}
	for _, c := range []struct {
		vendor, path, body string
		status             int
		param, code        any
	}{
		{"openai", "/chat/completions", chatBody("gpt-5", `,"temperature":0.5`), 400, "temperature", "unsupported_value"},
		{"openai", "/chat/completions", chatBody("gpt-5", `,"temperature":1`), 200, nil, nil},
		{"openai", "/chat/completions", chatBody("o3", `,"top_p":0.5`), 400, "top_p", "unsupported_value"},
		{"openai", "/chat/completions", chatBody("gpt-5", `,"max_tokens":50`), 400, "max_tokens", "unsupported_parameter"},
		{"openai", "/chat/completions", chatBody("gpt-5", `,"max_completion_tokens":5000`), 200, nil, nil},
		{"openai", "/chat/completions", chatBody("gpt-5.6-sol", `,"reasoning_effort":"minimal"`), 400, "reasoning_effort",
			"unsupported_value"},
		{"openai", "/chat/completions", chatBody("gpt-5", `,"reasoning_effort":"minimal"`), 200, nil, nil},
		{"openai", "/chat/completions", chatBody("gpt-4o", `,"reasoning_effort":"low"`), 400, "reasoning_effort", "unsupported_parameter"},
		{"openai", "/chat/completions", chatBody("gpt-4o", `,"temperature":2.5`), 400, "temperature", "decimal_above_max_value"},
		{"openai", "/chat/completions", chatBody("gpt-4o", `,"temperature":0.2,"max_tokens":50`), 200, nil, nil},
		{"openai", "/chat/completions", chatBody("missing-model", ""), 404, nil, "model_not_found"},
		{"openai", "/chat/completions", `{"model":"gpt-4o"}`, 400, "messages", "missing_required_parameter"},
		{"openai", "/responses", resp("gpt-5-pro", `,"reasoning":{"effort":"low"}`), 400, "reasoning.effort", "unsupported_value"},
		{"openai", "/responses", resp("gpt-5", `,"max_tokens":5`), 400, "max_tokens", "unknown_parameter"},
		{"openai", "/responses", resp("gpt-5", `,"reasoning":{"effort":"high"},"store":false`), 200, nil, nil},
		{"generic", "/chat/completions", chatBody("gpt-5", `,"temperature":0.5,"max_tokens":5`), 200, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-opus-4-7", `,"temperature":0.5`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-opus-5", `,"top_k":4`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-sonnet-4-5", `,"temperature":0.5`), 200, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-sonnet-4-5", `,"temperature":1.1`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-sonnet-4-5", `,"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":2000}`),
			400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-sonnet-4-5", `,"thinking":{"type":"enabled","budget_tokens":5000}`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-sonnet-4-5", `,"thinking":{"type":"adaptive"}`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-opus-4-8", `,"thinking":{"type":"adaptive"},"output_config":{"effort":"xhigh"}`),
			200, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-fable-5", `,"thinking":{"type":"disabled"}`), 400, nil, nil},
		{"anthropic", "/v1/messages", claude("claude-opus-4-1-20250805", `,"max_tokens":38000`), 400, nil, nil},
		{"anthropic", "/v1/messages", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"x"}]}`, 400, nil, nil},
		{"gemini", "/v1beta/models/gemini-2.5-pro:generateContent", gem(`{"thinkingConfig":{"thinkingBudget":0}}`), 400, nil, nil},
		{"gemini", "/v1beta/models/gemini-2.5-flash:generateContent", gem(`{"thinkingConfig":{"thinkingBudget":0}}`), 200, nil, nil},
		{"gemini", "/v1beta/models/gemini-3.6-flash:generateContent",
			gem(`{"thinkingConfig":{"thinkingLevel":"LOW","thinkingBudget":100}}`), 400, nil, nil},
		{"gemini", "/v1beta/models/gemini-3.1-pro-preview:generateContent", gem(`{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`),
			400, nil, nil},
	} {
		g := w.do("POST", w.base[c.vendor]+c.path, strings.NewReader(c.body))
		if g.Status != c.status {
			t.Errorf("%s %s: %d %s", c.vendor, c.body, g.Status, g.Body)
			continue
		}
		if c.status != 200 && c.vendor == "openai" {
			diff(t, map[string]any{"error.param": c.param, "error.code": c.code}, g.doc(t).pick("error.param", "error.code"))
		}
	}
}

func TestALiveQuestionAskedAgainGetsAnotherAnswerAndIsBilledAgain(t *testing.T) {
	t.Parallel()
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}`
	var first []string
	for range 2 {
		w := newWorld(t, Options{Seed: 3})
		var texts []string
		for range 3 {
			texts = append(texts, w.json("POST", w.base["openai"]+"/chat/completions", body).str("choices.0.message.content"))
		}
		if texts[0] == texts[1] || texts[1] == texts[2] {
			t.Error("the same answer twice")
		}
		if first != nil {
			diff(t, first, texts)
		}
		first = texts
		sum := sha256.Sum256([]byte(body))
		diff(t, []LedgerLive{{Provider: "openai", Digest: hex.EncodeToString(sum[:16]), Count: 3}}, w.s.Ledger().Live)
	}
}

func TestAnswersCarryTheQualityOfTheirModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Quality: map[string]float64{"good": 80, "poor": 20}})
	mean := map[string]float64{}
	const n = 200
	for _, model := range []string{"good", "poor"} {
		for i := range n {
			text := w.json("POST", w.base["generic"]+"/chat/completions",
				fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"q%d"}]}`, model, i)).str("choices.0.message.content")
			q, ok := minds.ReadCodeWord(text)
			if !ok {
				t.Fatalf("no code word in %q", text)
			}
			mean[model] += float64(q) / n
		}
	}
	for model, want := range map[string]float64{"good": 80, "poor": 20} {
		if math.Abs(mean[model]-want) > 4 {
			t.Errorf("%s: mean quality %.1f, want %.0f", model, mean[model], want)
		}
	}
	for q := range 100 {
		if got, ok := minds.ReadCodeWord("well, velocity. " + minds.CodeWord(q) + "!"); !ok || got != q {
			t.Errorf("code word of %d reads as %d", q, got)
		}
	}
}

func TestOutputLimitsCutAndThinkingCanEatThemWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	cut := w.json("POST", w.base["openai"]+"/chat/completions",
		`{"model":"gpt-4o","max_tokens":10,"messages":[{"role":"user","content":"x"}]}`)
	diff(t, map[string]any{"choices.0.finish_reason": "length", "usage.completion_tokens": 10.0},
		cut.pick("choices.0.finish_reason", "usage.completion_tokens"))
	if n := len(cut.str("choices.0.message.content")); n != 40 {
		t.Errorf("%d bytes of text", n)
	}
	empty := w.json("POST", w.base["openai"]+"/responses", `{"model":"gpt-5","max_output_tokens":20,"input":"x"}`)
	diff(t, map[string]any{"status": "incomplete", "incomplete_details.reason": "max_output_tokens", "output.1": nil,
		"usage.output_tokens_details.reasoning_tokens": 20.0},
		empty.pick("status", "incomplete_details.reason", "output.1", "usage.output_tokens_details.reasoning_tokens"))
	claude := w.json("POST", w.base["anthropic"]+"/v1/messages",
		`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`)
	diff(t, "max_tokens", claude.str("stop_reason"))
	gem := w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-3.6-flash:generateContent",
		`{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":5}}`)
	diff(t, map[string]any{"candidates.0.finishReason": "MAX_TOKENS", "candidates.0.content.parts": nil},
		gem.pick("candidates.0.finishReason", "candidates.0.content.parts"))
	stop := w.json("POST", w.base["openai"]+"/chat/completions",
		`{"model":"gpt-4o","stop":["the"],"messages":[{"role":"user","content":"x"}]}`)
	if strings.Contains(stop.str("choices.0.message.content"), "the") {
		t.Error("a stop sequence did not stop the answer")
	}
}

func TestThoughtsComeApartFromAnswersWhenAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	for _, c := range []struct{ vendor, path, body, thoughts, answer, count string }{
		{"openai", "/responses", `{"model":"gpt-5","input":"x","reasoning":{"effort":"low","summary":"auto"}}`, "output.0.summary.0.text",
			"output.1.content.0.text", "usage.output_tokens_details.reasoning_tokens"},
		{"anthropic", "/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"x"}]}`, "content.0.thinking", "content.1.text", "usage.output_tokens_details.thinking_tokens"},
		{"gemini", "/v1beta/models/gemini-3.6-flash:generateContent",
			`{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`,
			"candidates.0.content.parts.0.text", "candidates.0.content.parts.1.text", "usageMetadata.thoughtsTokenCount"},
		{"deepseek", "/chat/completions", `{"model":"deepseek-reasoner","messages":[{"role":"user","content":"x"}]}`,
			"choices.0.message.reasoning_content", "choices.0.message.content", "usage.completion_tokens_details.reasoning_tokens"},
		{"groq", "/openai/v1/chat/completions", `{"model":"openai/gpt-oss-120b","messages":[{"role":"user","content":"x"}]}`,
			"choices.0.message.reasoning", "choices.0.message.content", "usage.completion_tokens_details.reasoning_tokens"},
		{"mistral", "/v1/chat/completions", `{"model":"magistral-small","messages":[{"role":"user","content":"x"}]}`,
			"choices.0.message.content.0.thinking.0.text", "choices.0.message.content.1.text",
			"usage.completion_tokens_details.reasoning_tokens"},
		{"openrouter", "/chat/completions", `{"model":"m","reasoning":{"effort":"low"},"messages":[{"role":"user","content":"x"}]}`,
			"choices.0.message.reasoning", "choices.0.message.content", "usage.completion_tokens_details.reasoning_tokens"},
		{"ollama", "/api/chat", `{"model":"m","think":true,"messages":[{"role":"user","content":"x"}]}`, "message.thinking",
			"message.content", "eval_count"},
	} {
		d := w.json("POST", w.base[c.vendor]+c.path, c.body)
		if d.str(c.thoughts) == "" || d.str(c.answer) == "" || d.at(c.count) == nil || d.at(c.count).(float64) < 1 {
			t.Errorf("%s: %v", c.vendor, d)
		}
		if strings.Contains(d.str(c.answer), "Let me think") {
			t.Errorf("%s: thoughts are in the answer", c.vendor)
		}
	}
}

func TestALongPrefixIsReadFromTheCacheTheSecondTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	long := strings.Repeat("A long shared context. ", 500)
	ask := func(q string) doc {
		return w.json("POST", w.base["openai"]+"/chat/completions",
			`{"model":"gpt-5.6","messages":[{"role":"system","content":"`+long+`"},{"role":"user","content":"`+q+`"}]}`)
	}
	first, second := ask("one"), ask("two")
	diff(t, map[string]any{"usage.prompt_tokens_details.cached_tokens": 0.0, "usage.prompt_tokens_details.cache_write_tokens": 2048.0},
		first.pick("usage.prompt_tokens_details.cached_tokens", "usage.prompt_tokens_details.cache_write_tokens"))
	diff(t, 2048.0, second.at("usage.prompt_tokens_details.cached_tokens"))
	w.clock.Advance(time.Hour)
	diff(t, 0.0, ask("three").at("usage.prompt_tokens_details.cached_tokens"))
	diff(t, 0.0, w.as("other").json("POST", w.base["openai"]+"/chat/completions",
		`{"model":"gpt-5.6","messages":[{"role":"system","content":"`+long+
			`"},{"role":"user","content":"x"}]}`).at("usage.prompt_tokens_details.cached_tokens"))
	var all strings.Builder
	for i := range 5 {
		fmt.Fprintf(&all, `{"custom_id":"c%d","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"system","content":"%s"},{"role":"user","content":"q%d"}]}}`+"\n", i, long, i)
	}
	hits := 0
	for _, l := range lines(t, w.openAIContent(w.openAIBatch(w.openAIBatchOf(all.String())).str("output_file_id"))) {
		if l.at("response.body.usage.prompt_tokens_details.cached_tokens") == 2048.0 {
			hits++
		}
	}
	diff(t, 4, hits)
}

func TestAnswersFitTheirSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	for i, schema := range []string{
		`{"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":2},"label":{"enum":["a","b"]},"why":{"type":"string"}},"required":["score","label","why"],"additionalProperties":false}`,
		`{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number","minimum":-1,"maximum":1},"ok":{"type":"boolean"}},"required":["x","ok"]},"minItems":2,"maxItems":3}},"required":["list"]}`,
		`{"$defs":{"node":{"type":"object","properties":{"name":{"type":"string","maxLength":10},"child":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["name","child"]}},"$ref":"#/$defs/node"}`,
		`{"type":["string","null"]}`,
		`{"anyOf":[{"type":"null"},{"const":7}]}`,
	} {
		c := jsonschema.NewCompiler()
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("s.json", parsed); err != nil {
			t.Fatal(err)
		}
		s := c.MustCompile("s.json")
		for n := range 20 {
			text := w.json("POST", w.base["openai"]+"/responses", fmt.Sprintf(
				`{"model":"gpt-4.1","input":"q%d","text":{"format":{"type":"json_schema","name":"s","strict":true,"schema":%s}}}`, n,
				schema)).str("output.0.content.0.text")
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatalf("schema %d: %q: %v", i, text, err)
			}
			if i == 2 {
				continue // a schema that never ends is cut off where it is deepest
			}
			if err := s.Validate(v); err != nil {
				t.Errorf("schema %d: %q: %v", i, text, err)
			}
		}
	}
	gem := w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-2.0-flash:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"ok":{"type":"BOOLEAN"}}}}}`)
	if text := gem.str("candidates.0.content.parts.0.text"); text != `{"ok":true}` && text != `{"ok":false}` {
		t.Errorf("Gemini's own schema: %q", text)
	}
}

func TestLiveCallsAreLimitedByTheMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Limits: backend.Limits{Requests: 2, Tokens: 1000}})
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]}`
	call := func(v string, path string, b string) got { return w.do("POST", w.base[v]+path, strings.NewReader(b)) }
	g := call("openai", "/chat/completions", body)
	diff(t, []string{"2", "1", "1m0s"}, []string{g.Header.Get("X-Ratelimit-Limit-Requests"), g.Header.Get("X-Ratelimit-Remaining-Requests"),
		g.Header.Get("X-Ratelimit-Reset-Requests")})
	w.clock.Advance(20 * time.Second)
	wantStatus(t, call("openai", "/chat/completions", body), 200)
	g = call("openai", "/chat/completions", body)
	wantStatus(t, g, 429)
	diff(t, "40", g.Header.Get("Retry-After"))
	wantStatus(t, w.as("other").do("POST", w.base["openai"]+"/chat/completions", strings.NewReader(body)), 200)
	w.clock.Advance(40 * time.Second)
	wantStatus(t, call("openai", "/chat/completions", body), 200)
	g = call("anthropic", "/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":2000,"messages":[{"role":"user","content":"x"}]}`)
	wantStatus(t, g, 429) // more tokens than a minute has
	diff(t, "2026-11-15T12:02:00Z", g.Header.Get("Anthropic-Ratelimit-Requests-Reset"))
	diff(t, 4, w.s.Ledger().Live[0].Count) // one body, both keys; what did not fit is not billed
	diff(t, 1, len(w.s.Ledger().Live))
}

func TestOtherLiveCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	e := w.json("POST", w.base["openai"]+"/embeddings", `{"model":"text-embedding-3-small","input":["a","b"],"dimensions":8}`)
	diff(t, []any{2, 8}, []any{len(e.at("data").([]any)), len(e.at("data.0.embedding").([]any))})
	diff(t, 8, len(w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-embedding-001:embedContent",
		`{"content":{"parts":[{"text":"a"}]},"outputDimensionality":8}`).at("embedding.values").([]any)))
	diff(t, 2, len(w.json("POST", w.base["gemini"]+"/v1beta/models/e:batchEmbedContents",
		`{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`).at("embeddings").([]any)))
	if n := w.json("POST", w.base["anthropic"]+"/v1/messages/count_tokens",
		`{"model":"claude-opus-5","messages":[{"role":"user","content":"four letters"}]}`).at("input_tokens").(float64); n < 3 {
		t.Errorf("%v tokens", n)
	}
	if n := w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-2.5-pro:countTokens",
		`{"contents":[{"parts":[{"text":"four letters"}]}]}`).at("totalTokens").(float64); n < 3 {
		t.Errorf("%v tokens", n)
	}
	d := w.json("POST", w.base["deepseek"]+"/v1/chat/completions", `{"model":"deepseek-chat","messages":[{"role":"user","content":"x"}]}`)
	diff(t, d.at("usage.prompt_tokens"),
		any(d.at("usage.prompt_cache_hit_tokens").(float64)+d.at("usage.prompt_cache_miss_tokens").(float64)))
	for base, want := range map[string]map[string]any{
		w.base["openai"]:              {"service_tier": "default", "prompt": nil},
		w.base["groq"] + "/openai/v1": {"service_tier": "on_demand", "prompt": nil},
		w.base["together"]:            {"service_tier": "default", "prompt": []any{}},
	} {
		diff(t, want, w.json("POST", base+"/chat/completions",
			`{"model":"gpt-oss-120b","messages":[{"role":"user","content":"x"}]}`).pick("service_tier", "prompt"))
	}
	o := w.json("POST", w.base["ollama"]+"/api/chat",
		`{"model":"llama3","stream":false,"format":"json","messages":[{"role":"user","content":"x"}]}`, "Authorization", "")
	diff(t, map[string]any{"done": true, "done_reason": "stop"}, o.pick("done", "done_reason"))
	if !json.Valid([]byte(o.str("message.content"))) {
		t.Errorf("not JSON: %q", o.str("message.content"))
	}
	for _, url := range []string{w.base["openai"] + "/models/gpt-5", w.base["anthropic"] + "/v1/models/claude-opus-5",
		w.base["gemini"] + "/v1beta/models/gemini-2.5-pro", w.base["openrouter"] + "/models/a/b"} {
		wantStatus(t, w.do("GET", url, nil), 200)
		wantStatus(t, w.do("GET", strings.TrimSuffix(url, url[strings.LastIndex(url, "/")+1:])+"missing-1", nil), 404)
	}
}

func TestALiveCallIsBilledThoughItsClientWentAway(t *testing.T) {
	t.Parallel()
	rule, err := ParseRule("openai ask slow=1h")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{"latency": {Latency: time.Hour}, "slow": {Faults: []fault.Rule{rule}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Dir = t.TempDir()
			sim, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer sim.Close()
			web := httptest.NewServer(sim)
			defer web.Close()
			ctx, hangUp := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", sim.BaseURLs(web.URL)["openai"]+"/responses",
				strings.NewReader(`{"model":"gpt-4o","input":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer k")
			gone := make(chan error, 1)
			go func() {
				_, err := http.DefaultClient.Do(req)
				gone <- err
			}()
			look := time.NewTicker(5 * time.Millisecond)
			defer look.Stop()
			for len(sim.Ledger().Live) == 0 {
				select {
				case <-look.C:
				case err := <-gone:
					t.Fatal(err)
				case <-time.After(time.Minute):
					t.Fatal("it is not billed before the answer")
				}
			}
			hangUp()
			if err := <-gone; err == nil {
				t.Error("it was answered")
			}
			if live := sim.Ledger().Live; len(live) != 1 || live[0].Count != 1 {
				t.Errorf("billed are %v", live)
			}
		})
	}
}
