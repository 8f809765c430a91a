package wire

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"
)

// Whatever lines a batch has, every vendor finds them wrong or answers them.
func FuzzBatchLines(f *testing.F) {
	f.Add(uint8(0),
		`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"x"}]}}`)
	f.Add(uint8(1), `{"custom_id":"a","body":{"messages":[{"role":"user","content":"x"}]}}`+"\n"+`{"custom_id":"b","body":{"messages":[]}}`)
	f.Add(uint8(2), `{"key":"a","request":{"contents":[{"role":"user","parts":[{"text":"x"}]}]}}`)
	f.Add(uint8(3), `{"request":{"labels":{"id":"a"},"contents":[{"role":"user","parts":[{"text":"x"}]}]}}`)
	f.Add(uint8(4),
		`{"batch_request_id":"a","batch_request":{"chat_get_completion":{"model":"m","messages":[{"role":"user","content":"x"}]}}}`)
	f.Add(uint8(5), `{"custom_id":"a","params":{"model":"claude-m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}}`)
	f.Add(uint8(4), "\n\n{}\r\n[]\n\"x\"\n{\"custom_id\":1}\n")
	v := openAIVendor()
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	s, err := backend.New(backend.Settings{
		Dir: f.TempDir(), Now: func() time.Time { return at }, Faults: fault.NewBook(0, nil, at), Rules: rules.Families{},
		Responder: minds.Writer{},
	}, []*backend.Vendor{v})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, at uint8, content string) {
		formats := []backend.Format{
			openAIFormat{endpoint: "/v1/chat/completions", dialect: bodies.Chat{}}, bareFormat{dialect: mistralChat(), shape: mistralError},
			geminiFormat{}, vertexFormat{shards: 2}, xaiFormat{xaiWrapped{}}, anthropicFormat{}, fireworksFormat{model: "m"},
			openRouterFormat{model: "m"},
		}
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(content))
		c := s.NewCall(v, fault.Create, w, r)
		data, err := c.Disk().Save("in", r.Body, 0)
		if err != nil {
			t.Fatal(err)
		}
		job, ok := c.Launch(backend.Draft{NewID: dice.UUID, Format: formats[int(at)%len(formats)], Data: data})
		if !ok {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for file := range 2 {
			if _, err := c.Results(job, file); err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range job.IDs(func(line int) bool { return job.Billed(line, job.At(c.Now)) }) {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
