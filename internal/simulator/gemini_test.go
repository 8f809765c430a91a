package simulator

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func geminiLines(n int, more ...string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"key":"id-%d","request":{"contents":[{"role":"user","parts":[{"text":"Question %d?"}]}],"generationConfig":{"maxOutputTokens":4000}}}`+"\n", i, i)
	}
	for _, m := range more {
		b.WriteString(m + "\n")
	}
	return b.String()
}

// geminiStart begins a resumable upload and returns where it goes on.
func (w *world) geminiStart(name string, size int) got {
	w.t.Helper()
	return w.do("POST", w.base["gemini"]+"/upload/v1beta/files",
		strings.NewReader(`{"file":{"name":"files/`+name+`","displayName":"d","mimeType":"application/jsonl"}}`), "X-Goog-Upload-Protocol",
		"resumable", "X-Goog-Upload-Command", "start", "X-Goog-Upload-Header-Content-Length", strconv.Itoa(size))
}

func (w *world) geminiChunk(url, command string, offset int, part []byte) got {
	w.t.Helper()
	return w.do("POST", url, bytes.NewReader(part), "X-Goog-Upload-Command", command, "X-Goog-Upload-Offset", strconv.Itoa(offset),
		"X-Goog-Api-Key", "")
}

func (w *world) geminiFile(name, content string) {
	w.t.Helper()
	g := w.geminiStart(name, len(content))
	wantStatus(w.t, g, 200)
	wantStatus(w.t, w.geminiChunk(g.Header.Get("X-Goog-Upload-Url"), "upload, finalize", 0, []byte(content)), 200)
}

func (w *world) geminiBatchOf(file string) string {
	w.t.Helper()
	return w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-3.6-flash:batchGenerateContent",
		`{"batch":{"displayName":"run/1","inputConfig":{"fileName":"files/`+file+`"}}}`).str("name")
}

func TestGeminiJobsAreOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Queue: 8 * time.Second, Rate: 1})
	w.geminiFile("in-1", geminiLines(4,
		`{"key":"hot","request":{"contents":[{"parts":[{"text":"x"}]}],"generation_config":{"temperature":9}}}`))
	w.clock.Advance(4 * time.Second)
	name := w.geminiBatchOf("in-1")
	url := w.base["gemini"] + "/v1beta/" + name
	fields := []string{"metadata.state", "metadata.batchStats", "done", "metadata.displayName"}
	diff(t, map[string]any{"metadata.state": "BATCH_STATE_PENDING", "metadata.batchStats": map[string]any{}, "done": nil,
		"metadata.displayName": "run/1"}, w.json("GET", url, "").pick(fields...))
	w.clock.Advance(10 * time.Second)
	diff(t, "BATCH_STATE_RUNNING", w.json("GET", url, "").str("metadata.state"))
	w.clock.Advance(10 * time.Second)
	b := w.json("GET", url, "")
	diff(t, map[string]any{
		"metadata.state": "BATCH_STATE_SUCCEEDED", "done": true, "metadata.displayName": "run/1",
		"metadata.batchStats": map[string]any{"requestCount": "5", "successfulRequestCount": "4", "failedRequestCount": "1"},
	}, b.pick(fields...))
	file := b.str("response.responsesFile")
	diff(t, "files/batch-"+strings.TrimPrefix(name, "batches/"), file)
	diff(t, file, b.str("metadata.output.responsesFile"))
	wantStatus(t, w.do("GET", w.base["gemini"]+"/v1beta/"+file, nil), 400)
	outs := lines(t, w.do("GET", w.base["gemini"]+"/v1beta/"+file+":download?alt=media", nil).Body)
	ids := idsOf(outs, "key")
	slices.Sort(ids)
	diff(t, []string{"hot", "id-0", "id-1", "id-2", "id-3"}, ids)
	for _, o := range outs {
		if o.str("key") == "hot" {
			diff(t, 3.0, o.at("error.code"))
		} else if o.str("response.candidates.0.content.parts.0.text") == "" || o.at("response.usageMetadata.thoughtsTokenCount") == nil {
			t.Errorf("no answer in %v", o)
		}
	}
}

func TestGeminiUploadsCanBeTakenUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	content := []byte(geminiLines(6000))
	g := w.geminiStart("big-1", len(content))
	url := g.Header.Get("X-Goog-Upload-Url")
	diff(t, strconv.Itoa(chunkUnit), g.Header.Get("X-Goog-Upload-Chunk-Granularity"))
	wantStatus(t, w.geminiChunk(url, "upload", 0, content[:1000]), 400)
	wantStatus(t, w.geminiChunk(url, "upload", 7, content[:chunkUnit]), 400)
	diff(t, "active", w.geminiChunk(url, "upload", 0, content[:chunkUnit]).Header.Get("X-Goog-Upload-Status"))
	q := w.geminiChunk(url, "query", 0, nil)
	diff(t, []string{"active", strconv.Itoa(chunkUnit)},
		[]string{q.Header.Get("X-Goog-Upload-Status"), q.Header.Get("X-Goog-Upload-Size-Received")})
	last := w.geminiChunk(url, "upload, finalize", chunkUnit, content[chunkUnit:])
	diff(t, "final", last.Header.Get("X-Goog-Upload-Status"))
	f := last.doc(t)
	diff(t, map[string]any{"file.name": "files/big-1", "file.sizeBytes": strconv.Itoa(len(content)), "file.state": "ACTIVE",
		"file.mimeType": "application/jsonl", "file.displayName": "d"},
		f.pick("file.name", "file.sizeBytes", "file.state", "file.mimeType", "file.displayName"))
	diff(t, "final", w.geminiChunk(url, "query", 0, nil).Header.Get("X-Goog-Upload-Status"))
	again := w.geminiStart("big-1", 10)
	wantStatus(t, again, 409)
	diff(t, "ALREADY_EXISTS", again.doc(t).str("error.status"))
	wantStatus(t, w.as("other").geminiStart("big-1", 10), 200)
	wantStatus(t, w.geminiStart("Not_Legal", 10), 400)
	w.clock.Advance(2 * aDay)
	wantStatus(t, w.do("GET", w.base["gemini"]+"/v1beta/files/big-1", nil), 403)
}

func TestGeminiRequestsMayComeWithTheJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	one := func(key string) string {
		return `{"request":{"contents":[{"parts":[{"text":"` + key + `"}]}]},"metadata":{"key":"` + key + `"}}`
	}
	op := w.json("POST", w.base["gemini"]+"/v1beta/models/gemini-2.5-flash:batchGenerateContent",
		`{"batch":{"displayName":"x","inputConfig":{"requests":{"requests":[`+one("a")+`,`+one("b")+`]}}}}`)
	b := w.json("GET", w.base["gemini"]+"/v1beta/"+op.str("name"), "")
	diff(t, map[string]any{
		"metadata.output.inlinedResponses.inlinedResponses.0.metadata": map[string]any{"key": "a"},
		"response.inlinedResponses.inlinedResponses.1.metadata.key":    "b",
	}, b.pick("metadata.output.inlinedResponses.inlinedResponses.0.metadata", "response.inlinedResponses.inlinedResponses.1.metadata.key"))
}

func TestGeminiExpiresWithoutResultsAndPaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "gemini create expire=50%")
	w.geminiFile("in", geminiLines(4))
	name := w.geminiBatchOf("in")
	b := w.json("GET", w.base["gemini"]+"/v1beta/"+name, "")
	diff(t, map[string]any{"metadata.state": "BATCH_STATE_EXPIRED", "response": nil, "metadata.output": nil},
		b.pick("metadata.state", "response", "metadata.output"))
	wantStatus(t, w.do("GET", w.base["gemini"]+"/v1beta/files/batch-"+strings.TrimPrefix(name, "batches/")+":download?alt=media", nil), 403)
	diff(t, 0, len(w.s.Ledger().Jobs[0].Billed))
}

func TestGeminiFailsAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{})
	w.geminiFile("in", geminiLines(2, `{"key":"x"}`))
	b := w.json("GET", w.base["gemini"]+"/v1beta/"+w.geminiBatchOf("in"), "")
	diff(t, map[string]any{"metadata.state": "BATCH_STATE_FAILED", "done": true, "error.code": 3.0},
		b.pick("metadata.state", "done", "error.code"))
}

func TestGeminiListsCancelsAndDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Rate: 1})
	w.geminiFile("in", geminiLines(4))
	names := []string{w.geminiBatchOf("in"), w.geminiBatchOf("in"), w.geminiBatchOf("in")}
	url := w.base["gemini"] + "/v1beta/"
	p := w.json("GET", url+"batches?pageSize=2", "")
	diff(t, []any{names[2], names[1]}, []any{p.at("operations.0.name"), p.at("operations.1.name")})
	p = w.json("GET", url+"batches?pageSize=2&pageToken="+p.str("nextPageToken"), "")
	diff(t, map[string]any{"operations.0.name": names[0], "nextPageToken": nil}, p.pick("operations.0.name", "nextPageToken"))
	w.clock.Advance(2 * time.Second)
	diff(t, doc{}, w.json("POST", url+names[0]+":cancel", "{}"))
	b := w.json("GET", url+names[0], "")
	diff(t, "BATCH_STATE_CANCELLED", b.str("metadata.state"))
	diff(t, 2, len(lines(t, w.do("GET", url+b.str("response.responsesFile")+":download?alt=media", nil).Body)))
	w.json("DELETE", url+names[0], "")
	wantStatus(t, w.do("GET", url+names[0], nil), 404)
}

func TestGeminiSaysInTheBodyHowLongToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, "gemini ask 429=34s once")
	g := w.do("POST", w.base["gemini"]+"/v1beta/models/gemini-3.6-flash:generateContent", strings.NewReader(`{}`))
	wantStatus(t, g, 429)
	diff(t, "", g.Header.Get("Retry-After"))
	diff(t, map[string]any{"error.status": "RESOURCE_EXHAUSTED", "error.details.1.retryDelay": "34s"},
		g.doc(t).pick("error.status", "error.details.1.retryDelay"))
}
