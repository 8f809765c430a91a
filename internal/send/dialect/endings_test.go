package dialect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// endings returns how each dialect says that an answer is whole, cut with text, cut while thinking, empty, refused, or a call of a tool.
func endings() map[assay.Dialect]map[string]string {
	return map[assay.Dialect]map[string]string{
		assay.DialectMessages: said(`{"content":[%s],"stop_reason":"%s","usage":{"input_tokens":1,"output_tokens":2}}`,
			`{"type":"text","text":"Yes"}`, `{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}`,
			"end_turn", "max_tokens", "refusal", "tool_use"),
		assay.DialectGenerate: said(`{"candidates":[{"content":{"parts":[%s]},"finishReason":"%s"}],"usageMetadata":{"promptTokenCount":1}}`,
			`{"text":"Yes"}`, `{"functionCall":{"name":"f","args":{"a":1}}}`, "STOP", "MAX_TOKENS", "SAFETY", "STOP"),
		assay.DialectConverse: said(`{"output":{"message":{"content":[%s]}},"stopReason":"%s","usage":{"inputTokens":1,"outputTokens":2}}`,
			`{"text":"Yes"}`, `{"toolUse":{"toolUseId":"t1","name":"f","input":{"a":1}}}`,
			"end_turn", "max_tokens", "guardrail_intervened", "tool_use"),
		assay.DialectOllama: {
			"whole": `{"message":{"content":"Yes"},"done_reason":"stop"}`, "cut": `{"message":{"content":"Yes"},"done_reason":"length"}`,
			"thinking": `{"message":{"content":"","thinking":"Hm"},"done_reason":"length"}`,
			"empty":    `{"message":{"content":""},"done_reason":"stop"}`,
			"call":     `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done_reason":"stop"}`,
		},
	}
}

func said(form, text, call, whole, cut, refused, calls string) map[string]string {
	return map[string]string{"whole": fmt.Sprintf(form, text, whole), "cut": fmt.Sprintf(form, text, cut),
		"thinking": fmt.Sprintf(form, "", cut),
		"empty":    fmt.Sprintf(form, "", whole), "refused": fmt.Sprintf(form, "", refused), "call": fmt.Sprintf(form, call, calls)}
}

// The end of an answer is the same for a client of either API, whichever provider gave it, whole or streamed.
func TestClientsAreToldHowAnAnswerEnded(t *testing.T) {
	t.Parallel()
	finish := map[string]string{"whole": "stop", "cut": "length", "thinking": "length", "empty": "stop", "refused": "content_filter",
		"call": "tool_calls"}
	status := map[string]string{"cut": "incomplete", "thinking": "incomplete"}
	for from, cases := range endings() {
		for name, body := range cases {
			o := new(dialect.Decoder).Body(from, []byte(body))
			head := dialect.ReplyHead{ID: "x", Model: "m"}
			var chat struct {
				Choices []struct {
					Finish  string `json:"finish_reason"`
					Message struct {
						Calls []map[string]any `json:"tool_calls"`
					}
				}
			}
			unmarshal(t, assay.DialectChat, head, &o, &chat)
			if got := chat.Choices[0].Finish; got != finish[name] {
				t.Errorf("%s, %s: chat ended %q, want %q", from, name, got, finish[name])
			}
			if got := len(chat.Choices[0].Message.Calls); got != len(o.Calls) || name == "call" && got != 1 {
				t.Errorf("%s, %s: chat has %d calls", from, name, got)
			}
			var response struct{ Status string }
			unmarshal(t, assay.DialectResponses, head, &o, &response)
			if want := or(status[name], "completed"); response.Status != want {
				t.Errorf("%s, %s: responses %q, want %q", from, name, response.Status, want)
			}
			streamedEnd(t, string(from)+", "+name, head, o, finish[name], or(status[name], "completed"))
		}
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func unmarshal(t *testing.T, to assay.Dialect, h dialect.ReplyHead, o *assay.Outcome, into any) {
	t.Helper()
	reply, err := dialect.AppendReply(nil, to, h, o)
	if err == nil {
		err = json.Unmarshal(reply, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func streamedEnd(t *testing.T, name string, h dialect.ReplyHead, o assay.Outcome, finish, status string) {
	t.Helper()
	chat := &dialect.Emitter{To: assay.DialectChat, Head: h}
	events := bytes.Join(append(chat.Event("", nil, dialect.Delta{Text: o.Text}), chat.End(&o)...), nil)
	if !strings.Contains(string(events), `"finish_reason":"`+finish+`"`) {
		t.Errorf("%s: streamed chat did not end with %s: %s", name, finish, events)
	}
	if len(o.Calls) > 0 && !strings.Contains(string(events), `"tool_calls":[{`) {
		t.Errorf("%s: streamed chat has no call: %s", name, events)
	}
	if o.Ending == assay.Refused { // text that was sent is not taken back: it is incomplete there
		status = "incomplete"
	}
	responses := &dialect.Emitter{To: assay.DialectResponses, Head: h}
	events = bytes.Join(append(responses.Event("", nil, dialect.Delta{Text: o.Text}), responses.End(&o)...), nil)
	if !strings.Contains(string(events), "event: response."+status+"\n") {
		t.Errorf("%s: a streamed response did not end %s: %s", name, status, events)
	}
	if len(o.Calls) > 0 && !strings.Contains(string(events), "event: response.function_call_arguments.done") {
		t.Errorf("%s: a streamed response has no call: %s", name, events)
	}
}

// Arguments of a call that come in pieces are whole in the end.
func TestACallOfAToolIsStreamedInPieces(t *testing.T) {
	t.Parallel()
	s := dialect.NewStream(assay.DialectMessages)
	for _, e := range []string{`{"type":"message_start","message":{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":": 1}"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`} {
		if _, err := s.Add([]byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	reply, whole := s.Reply()
	o := new(dialect.Decoder).Body(assay.DialectMessages, reply)
	if !whole || len(o.Calls) != 1 || string(o.Calls[0].Arguments) != `{"a":1}` {
		t.Errorf("%v: %+v", whole, o)
	}
}

// A message that only calls has null for its content; text beside a call stays, and an empty answer is a text.
func TestOnlyAMessageThatJustCallsHasNoContent(t *testing.T) {
	t.Parallel()
	call := []assay.ToolCall{{ID: "t1", Name: "f", Arguments: []byte(`{"a":1}`)}}
	for want, o := range map[string]assay.Outcome{
		`"content":null`:          {Ending: assay.Answered, Calls: call},
		`"content":"Let me see."`: {Ending: assay.Answered, Calls: call, Text: "Let me see."},
		`"content":""`:            {Ending: assay.Empty},
	} {
		reply, err := dialect.AppendReply(nil, assay.DialectChat, dialect.ReplyHead{ID: "x", Model: "m"}, &o)
		if err != nil || !strings.Contains(string(reply), want) {
			t.Errorf("no %s in %s, %v", want, reply, err)
		}
	}
}
