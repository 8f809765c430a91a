package apis

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

const (
	manyLines = 5000 // of some 10 KB each
	allowed   = 16 << 20
)

// peak watches the heap while bytes go by.
type peak struct {
	base, most uint64
	bytes      int64
}

func newPeak() *peak {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return &peak{base: m.HeapAlloc}
}

func (p *peak) Write(b []byte) (int, error) {
	const every = 4 << 20
	if p.bytes/every != (p.bytes+int64(len(b)))/every {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.most = max(p.most, m.HeapAlloc-min(p.base, m.HeapAlloc))
	}
	p.bytes += int64(len(b))
	return len(b), nil
}

// resultStream makes result lines on the fly, alone or as the elements of a document.
func resultStream(open, line, between, end string) io.Reader {
	text := strings.Repeat("word ", 2000)
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, open)
		for i := range manyLines {
			if i > 0 {
				_, _ = io.WriteString(w, between)
			}
			_, _ = fmt.Fprintf(w, line, i, text)
		}
		_, err := io.WriteString(w, end)
		w.CloseWithError(err)
	}()
	return r
}

const (
	openAILine = `{"custom_id":"c%d","response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"content":"%s"}}]}}}`
	xaiLine    = `{"batch_request_id":"c%d","batch_result":{"response":{"chat_get_completion":{"choices":[{"finish_reason":"stop","message":{"content":"%s"}}]}}}}`
	claudeLine = `{"custom_id":"c%d","result":{"type":"succeeded","message":{"content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn"}}}`
)

func TestMemoryDoesNotGrowWithTheResults(t *testing.T) { // alone: it looks at the heap
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for kind, stream := range map[string]func() io.Reader{
		"openai":     func() io.Reader { return resultStream("", openAILine, "\n", "\n") },
		"anthropic":  func() io.Reader { return resultStream("", claudeLine, "\n", "\n") },
		"xai":        func() io.Reader { return resultStream(`{"results":[`, xaiLine, ",", `],"pagination_token":null}`) },
		"openrouter": func() io.Reader { return resultStream(`{"id":"b","results":[`, openAILine, ",\n  ", `]}`) },
	} {
		a := open(t, kind, func(*http.Request) *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(stream())}
		})
		carrier := assay.CarrierOpenAI
		d := assay.DialectChat
		if kind == "anthropic" {
			carrier, d = assay.CarrierAnthropic, assay.DialectMessages
		}
		job := provider.Job{ID: "b", Wire: assay.Wire{Carrier: carrier, Dialect: d}}
		part := provider.Part{Name: "results", Ref: "f"}
		if kind == "openai" { // or it would ask for the size
			var n countBytes
			_, _ = io.Copy(&n, stream())
			part.Size = int64(n)
		}
		p := newPeak()
		r, w := io.Pipe()
		go func() {
			w.CloseWithError(a.Batch.Fetch(context.Background(), job, part, provider.Fresh(io.MultiWriter(p, w))))
		}()
		lines := 0
		for line, err := range a.Batch.Decode(job, part, r) {
			if err != nil || line.Outcome.Ending != assay.Answered {
				t.Fatalf("%s: line %d: %+v, %v", kind, lines, line, err)
			}
			lines++
		}
		t.Logf("%s: %d MB through %d MB", kind, p.bytes>>20, p.most>>20)
		if lines != manyLines || p.most > allowed {
			t.Errorf("%s: %d lines and %d MB came through %d MB of memory", kind, lines, p.bytes>>20, p.most>>20)
		}
	}
}

type countBytes int64

func (c *countBytes) Write(p []byte) (int, error) { *c += countBytes(len(p)); return len(p), nil }

func TestMemoryDoesNotGrowWithTheUpload(t *testing.T) { // alone: it looks at the heap
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const size = 128 << 20
	body := provider.Source{Size: size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(spaces{}, size)), nil
	}}
	stamp := provider.Stamp{Run: "r", Segment: "s", SHA256: strings.Repeat("0", 64)}
	for kind, h := range map[string]provider.Handle{
		"openai": "", "mistral": "", "gemini": `{"session":"https://x/u"}`, "vertex": `{"session":"https://x/u"}`, "anthropic": "",
	} {
		p := newPeak()
		a, err := Open(provider.Config{
			Kind: kind, BaseURL: "https://api.example", Project: "p", Location: "l", Input: "gs://b/i", Output: "gs://b/o",
			Key: provider.NewSecret(testKey), HTTP: reading{p},
		})
		if err != nil {
			t.Fatal(err)
		}
		input := provider.BatchInput{Stamp: stamp, Body: body, Count: 1}
		if kind == "anthropic" {
			a.Batch.Launch(context.Background(), input, "")
		} else {
			_, _, _ = a.Batch.Prepare(context.Background(), input, h)
		}
		if p.bytes < size || p.most > allowed {
			t.Errorf("%s: %d MB went out through %d MB of memory", kind, p.bytes>>20, p.most>>20)
		}
	}
}

// reading is a network that reads every body and answers with success.
type reading struct{ p *peak }

func (n reading) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(n.p, r.Body); err != nil {
			return nil, err
		}
	}
	resp := answer(200, `{"id":"f","file":{"name":"files/f","state":"ACTIVE"}}`)
	if r.ContentLength <= 0 && r.Method == http.MethodPut {
		resp = answer(http.StatusPermanentRedirect, "")
	}
	resp.Header.Set("X-Goog-Upload-Status", "active")
	resp.Header.Set("X-Goog-Upload-Size-Received", "0")
	resp.Request = r
	return resp, nil
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
