package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
)

func question() *assay.Request {
	lane := assay.Lane{Name: "l", Provider: "p", Model: "m"}
	return &assay.Request{
		Lane: &lane, Wire: &assay.Wire{Dialect: assay.DialectChat, ModelInBody: true, SystemRole: "system"},
		Prompt: &assay.Prompt{Messages: []assay.Message{{Role: assay.RoleUser, Text: "Why?"}}},
	}
}

func TestALiveReplyTellsAnswerBytesAndLimits(t *testing.T) {
	t.Parallel()
	const body = `{"id":"c1","model":"m-1","choices":[{"finish_reason":"stop","message":{"content":"Because."}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
	var sent string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = string(b)
		w.Header().Set("x-request-id", "req_1")
		w.Header().Set("x-ratelimit-remaining-requests", "7")
		w.Header().Set("x-ratelimit-reset-requests", "2s")
		io.WriteString(w, body)
	})
	got, err := c.Ask(background, "/chat/completions", question())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, Reply{
		Outcome: assay.Outcome{
			Ending: assay.Answered, Text: "Because.", Finish: "stop", Model: "m-1", RequestID: "req_1",
			Usage: assay.Usage{Known: true, Input: 3, Output: 2},
		},
		Raw: []byte(body), Rate: Rate{Requests: Window{Known: true, Remaining: 7, Reset: 2 * time.Second}},
	}, got)
	if !strings.Contains(sent, `"Why?"`) || strings.Contains(sent, `"stream":true`) {
		t.Errorf("sent %s", sent)
	}
}

func TestALiveErrorTellsTheSameInOutcomeAndError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		ending assay.Ending
		code   string // empty: no error
	}{
		"a filter's refusal is an answer": {400, `{"error":{"code":"content_filter","message":"filtered"}}`, assay.Refused, ""},
		"a bad parameter": {400, `{"error":{"code":"unsupported_value","message":"no","param":"temperature"}}`,
			assay.Rejected, "invalid unsupported_value"},
		"too much": {400, `{"error":{"code":"context_length_exceeded","message":"long"}}`, assay.Rejected,
			"large context_length_exceeded"},
		"too fast": {429, `{"error":{"code":"rate_limit_exceeded","message":"slow"}}`, assay.Errored,
			"busy rate_limit_exceeded"},
		"no money": {429, `{"error":{"code":"insufficient_quota","message":"pay"}}`, assay.Errored,
			"quota insufficient_quota"},
		"an error that came as a success": {200, `{"error":{"code":"server_error","message":"oops"}}`, assay.Errored, "busy server_error"},
		"nonsense":                        {200, `<html>`, assay.Errored, "unknown unreadable_reply"},
		"nothing":                         {200, ``, assay.Errored, "unknown unreadable_reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "9")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			got, err := client.Ask(background, "/chat/completions", question())
			diff(t, c.code, code(err))
			diff(t, c.ending, got.Outcome.Ending)
			diff(t, c.body, string(got.Raw))
			diff(t, 9*time.Second, got.Rate.RetryAfter)
			if err != nil {
				diff(t, FaultOf(err), got.Outcome.Fault)
				diff(t, 9*time.Second, got.Outcome.Fault.RetryAfter)
			}
		})
	}
}

func TestAQuestionThatCannotBeWrittenIsNeverSent(t *testing.T) {
	t.Parallel()
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	q := question()
	q.Wire.Dialect = "nobody's"
	got, err := c.Ask(background, "/x", q)
	diff(t, "invalid not_sent", code(err))
	if !got.Unsent || got.Outcome.Ending != assay.Rejected {
		t.Errorf("%+v", got)
	}
	far := clientFor(t, "http://127.0.0.1:1")
	if got, err := far.Ask(background, "/x", question()); !got.Unsent || code(err) != "busy connection" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLinesAreDecodedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	text := "{\"custom_id\":\"a\",\"response\":{\"status_code\":200,\"body\":" +
		"{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"x\"}}]}}}\r\n" +
		"\n{\"custom_id\":\"b\",\"resp" + "\n" + `{"custom_id":"c","response":null,"error":{"code":"batch_expired"}}`
	type got struct {
		ID        string
		Ending    assay.Ending
		Malformed bool
		Raw       string
	}
	var lines []got
	for line, err := range DecodeLines(assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI}, strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, got{line.CustomID, line.Outcome.Ending, line.Malformed, text[line.Offset : line.Offset+line.Length][:14]})
	}
	diff(t, []got{
		{"a", assay.Answered, false, `{"custom_id":"`}, {"b", assay.Errored, true, `{"custom_id":"`},
		{"c", assay.Expired, false, `{"custom_id":"`},
	}, lines)
}

func TestALineThatIsTooLongStaysInThePartUnderItsName(t *testing.T) {
	t.Parallel()
	const rest = 65 << 20
	head := `{"custom_id":"abc","response":{"body":"`
	var first Line
	for line, err := range DecodeLines(assay.Wire{}, io.MultiReader(strings.NewReader(head), io.LimitReader(endless{}, rest))) {
		if err != nil {
			t.Fatal(err)
		}
		first = line
	}
	if first.CustomID != "abc" || first.Length != int64(len(head)+rest) || first.Outcome.Ending != assay.Errored ||
		first.Outcome.Fault.Code != "line_too_large" {
		t.Errorf("%+v", first)
	}
}

func TestALiveAnswerThatStallsIsGivenUp(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"id":"c1",`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c.stall = 20 * time.Millisecond
	got, err := c.Ask(background, "/chat/completions", question())
	if f := FaultOf(err); f == nil || f.Class != assay.FaultBusy || f.Code != "stalled" {
		t.Fatalf("got %v, %+v", err, got)
	}
	if !Lost(err) {
		t.Error("it may be billed, and nothing says so")
	}
}

func TestWhatMayBeBilledIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		lost   bool
	}{
		"the provider's own no": {func(w http.ResponseWriter) { w.WriteHeader(429); io.WriteString(w, `{"error":{"message":"slow"}}`) },
			false},
		"the provider is broken": {func(w http.ResponseWriter) { w.WriteHeader(500); io.WriteString(w, `{"error":{"message":"oops"}}`) },
			true},
		"a page in place of an answer": {func(w http.ResponseWriter) { io.WriteString(w, `<html>please log in</html>`) }, true},
		"the provider's own no under a good status": {func(w http.ResponseWriter) {
			io.WriteString(w, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`)
		}, false},
		"a gateway's no": {func(w http.ResponseWriter) { w.WriteHeader(502); io.WriteString(w, `<html>bad gateway</html>`) }, true},
		"a gateway had enough": {func(w http.ResponseWriter) { w.WriteHeader(504); io.WriteString(w, `{"error":{"message":"timeout"}}`) },
			true},
		"hung up without a word": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, true},
		"hung up in the middle": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		}, true},
		"an error as good answer": {func(w http.ResponseWriter) { io.WriteString(w, `{"error":{"message":"oops","code":500}}`) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := serve(t, func(w http.ResponseWriter, _ *http.Request) { c.answer(w) })
			_, err := api.Ask(background, "/chat/completions", question())
			if err == nil || Lost(err) != c.lost {
				t.Errorf("lost %v, want %v: %v", Lost(err), c.lost, err)
			}
		})
	}
}
