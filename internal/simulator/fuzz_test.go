package simulator

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"assay/internal/simulator/clocktest"
)

// Whatever is sent, the simulator answers with a status of its own and never with its own trouble.
func FuzzBodies(f *testing.F) {
	paths := []string{
		"/openai/v1/chat/completions", "/openai/v1/responses", "/openai/v1/embeddings", "/openai/v1/batches", "/anthropic/v1/messages",
		"/anthropic/v1/messages/batches", "/gemini/v1beta/models/m:generateContent", "/gemini/v1beta/models/m:batchGenerateContent",
		"/ollama/api/chat", "/mistral/v1/batch/jobs", "/openrouter/api/v1/batches", "/together/v1/batches",
		"/vertex/v1/projects/p/locations/l/batchPredictionJobs", "/fireworks/v1/accounts/a/datasets", "/xai/v1/batches",
		"/deepseek/chat/completions",
	}
	seeds := []string{
		`{}`, `[]`, `{"requests":[`, `{"requests":[{}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}],"max_tokens":1e99}`, messageBatch(2),
		openRouterDoc(bareLines(2)), `{"model":"m","input":{"a":1}}`,
		`{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseSchema":{"type":"OBJECT","properties":{"a":{"$ref":"#"}}}}}`,
		vertexCreate("a", "b"), `{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"contents":[{"parts":[{}]}]}}]}}}}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"integer","minimum":9e18,"maximum":-1}}}}`,
	}
	for i := range paths {
		for _, s := range seeds {
			f.Add(uint8(i), s)
		}
	}
	s, err := New(Options{Dir: f.TempDir(), Clock: clocktest.New(epoch)})
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
