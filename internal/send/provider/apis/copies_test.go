package apis

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
)

// The facts below are of vendors that copied OpenAI's API, each with a difference or two.

func TestCopiesHaveWordsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, body string
		want       provider.State
		known      bool // its counts
		parts      int
	}{
		{"siliconflow", `{"id":"b","status":"in_queue","request_counts":{"total":3,"completed":0,"failed":0}}`,
			provider.StateQueued, true, 0},
		{"deepinfra", `{"id":"b","status":"validating","request_counts":null}`, provider.StateQueued, false, 0},
		{"deepinfra", `{"id":"b","status":"completed","request_counts":{"total":3,"completed":3,"failed":0},"output_file_id":"b_output","error_file_id":"b_error"}`, provider.StateEnded, true, 2},
		{"novita", `{"id":"b","status":"COMPLETED","created_at":"2026-11-15T10:00:00Z","errors":"","output_file_id":"f","error_file_id":"","request_counts":{"total":3,"completed":3,"failed":0}}`, provider.StateEnded, true, 1},
		{"novita", `{"id":"b","status":"PROGRESS","created_at":"2026-11-15T10:00:00Z"}`, provider.StateRunning, false, 0},
		{"parasail", `{"id":"b","status":"in_progress","expires_at":null}`, provider.StateRunning, false, 0},
		{catalog.Compatible, `{"id":"b","status":"cancelling"}`, provider.StateEnding, false, 0},
	} {
		a := open(t, c.kind, func(*http.Request) *http.Response { return answer(200, c.body) })
		st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"})
		if err != nil || st.State != c.want || st.Counts.Known != c.known || len(st.Parts) != c.parts || st.Fault != nil {
			t.Errorf("%s %s: %+v, %v", c.kind, c.body, st, err)
		}
		if strings.Contains(c.body, "2026") && !st.Created.Equal(time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: created at %s", c.kind, st.Created)
		}
	}
}

func TestCopiesWriteResultLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	const body = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	wire := assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI}
	for _, c := range []struct {
		kind, line string
		want       assay.Ending
	}{
		{"siliconflow", `{"custom_id":"x","response":{"body":` + body + `},"trace_id":"t"}`, assay.Answered},
		{catalog.Compatible, `{"custom_id":"x","response":{"status_code":400,"body":{"error":{"message":"no","type":"invalid_request_error"}}},"error":null}`, assay.Rejected},
		{catalog.Compatible, `{"custom_id":"x","response":null,"error":{"code":"batch_expired","message":"m"}}`, assay.Expired},
		{"deepinfra", `{"custom_id":"x","response":null,"error":{"code":"400","message":"m","type":null}}`, assay.Rejected},
	} {
		got := decoded(t, c.kind, wire, c.line)
		if got.CustomID != "x" || got.Malformed || got.Outcome.Ending != c.want {
			t.Errorf("%s: %+v", c.line, got)
		}
	}
}

func TestParasailsFilesLieElsewhere(t *testing.T) {
	t.Parallel()
	const lines = "{\"custom_id\":\"x\"}\n"
	a := open(t, "parasail", func(r *http.Request) *http.Response {
		key := strings.Contains(fmt.Sprint(r.Header), testKey)
		switch {
		case r.URL.Host == "storage.example" && !key:
			return answer(200, lines)
		case strings.HasSuffix(r.URL.Path, "/files/f/content") && key:
			resp := answer(302, "")
			resp.Header.Set("Location", "https://storage.example/signed?x=1")
			return resp
		}
		return answer(404, `{"error":{"message":"no"}}`)
	})
	var got bytes.Buffer
	if err := a.Batch.Fetch(context.Background(), provider.Job{ID: "b"},
		provider.Part{Name: "results", Kind: provider.PartResults, Ref: "f"}, provider.Fresh(&got)); err != nil || got.String() != lines {
		t.Errorf("%q, %v", got.String(), err)
	}
	for where, header := range map[string]string{"nowhere": "", "a place without TLS": "http://storage.example/x"} {
		a := open(t, "parasail", func(*http.Request) *http.Response {
			resp := answer(302, "")
			resp.Header.Set("Location", header)
			return resp
		})
		if err := a.Batch.Fetch(context.Background(), provider.Job{ID: "b"}, provider.Part{Ref: "f"},
			provider.Fresh(&bytes.Buffer{})); err == nil {
			t.Errorf("a redirect to %s was followed", where)
		}
	}
}

// TestRowsSayWhatCopiesWrite reads from the catalogue what goes out: the window, and the address in a line.
func TestRowsSayWhatCopiesWrite(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	for kind, want := range map[string]string{"novita": "48h /v1/chat/completions", "zhipu": "24h /v4/chat/completions",
		catalog.Compatible: "24h /v1/chat/completions"} {
		v, _ := c.Vendor(kind)
		w := c.Wire(assay.Lane{Provider: kind, Model: "m"}, kind, assay.ModeBatch)
		diff(t, want, window(v.Limits)+" "+w.URL)
	}
}

// TestAnEmptyErrorFileIsWhole fetches what DeepInfra has if no request failed: a file of no bytes, of no announced length.
func TestAnEmptyErrorFileIsWhole(t *testing.T) {
	t.Parallel()
	a := open(t, "deepinfra", func(r *http.Request) *http.Response {
		resp := answer(200, "")
		if !strings.HasSuffix(r.URL.Path, "/content") {
			resp = answer(200, `{"id":"b_error","object":"file","bytes":0}`)
		}
		resp.ContentLength = -1
		return resp
	})
	var got bytes.Buffer
	if err := a.Batch.Fetch(context.Background(), provider.Job{ID: "b"},
		provider.Part{Name: "errors", Kind: provider.PartErrors, Ref: "b_error"}, provider.Fresh(&got)); err != nil || got.Len() != 0 {
		t.Errorf("%q, %v", got.String(), err)
	}
}
