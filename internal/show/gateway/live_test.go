package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// used returns the usage of a user in the ledger.
func (r *rig) used(owner string) store.ClientUsage {
	r.t.Helper()
	all, err := r.home.Ledger.Clients.ClientUsage(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, u := range all {
		if u.Owner == owner {
			return u
		}
	}
	return store.ClientUsage{}
}

const question = `"messages":[{"role":"system","content":"short"},{"role":"user","content":"What is 2+2?"}]`

func TestLiveCallsArePassedOnAndCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	var last store.ClientUsage
	for i, model := range []string{"gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"} {
		status, o := r.call(anna, "POST", "/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":%q,%s}`, model, question)))
		choices, _ := o["choices"].([]any)
		if status != 200 || o.text("object") != "chat.completion" || len(choices) != 1 || o.text("usage", "completion_tokens") == "" ||
			object(choices[0].(map[string]any)).text("message", "content") == "" {
			t.Errorf("%s: %d %v", model, status, o)
		}
		u := r.used("anna")
		if u.Calls != int64(2*i+1) || u.Open != 0 || u.Spent <= last.Spent || u.Output <= last.Output || u.Unpriced != 0 ||
			u.Taken != u.Spent {
			t.Errorf("%s: counted as %+v after %+v", model, u, last)
		}
		status, o = r.call(anna, "POST", "/responses", strings.NewReader(fmt.Sprintf(`{"model":%q,"input":"What is 2+2?"}`, model)))
		if output, _ := o["output"].([]any); status != 200 || o.text("object") != "response" || len(output) == 0 {
			t.Errorf("%s, responses: %d %v", model, status, o)
		}
		last = r.used("anna")
	}
}

func TestLiveCallsThatAreWrongCostNothing(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(0.0001)
	r := newRig(t, rigOptions{budget: &budget, lacks: "GOOGLE_API_KEY", rules: []string{"anthropic ask 429=30s"}})
	for body, want := range map[string]string{
		`{"model":"nosuchmodel",` + question + `}`: "404 invalid_request_error model_not_found model",
		`{"model":"anthropic/claude-sonnet-4-5",` + question +
			`,"temperature":1.7}`: "400 invalid_request_error unsupported_value temperature",
		`{"model":"anthropic/claude-sonnet-4-5",` + question +
			`,"tools":[{"a":1}]}`: "400 invalid_request_error unsupported_value tools",
		`{"model":"gemini/gemini-2.5-flash",` + question +
			`}`: "400 invalid_request_error provider_not_configured model",
		`{"model":"gpt-4o-mini"}`: "400 invalid_request_error " +
			"missing_required_parameter messages",
		`{"model":"gpt-4o-mini",`: "400 invalid_request_error  ",
		`[]`:                      "400 invalid_request_error  ",
		// in the provider's words
		`{"model":"openai/missing-model",` + question + `}`: "404 invalid_request_error model_not_found model",
	} {
		status, o := r.call(anna, "POST", "/chat/completions", strings.NewReader(body))
		got := fmt.Sprint(status, " ", o.text("error", "type"), " ", o.text("error", "code"), " ", o.text("error", "param"))
		if got != want {
			t.Errorf("%s:\n%s, want %s (%v)", body, got, want, o)
		}
	}
	status, text := r.raw(anna, "POST", "/chat/completions", strings.NewReader(`{"model":"anthropic/claude-sonnet-4-5",`+question+`}`))
	if status != 429 || !strings.Contains(string(text), "rate_limit_error") {
		t.Errorf("a provider that is busy: %d %s", status, text)
	}
	status, o := r.call(anna, "POST", "/chat/completions",
		strings.NewReader(`{"model":"gpt-4o-mini","messages":"`+strings.Repeat("x", 64<<20)+`"}`))
	if status != 413 || o.text("error", "code") != "request_too_large" || !strings.Contains(o.text("error", "message"), "67108864") {
		t.Errorf("a body that is too large: %d %v", status, o)
	}
	if u := r.used("anna"); u.Spent != 0 || u.Open != 0 || u.Taken != 0 {
		t.Errorf("what was refused is counted: %+v", u)
	}
	if status, o := r.call(bert, "POST", "/chat/completions", strings.NewReader(`{"model":"anthropic/claude-sonnet-4-5",`+question+
		`}`)); status != 429 || o.text("error", "code") != "insufficient_quota" {
		t.Errorf("beyond the budget: %d %v", status, o)
	}
	if u := r.used("bert"); u.Calls != 0 {
		t.Errorf("a call left that the budget does not cover: %+v", u)
	}
}

// events reads a stream to its end.
func (r *rig) events(path, body string) (names []string, docs []object, done bool) {
	r.t.Helper()
	status, text := r.raw(anna, "POST", path, strings.NewReader(body))
	if status != 200 {
		r.t.Fatalf("%s: %d %s", path, status, text)
	}
	in := bufio.NewScanner(strings.NewReader(string(text)))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			names = append(names, name)
		}
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			done = true
		default:
			var o object
			if err := json.Unmarshal([]byte(data), &o); err != nil {
				r.t.Fatalf("%v: %s", err, data)
			}
			docs = append(docs, o)
		}
	}
	return names, docs, done
}

func TestStreamsAreChunksOfTheAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, model := range []string{"gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"} {
		for _, usage := range []bool{false, true} {
			_, docs, done := r.events("/chat/completions",
				fmt.Sprintf(`{"model":%q,%s,"stream":true,"stream_options":{"include_usage":%v}}`, model, question, usage))
			text, finish := "", ""
			for _, o := range docs {
				choices, _ := o["choices"].([]any)
				for _, c := range choices {
					choice := object(c.(map[string]any))
					text += choice.text("delta", "content")
					finish += choice.text("finish_reason")
				}
				if o.text("object") != "chat.completion.chunk" || o.text("id") == "" {
					t.Errorf("%s: a chunk is %v", model, o)
				}
			}
			if got := docs[len(docs)-1].text("usage", "total_tokens") != ""; !done || text == "" || finish != "stop" || got != usage {
				t.Errorf("%s, usage %v: done %v, text %q, finish %q, the last chunk %v", model, usage, done, text, finish,
					docs[len(docs)-1])
			}
		}
		names, docs, _ := r.events("/responses", fmt.Sprintf(`{"model":%q,"input":"What is 2+2?","stream":true}`, model))
		if len(names) < 8 || names[0] != "response.created" || names[len(names)-1] != "response.completed" || len(names) != len(docs) {
			t.Fatalf("%s: events %v", model, names)
		}
		for i, o := range docs {
			if o.text("sequence_number") != fmt.Sprint(i) || o.text("type") != names[i] {
				t.Errorf("%s: event %d is %v", model, i, o)
			}
		}
	}
}

func TestAClientThatHangsUpIsStillCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{latency: 300 * time.Millisecond})
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/chat/completions",
		strings.NewReader(`{"model":"gpt-4o-mini",`+question+`}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+anna)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	for r.used("anna").Calls == 0 { // it is written down before it leaves
		time.Sleep(5 * time.Millisecond)
	}
	hangUp()
	<-gone
	var u store.ClientUsage
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if u = r.used("anna"); u.Open == 0 {
			break
		}
	}
	if u.Calls != 1 || u.Open != 0 || u.Spent == 0 {
		t.Errorf("counted as %+v", u)
	}
}

// TestCallsAtTheSameMomentShareOneBudget has many calls come at once, of which the budget covers a few.
func TestCallsAtTheSameMomentShareOneBudget(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(0.01)
	r := newRig(t, rigOptions{budget: &budget})
	var answered, refused atomic.Int64
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			// $0.002 at most
			status, _ := r.raw(bert, "POST", "/chat/completions", strings.NewReader(`{"model":"gpt-4o","max_tokens":200,`+question+`}`))
			switch status {
			case 200:
				answered.Add(1)
			case 429:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if u := r.used("bert"); answered.Load() == 0 || refused.Load() == 0 || answered.Load()+refused.Load() != 40 || u.Spent > budget {
		t.Errorf("%d answered, %d refused, %s of %s spent", answered.Load(), refused.Load(), u.Spent, budget)
	}
}
