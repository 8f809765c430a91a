package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// TestAStreamIsPutTogether has the events of each dialect, thoughts and usage among them, and wants the outcome that the
// same reply has when it comes whole.
func TestAStreamIsPutTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d      assay.Dialect
		events string // one on a line
	}{
		"chat": {assay.DialectChat, `{"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm "},"finish_reason":null}],"usage":null}
			{"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"so"}}]}
			{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"one "}}]}
			{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}]}
			{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}
			[DONE]`},
		"responses": {assay.DialectResponses, `{"type":"response.created","response":{"id":"r","output":[]}}
			{"type":"response.reasoning_summary_text.delta","delta":"hm so"}
			{"type":"response.output_text.delta","delta":"one "}
			{"type":"response.output_text.delta","delta":"two"}
			{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm so"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one two"}]}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`},
		"messages": {assay.DialectMessages, `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}
			{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
			{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm so"}}
			{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
			{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"one "}}
			{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"two"}}
			{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}
			{"type":"message_stop"}`},
		"generate": {assay.DialectGenerate,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm so","thought":true}]}}],"modelVersion":"m"}
			{"candidates":[{"content":{"role":"model","parts":[{"text":"one "}]}}]}
			{"candidates":[{"content":{"parts":[{"text":"two"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5}}`},
	} {
		s := dialect.NewStream(c.d)
		var sum dialect.Delta
		lines := strings.Split(c.events, "\n")
		for i, line := range lines {
			d, err := s.Add([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sum.Text, sum.Thoughts = sum.Text+d.Text, sum.Thoughts+d.Thoughts
			if _, whole := s.Reply(); whole && i < len(lines)/2 {
				t.Errorf("%s: it is whole after %s", name, line)
			}
		}
		raw, whole := s.Reply()
		var dec dialect.Decoder
		o := dec.Body(c.d, raw)
		if !whole || o.Ending != assay.Answered || o.Text != "one two" || o.Thoughts != "hm so" || o.Usage.Input != 10 ||
			o.Usage.Output != 5 || sum.Text != o.Text || sum.Thoughts != o.Thoughts {
			t.Errorf("%s: whole %v, %+v, its pieces %+v\n%s", name, whole, o, sum, raw)
		}
	}
}

// FuzzStream feeds any events to every dialect: nothing panics, and what is put together is a document.
func FuzzStream(f *testing.F) {
	f.Add(`{"choices":[{"index":-1},{"index":1e9},{"index":"x","delta":[]},{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}},null,{"index":2000}]}}]}`)
	f.Add(`{"type":"content_block_delta","index":0,"delta":{"text":"x"}}` + "\n" +
		`{"type":"content_block_start","index":0,"content_block":{"text":1}}`)
	f.Add(`{"type":"message_delta","usage":{"output_tokens":1}}` + "\n" + `{"type":"message_start","message":{"content":"x","usage":3}}` +
		"\n" + `{"type":"content_block_delta","delta":{"text":"x"}}`)
	f.Add(`{"candidates":[{"content":{"parts":[null,3,{"text":"x"}]}},null]}` + "\nnull\n[]\n" + `{"error":{"message":"no"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []assay.Dialect{assay.DialectChat, assay.DialectResponses, assay.DialectMessages, assay.DialectGenerate} {
			s := dialect.NewStream(d)
			e := &dialect.Emitter{To: assay.DialectResponses}
			for line := range strings.Lines(text) {
				if delta, err := s.Add([]byte(line)); err == nil {
					e.Event("", []byte(line), delta)
				}
			}
			e.End(&assay.Outcome{Ending: assay.Answered})
			if raw, _ := s.Reply(); !json.Valid(raw) {
				t.Errorf("%s: %q", d, raw)
			}
		}
	})
}

// A server may say why an answer ends, and nothing after it.
func TestAChatStreamIsWholeOnceItSaysWhyItEnds(t *testing.T) {
	t.Parallel()
	for event, whole := range map[string]bool{`{"choices":[{"index":0,"delta":{"content":"one"}}]}`: false,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`: true} {
		s := dialect.NewStream(assay.DialectChat)
		if _, err := s.Add([]byte(event)); err != nil {
			t.Fatal(err)
		}
		if _, got := s.Reply(); got != whole {
			t.Errorf("%s: whole %t", event, got)
		}
	}
}

// Of several choices the first is shown while it comes. A server may leave out its index.
func TestTheFirstChoiceOfAChatStreamIsShown(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]string{
		`{"choices":[{"index":0,"delta":{"content":"one"}},{"index":1,"delta":{"content":"other"}}]}`: "one",
		`{"choices":[{"delta":{"content":"one"}}]}`:                                                   "one",
		`{"choices":[{"index":1,"delta":{"content":"other"}}]}`:                                       "",
	} {
		if d, err := dialect.NewStream(assay.DialectChat).Add([]byte(event)); err != nil || d.Text != want {
			t.Errorf("%s: %q, %v", event, d.Text, err)
		}
	}
}
