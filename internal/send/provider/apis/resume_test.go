package apis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// recorder is a network that keeps what was sent.
type recorder struct {
	calls  []string
	answer func(*http.Request) *http.Response
}

func (n *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	n.calls = append(n.calls, strings.TrimSpace(fmt.Sprintf("%s %s %s%s%s %s", r.Method, r.URL.RequestURI(),
		r.Header.Get("X-Goog-Upload-Command"), r.Header.Get("X-Goog-Upload-Offset"), r.Header.Get("Content-Range"), body)))
	resp := n.answer(r)
	resp.Request = r
	return resp, nil
}

func (n *recorder) open(t *testing.T, kind string) provider.Provider {
	t.Helper()
	cfg := config(kind, nil)
	cfg.HTTP = n
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a.Batch
}

func inputOf(text string) provider.BatchInput {
	return provider.BatchInput{
		Stamp: provider.Stamp{Run: "r", Segment: "s", SHA256: strings.Repeat("0", 64)}, Count: 1,
		Body: provider.Source{Size: int64(len(text)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}},
	}
}

func TestAGeminiUploadGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	n := &recorder{answer: func(r *http.Request) *http.Response {
		resp := answer(200, "")
		if r.Header.Get("X-Goog-Upload-Command") != "query" {
			resp = answer(200, `{"file":{"name":"files/x","state":"PROCESSING","sizeBytes":"10"}}`)
		}
		resp.Header.Set("X-Goog-Upload-Status", "active")
		resp.Header.Set("X-Goog-Upload-Size-Received", "4")
		return resp
	}}
	h, ready, err := n.open(t, "gemini").Prepare(context.Background(), inputOf("0123456789"),
		`{"session":"https://elsewhere.example/up?upload_id=7"}`)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, []string{"POST /up?upload_id=7 query", "POST /up?upload_id=7 upload, finalize4 456789"}, n.calls)
	diff(t, []string{`{"file":"files/x"}`, string(provider.Later)}, []string{string(h), string(ready)})
}

func TestAGeminiUploadThatIsOverIsLookedAt(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{"final": `{"file":"files/` + inputOf("").Stamp.Short() + `"} again`,
		"cancelled": "{} later", "": "{} later"} {
		n := &recorder{answer: func(*http.Request) *http.Response {
			resp := answer(200, "")
			resp.Header.Set("X-Goog-Upload-Status", status)
			return resp
		}}
		h, ready, err := n.open(t, "gemini").Prepare(context.Background(), inputOf("x"), `{"session":"https://x/up"}`)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, want, string(h)+" "+string(ready))
	}
}

func TestAGeminiFileOfAnotherSizeMakesRoom(t *testing.T) {
	t.Parallel()
	n := &recorder{answer: func(*http.Request) *http.Response {
		return answer(200, `{"name":"files/x","state":"ACTIVE","sizeBytes":"9"}`)
	}}
	h, ready, err := n.open(t, "gemini").Prepare(context.Background(), inputOf("0123456789"), `{"file":"files/x"}`)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, []string{"GET /v1beta/files/x", "DELETE /v1beta/files/x"}, n.calls)
	diff(t, "{} later", string(h)+" "+string(ready))
}

func TestAnUploadToABucketGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	n := &recorder{answer: func(r *http.Request) *http.Response {
		if strings.Contains(r.Header.Get("Content-Range"), "*") {
			resp := answer(308, "")
			resp.Header.Set("Range", "bytes=0-3")
			return resp
		}
		return answer(200, `{}`)
	}}
	p := inputOf("0123456789")
	h, ready, err := n.open(t, "vertex").Prepare(context.Background(), p, `{"session":"https://elsewhere.example/up?upload_id=7"}`)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, []string{"PUT /up?upload_id=7 bytes */10", "PUT /up?upload_id=7 bytes 4-9/10 456789"}, n.calls)
	diff(t, `{"uri":"gs://b/in/`+p.Stamp.Name()+`.jsonl","ready":true} ready`, string(h)+" "+string(ready))
}

func TestATogetherFileThatWasCutIsUploadedAgain(t *testing.T) {
	t.Parallel()
	n := &recorder{answer: func(*http.Request) *http.Response { return answer(200, `{"id":"f","bytes":7}`) }}
	h, _, err := n.open(t, "together").Prepare(context.Background(), inputOf("0123456789"), `{"file":"f"}`)
	if f := provider.FaultOf(err); f == nil || f.Code != "truncated" || h != anew {
		t.Errorf("handle %s, %v", h, err)
	}
}

func TestResultsThatComeInPagesAreAllFetched(t *testing.T) {
	t.Parallel()
	n := &recorder{answer: func(r *http.Request) *http.Response {
		if r.URL.Query().Get("pagination_token") == "" {
			return answer(200, `{"results":[{"batch_request_id":"a"},{"batch_request_id":"b"}],"pagination_token":"p2"}`)
		}
		return answer(200, `{"results":[{"batch_request_id":"c"}],"pagination_token":null}`)
	}}
	var into bytes.Buffer
	if err := n.open(t, "xai").Fetch(context.Background(), provider.Job{ID: "b"}, provider.Part{Name: "results"},
		provider.Fresh(&into)); err != nil {
		t.Fatal(err)
	}
	diff(t, "{\"batch_request_id\":\"a\"}\n{\"batch_request_id\":\"b\"}\n{\"batch_request_id\":\"c\"}\n", into.String())
}

func TestAGeminiBatchThatSucceededIsEndingUntilItsResultsShow(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]struct {
		state provider.State
		ref   string
	}{
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED"}}`: {
			provider.StateEnding, ""},
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED","output":{"responsesFile":"files/a"}}}`: {
			provider.StateEnded, "files/a"},
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED"},"response":{"responsesFile":"files/b"}}`: {
			provider.StateEnded, "files/b"},
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED"},"response":{"inlinedResponses":{}}}`: {
			provider.StateEnded, inlinePart},
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_EXPIRED"},"error":{"code":4,"message":"too late"}}`: {
			provider.StateExpired, ""},
		`{"name":"batches/1","metadata":{"state":"JOB_STATE_RUNNING","batchStats":{"requestCount":"3"}},"response":{}}`: {
			provider.StateRunning, ""},
	} {
		var op geminiOperation
		if err := json.Unmarshal([]byte(doc), &op); err != nil {
			t.Fatal(err)
		}
		st := op.status()
		ref := ""
		if len(st.Parts) > 0 {
			ref = st.Parts[0].Ref
		}
		if st.State != want.state || ref != want.ref {
			t.Errorf("%s: %s, %q", doc, st.State, ref)
		}
	}
}

// TestAnExpiredGeminiBatchCountsNothingAsDone: what it answered before its time ran out is never handed out, and is not waited for.
func TestAnExpiredGeminiBatchCountsNothingAsDone(t *testing.T) {
	t.Parallel()
	var op geminiOperation
	if err := json.Unmarshal([]byte(`{"name":"batches/1","metadata":{"state":"BATCH_STATE_EXPIRED","batchStats":{"requestCount":"4",
		"successfulRequestCount":"2","pendingRequestCount":"2"}},"error":{"code":4,"message":"too late"}}`), &op); err != nil {
		t.Fatal(err)
	}
	diff(t, provider.Counts{Known: true, Total: 4, Expired: 4}, op.status().Counts)
}

func TestResultsInsideAGeminiOperationAreCopiedOut(t *testing.T) {
	t.Parallel()
	const results = `{"inlinedResponses":[
		{"metadata":{"key":"a"},"response":{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}]}},
		{"metadata":{"key":"b"},"error":{"code":3,"message":"bad"}}]}`
	n := &recorder{answer: func(*http.Request) *http.Response {
		return answer(200, `{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED","output":{"inlinedResponses":`+results+
			`}},"done":true,"response":{"inlinedResponses":`+results+`}}`)
	}}
	g := n.open(t, "gemini")
	job := provider.Job{ID: "batches/1", Wire: assay.Wire{Carrier: assay.CarrierGemini, Dialect: assay.DialectGenerate}}
	st, err := g.Check(context.Background(), job)
	if err != nil || len(st.Parts) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	var into bytes.Buffer
	if err := g.Fetch(context.Background(), job, st.Parts[0], provider.Fresh(&into)); err != nil {
		t.Fatal(err)
	}
	got := map[string]assay.Ending{}
	for line, err := range g.Decode(job, st.Parts[0], &into) {
		if err != nil {
			t.Fatal(err)
		}
		got[line.CustomID] = line.Outcome.Ending
	}
	diff(t, map[string]assay.Ending{"a": assay.Answered, "b": assay.Rejected}, got)
}
