package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/keep/store"
)

// upstream is a provider that sends half of an answer, and the rest when it may.
type upstream struct {
	*httptest.Server
	asked atomic.Int64
	half  chan struct{} // closed: half is sent
	rest  chan struct{} // closed: the rest may be sent
	fails string        // sent in place of the rest
}

// newUpstream has all three dialects. A cut answer ends after the half.
func newUpstream(t *testing.T, cut bool) *upstream {
	u := &upstream{half: make(chan struct{}), rest: make(chan struct{})}
	var once sync.Once
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		first, second := halves(r.URL.Path)
		streamed := strings.Contains(string(body), `"stream":true`) || r.URL.Query().Get("alt") == "sse"
		if streamed {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, first)
			http.NewResponseController(w).Flush()
		}
		once.Do(func() { close(u.half) })
		<-u.rest
		switch {
		case u.fails != "":
			io.WriteString(w, u.fails)
		case cut:
			panic(http.ErrAbortHandler)
		case streamed:
			io.WriteString(w, second)
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// halves returns the events of one answer, "one two", in the dialect of a path.
func halves(path string) (first, second string) {
	switch {
	case strings.Contains(path, "messages"):
		return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":" +
				"{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[]," +
				"\"stop_reason\":null,\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
				"event: content_block_start\n" +
				"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
				"event: content_block_delta\n" +
				"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"one \"}}\n\n",
			"event: content_block_delta\n" +
				"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"two\"}}\n\n" +
				"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null}," +
				"\"usage\":{\"output_tokens\":5}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	case strings.Contains(path, "GenerateContent"):
		return "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"one " +
				"\"}]},\"index\":0}],\"modelVersion\":\"m\",\"usageMetadata\":{\"promptTokenCount\":10}}\r\n\r\n",
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"two\"}]},\"finishReason\":" +
				"\"STOP\",\"index\":0}],\"modelVersion\":\"m\",\"usageMetadata\":{" +
				"\"promptTokenCount\":10,\"candidatesTokenCount\":5}}\r\n\r\n"
	}
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}` + "\n\n"
	return fmt.Sprintf(chunk, `"role":"assistant","content":"one "`, "null"),
		fmt.Sprintf(chunk, `"content":"two"`, "null") + fmt.Sprintf(chunk, "", `"stop"`) +
			`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` + "\n\ndata: [DONE]\n\n"
}

func (u *upstream) env() map[string]string {
	return map[string]string{"OPENAI_BASE_URL": u.URL + "/v1", "ANTHROPIC_BASE_URL": u.URL, "GOOGLE_GEMINI_BASE_URL": u.URL}
}

// streaming begins a stream and returns its lines.
func (r *rig) streaming(ctx context.Context, path, body string, headers ...string) (*bufio.Scanner, func()) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+anna)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.StatusCode != 200 {
		text, _ := io.ReadAll(resp.Body)
		r.t.Fatalf("%s: %d %s", path, resp.StatusCode, text)
	}
	return bufio.NewScanner(resp.Body), func() { resp.Body.Close() }
}

// until reads lines until one has a text.
func lineWith(t *testing.T, in *bufio.Scanner, text string) string {
	t.Helper()
	all := ""
	for in.Scan() {
		all += in.Text() + "\n"
		if strings.Contains(in.Text(), text) {
			return all
		}
	}
	t.Fatalf("no line has %q:\n%s", text, all)
	return ""
}

func TestEventsArePassedOnWhileTheyCome(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"} {
		for path, body := range map[string]string{
			"/chat/completions": `{"model":%q,` + question + `,"stream":true,"stream_options":{"include_usage":true}}`,
			"/responses":        `{"model":%q,"input":"What is 2+2?","stream":true}`,
		} {
			if model == "gpt-4o-mini" && path == "/responses" {
				continue // is passed on unchanged; this upstream does not have it
			}
			t.Run(model+path, func(t *testing.T) {
				t.Parallel()
				u := newUpstream(t, false)
				r := newRig(t, rigOptions{env: u.env()})
				in, hangUp := r.streaming(t.Context(), path, fmt.Sprintf(body, model))
				defer hangUp()
				before := lineWith(t, in, `one `)
				if used := r.used("anna"); used.Open != 1 || used.Spent != 0 {
					t.Errorf("before its end it counts as %+v", used)
				}
				close(u.rest)
				last := map[string]string{"/chat/completions": "[DONE]", "/responses": `"type":"response.completed"`}[path]
				after := lineWith(t, in, last)
				if strings.Contains(before, "two") || !strings.Contains(after, "two") || !strings.Contains(after, `_tokens":5`) {
					t.Errorf("first came\n%s\nand then\n%s", before, after)
				}
				hangUp()
				r.wait("the call has ended", func() (bool, error) { return r.used("anna").Open == 0, nil })
				if used := r.used("anna"); used.Calls != 1 || used.Input != 10 || used.Output != 5 || used.Spent == 0 ||
					used.Unpriced != 0 || used.Taken != used.Spent {
					t.Errorf("counted as %+v", used)
				}
			})
		}
	}
}

func TestAStreamThatIsCutIsInDoubt(t *testing.T) {
	t.Parallel()
	overloaded := `data: {"type":"error","error":{"type":"overloaded_error","code":503,"message":"overloaded"}}` + "\n\n"
	for _, c := range []struct{ model, fails string }{
		{"gpt-4o-mini", ""}, {"anthropic/claude-sonnet-4-5", ""}, {"gemini/gemini-2.5-flash", ""},
		{"gpt-4o-mini", overloaded}, {"anthropic/claude-sonnet-4-5", overloaded}, {"gemini/gemini-2.5-flash", overloaded},
	} {
		t.Run(c.model+" "+c.fails, func(t *testing.T) {
			t.Parallel()
			model := c.model
			u := newUpstream(t, true)
			u.fails = c.fails
			r := newRig(t, rigOptions{env: u.env()})
			in, hangUp := r.streaming(t.Context(), "/chat/completions", fmt.Sprintf(`{"model":%q,%s,"stream":true}`, model, question))
			defer hangUp()
			lineWith(t, in, `one `)
			close(u.rest)
			after := lineWith(t, in, `"error":{`)
			for in.Scan() {
				after += in.Text()
			}
			if strings.Contains(after, "[DONE]") || strings.Contains(after, `"finish_reason":"stop"`) {
				t.Errorf("a cut answer ends as if it were whole:\n%s", after)
			}
			r.wait("the call has ended", func() (bool, error) { return r.used("anna").Open == 0, nil })
			if used := r.used("anna"); used.Calls != 1 || used.Unpriced != 1 || used.Unsaid != 1 || used.Spent != 0 || used.Taken == 0 {
				t.Errorf("counted as %+v", used)
			}
		})
	}
}

// hungUp is a log that notes when the gateway noticed that a client hung up.
type hungUp struct {
	seen chan struct{}
	once sync.Once
}

func (h *hungUp) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "hung up") {
		h.once.Do(func() { close(h.seen) })
	}
	return len(p), nil
}

// TestACallThatIsTriedAgainIsPaidOnce has clients give a slow call up and try again, as OpenAI's clients do after a timeout.
func TestACallThatIsTriedAgainIsPaidOnce(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		for _, late := range []bool{true, false} { // tried again after the answer came, which the first client never had
			t.Run(fmt.Sprint("stream ", stream, " late ", late), func(t *testing.T) {
				t.Parallel()
				u := newUpstream(t, false)
				left := &hungUp{seen: make(chan struct{})}
				r := newRig(t, rigOptions{env: u.env(), log: left})
				body := fmt.Sprintf(`{"model":"gpt-4o-mini",%s,"stream":%v}`, question, stream)
				ctx, giveUp := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					req, _ := http.NewRequestWithContext(ctx, "POST", r.url+"/chat/completions", strings.NewReader(body))
					req.Header.Set("Authorization", "Bearer "+anna)
					if resp, err := http.DefaultClient.Do(req); err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}()
				<-u.half
				giveUp()
				<-gone
				<-left.seen
				if late {
					close(u.rest)
					r.wait("the call has ended", func() (bool, error) { return r.used("anna").Open == 0, nil })
				} else {
					go close(u.rest)
				}
				status, text := r.raw(anna, "POST", "/chat/completions", strings.NewReader(body), "X-Stainless-Retry-Count", "1")
				if status != 200 || !strings.Contains(string(text), "one ") || !strings.Contains(string(text), "two") ||
					u.asked.Load() != 1 {
					t.Errorf("asked %d times, the second try has %d %s", u.asked.Load(), status, text)
				}
				if used := r.used("anna"); used.Calls != 1 {
					t.Errorf("counted as %+v", used)
				}
				if status, _ := r.raw(anna, "POST", "/chat/completions", strings.NewReader(body), "X-Stainless-Retry-Count",
					"1"); status != 200 || u.asked.Load() != 2 {
					t.Errorf("an answer that was given is given again: asked %d times", u.asked.Load())
				}
			})
		}
	}
}

func TestCallsUnderOneKeyAreOneCall(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, false)
	r := newRig(t, rigOptions{env: u.env()})
	body := `{"model":"gpt-4o-mini",` + question + `}`
	var answered atomic.Int64
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			status, text := r.raw(anna, "POST", "/chat/completions", strings.NewReader(body), "Idempotency-Key", "k")
			if status == 200 && strings.Contains(string(text), "one two") {
				answered.Add(1)
			}
		})
	}
	<-u.half
	close(u.rest)
	all.Wait()
	if used := r.used("anna"); answered.Load() != 3 || u.asked.Load() != 1 || used.Calls != 1 {
		t.Errorf("%d answered, %d asked, counted as %+v", answered.Load(), u.asked.Load(), used)
	}
	if status, e := r.call(anna, "POST", "/chat/completions", strings.NewReader(`{"model":"gpt-4o",`+question+`}`), "Idempotency-Key",
		"k"); status != 400 || e.text("error", "code") != "idempotency_key_reused" {
		t.Errorf("another call under the key: %d %v", status, e)
	}
	if status, _ := r.raw(bert, "POST", "/chat/completions", strings.NewReader(body), "Idempotency-Key", "k"); status != 200 ||
		u.asked.Load() != 2 {
		t.Errorf("another user's key: %d, asked %d times", status, u.asked.Load())
	}
	var none store.ClientUsage
	if used := r.used("bert"); used == none || used.Calls != 1 {
		t.Errorf("bert is counted as %+v", used)
	}
}

// TestAClientOfASilentStreamHearsThatItLives has a provider that is silent, and then refuses, or answers whole: the status is sent
// by then.
func TestAClientOfASilentStreamHearsThatItLives(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{true, false} {
		t.Run(fmt.Sprint("refuses ", refuses), func(t *testing.T) {
			t.Parallel()
			heard := make(chan struct{})
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				<-heard
				if refuses {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				w.Header().Set("Content-Type", "application/json") // it does not stream
				io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
			}))
			t.Cleanup(provider.Close)
			r := newRig(t, rigOptions{env: map[string]string{"OPENAI_BASE_URL": provider.URL + "/v1"}, silence: 5 * time.Millisecond})
			in, hangUp := r.streaming(t.Context(), "/chat/completions", `{"model":"gpt-4o-mini",`+question+`,"stream":true}`)
			defer hangUp()
			lineWith(t, in, ": keep-alive")
			close(heard)
			if refuses {
				lineWith(t, in, `data: {"error":{`)
				return
			}
			if text := lineWith(t, in, "[DONE]"); !strings.Contains(text, "one two") {
				t.Errorf("the answer is %s", text)
			}
		})
	}
}
