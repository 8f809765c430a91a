package simulator

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"assay"
	"assay/judge"
)

// Whatever is sent, the simulator answers with a status of its own and never with its own trouble.
func FuzzBodies(f *testing.F) {
	paths := []string{
		"/openai/v1/chat/completions", "/openai/v1/responses", "/openai/v1/embeddings", "/openai/v1/batches", "/anthropic/v1/messages",
		"/anthropic/v1/messages/batches", "/gemini/v1beta/models/m:generateContent", "/gemini/v1beta/models/m:batchGenerateContent", "/ollama/api/chat",
		"/mistral/v1/batch/jobs", "/openrouter/api/v1/batches", "/together/v1/batches", "/vertex/v1/projects/p/locations/l/batchPredictionJobs",
		"/fireworks/v1/accounts/a/datasets", "/xai/v1/batches", "/deepseek/chat/completions",
	}
	seeds := []string{
		`{}`, `[]`, `{"requests":[`, `{"requests":[{}]}`, `{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}],"max_tokens":1e99}`, messageBatch(2),
		openRouterDoc(bareLines(2)), `{"model":"m","input":{"a":1}}`, `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseSchema":{"type":"OBJECT","properties":{"a":{"$ref":"#"}}}}}`,
		vertexCreate("a", "b"), `{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"contents":[{"parts":[{}]}]}}]}}}}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"integer","minimum":9e18,"maximum":-1}}}}`,
	}
	for i := range paths {
		for _, s := range seeds {
			f.Add(uint8(i), s)
		}
	}
	s, err := New(Options{Dir: f.TempDir(), Clock: NewManual(epoch)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	client := &http.Client{Transport: s.Transport()}
	f.Fuzz(func(t *testing.T, at uint8, body string) {
		req, err := http.NewRequest("POST", "http://sim.invalid"+paths[int(at)%len(paths)], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer k"}, "Anthropic-Version": {"2023-06-01"}}
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s %q: %v", req.URL.Path, body, err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 500 {
			t.Fatalf("%s %q: %d %s %v", req.URL.Path, body, res.StatusCode, b, err)
		}
	})
}

func FuzzBatchLines(f *testing.F) {
	f.Add(uint8(0), chatLines(2))
	f.Add(uint8(1), bareLines(2, noMessages))
	f.Add(uint8(2), geminiLines(2))
	f.Add(uint8(3), vertexLines(2))
	f.Add(uint8(4), "\n\n{}\r\n[]\n\"x\"\n{\"custom_id\":1}\n")
	f.Add(uint8(5), messageBatch(1))
	s, err := New(Options{Dir: f.TempDir(), Clock: NewManual(epoch)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, at uint8, content string) {
		formats := []format{
			openAIFormat{endpoint: "/v1/chat/completions", dialect: chat{}}, bareFormat{dialect: mistralChat(), shape: mistralError}, geminiFormat{},
			vertexFormat{shards: 2}, xaiFormat{xaiWrapped{}}, anthropicFormat{}, fireworksFormat{model: "m"}, openRouterFormat{model: "m"},
		}
		data, err := s.spill.save("in", strings.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		c := &call{s: s, v: openAIVendor(), account: "a", now: epoch}
		j, _, err := c.submit(draft{newID: uuid, format: formats[int(at)%len(formats)], data: data})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.settle(j, epoch); err != nil {
			t.Fatal(err)
		}
		if err := s.writeLedgerJob(bufio.NewWriter(io.Discard), j); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever a judge is shown and asked for, it replies, and where a schema is given, with JSON.
func FuzzJudges(f *testing.F) {
	shown := judge.Fence(assay.Key{1}, written(40)) + "\n" + judge.Fence(assay.Key{2}, written(60))
	for _, ask := range []string{
		"<T>A</T> or <T>B</T>", "Model: A|B|equal", `{"score": 0, 1 or 2, "l": "no_flip", "soft_flip" or "explicit_flip"}`, `{"c": true or false, "p": a number from 0 (x) to 1}`,
		`{"a`, `{"a": "b|c"}{`, "", "from 5 to 1e999", "[[DATA a: b]]\n[[END", `{"x": -, "y": 1e400, 00}`,
	} {
		f.Add(shown+ask, "")
		f.Add(ask+shown, `{"type":"object","properties":{"a":{"enum":[1,2,null]},"b":{"type":"integer","minimum":1e300},"c":{"type":"number"},"d":{"type":"boolean"},"e":{"$ref":"#"}}}`)
	}
	f.Fuzz(func(t *testing.T, prompt, schema string) {
		q := &Question{Messages: []assay.Message{{Role: assay.RoleUser, Text: prompt}}, Draw: hashString(0, prompt)}
		if json.Valid([]byte(schema)) && strings.HasPrefix(schema, "{") {
			q.Schema = []byte(schema)
		}
		a, ok := Judges{Noise: 5}.judge(q)
		again, _ := Judges{Noise: 5}.judge(q)
		if a != again || a.Refused || ok && a.Text == "" {
			t.Fatalf("%q, then %q", a.Text, again.Text)
		}
		if ok && q.Schema != nil && !json.Valid([]byte(a.Text)) {
			t.Fatalf("not JSON: %s", a.Text)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, t := range []string{"openai create drop-reply once", "* ask 429=30s 20%", "gemini fetch truncate=10% x3 after=2", "a b c", "openai check state= for=1s", "openai create 500 x"} {
		f.Add(t)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q reads as %q, %v", text, again, err)
		}
	})
}
