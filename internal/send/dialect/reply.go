package dialect

import (
	"cmp"
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// ReplyHead holds the fields around an answer in a reply.
type ReplyHead struct {
	ID      string // letters that distinguish it; the API's own beginning goes before them
	Created int64  // seconds since 1970
	Model   string // where the outcome names none
}

// AppendReply appends an answer as the reply of an API that its provider does not have: chat completions or responses. A
// refusal is one there too. No character in it ends a line for any reader.
func AppendReply(dst []byte, d assay.Dialect, h ReplyHead, o *assay.Outcome) ([]byte, error) {
	var v any
	switch d {
	case assay.DialectChat:
		v = chatReply(h, o)
	case assay.DialectResponses:
		v = responsesReply(h, o)
	default:
		return dst, fmt.Errorf("replies of %s are not written", d)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("write a reply: %w", err)
	}
	return jsontext.AppendCompact(dst, text), nil
}

// FinishWord returns why an answer ended, in the words of chat completions. One of nothing that was broken off was cut.
func FinishWord(o *assay.Outcome) string {
	switch {
	case o.Ending == assay.Refused:
		return "content_filter"
	case brokenOff(o):
		return "length"
	case len(o.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// brokenOff reports whether an answer ended before the model did, with text or without.
func brokenOff(o *assay.Outcome) bool {
	if o.Ending != assay.Empty {
		return o.Ending == assay.Cut
	}
	switch o.Finish {
	case "length", "model_length", "max_tokens", "max_output_tokens", "incomplete", "model_context_window_exceeded", "pause_turn",
		"malformed_model_output", "malformed_tool_use":
		return true
	}
	return generateStop(o.Finish) == stopCut
}

func chatReply(h ReplyHead, o *assay.Outcome) chatObject {
	m := chatMessage{Role: "assistant", Content: &o.Text, Thoughts: o.Thoughts}
	if o.Ending == assay.Refused && o.Text != "" {
		m.Content, m.Refusal = nil, &o.Text
	}
	if m.Calls = chatCalls(h, o); len(m.Calls) > 0 && o.Text == "" {
		m.Content = nil
	}
	return chatObject{ID: "chatcmpl-" + h.ID, Object: "chat.completion", Created: h.Created, Model: cmp.Or(o.Model, h.Model),
		Choices: []chatChoice{{Message: m, Finish: FinishWord(o)}}, Usage: usageOfChat(o.Usage)}
}

// chatCalls returns the calls of an answer as a chat completion has them. Providers without ids of calls get some here.
func chatCalls(h ReplyHead, o *assay.Outcome) []chatCall {
	var all []chatCall
	for i, c := range o.Calls {
		call := chatCall{ID: callID(h, c, i), Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Given()
		if c.Signature != "" {
			call.Extra = &chatExtra{}
			call.Extra.Google.Signature = c.Signature
		}
		all = append(all, call)
	}
	return all
}

func callID(h ReplyHead, c assay.ToolCall, i int) string {
	return cmp.Or(c.ID, fmt.Sprintf("call_%s_%d", h.ID, i))
}

func usageOfChat(u assay.Usage) *chatUsage {
	if !u.Known {
		return nil
	}
	out := &chatUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
	out.InputDetails.Cached, out.OutputDetails.Reasoning = u.Cached, u.Reasoning
	return out
}

func responsesReply(h ReplyHead, o *assay.Outcome) responseObject {
	r := responseObject{ID: "resp_" + h.ID, Object: "response", Created: h.Created, Status: "completed", Model: cmp.Or(o.Model, h.Model),
		Output: []any{}, Parallel: true, ToolChoice: "auto", Tools: []any{}, Metadata: map[string]string{}}
	if o.Thoughts != "" {
		r.Output = append(r.Output, responseThoughts{ID: "rs_" + h.ID, Type: "reasoning",
			Summary: []responseText{{Type: "summary_text", Text: o.Thoughts}}})
	}
	part := any(responseText{Type: "output_text", Text: o.Text, Annotations: &[]any{}})
	switch {
	case o.Ending == assay.Refused:
		part = responseRefusal{Type: "refusal", Refusal: o.Text}
	case brokenOff(o):
		r.Status, r.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	}
	if o.Text != "" || len(o.Calls) == 0 {
		r.Output = append(r.Output, responseMessage{ID: "msg_" + h.ID, Type: "message", Role: "assistant", Status: r.Status,
			Content: []any{part}})
	}
	for i, c := range o.Calls {
		r.Output = append(r.Output, responseCall{ID: fmt.Sprintf("fc_%s_%d", h.ID, i), Type: "function_call", CallID: callID(h, c, i),
			Name: c.Name, Arguments: c.Given(), Status: r.Status})
	}
	if u := o.Usage; u.Known {
		r.Usage = &responseUsage{Input: u.Input, Output: u.Output, Total: u.Input + u.Output}
		r.Usage.InputDetails.Cached, r.Usage.InputDetails.Written, r.Usage.OutputDetails.Reasoning = u.Cached,
			u.Written(), u.Reasoning
	}
	return r
}

type chatObject struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index    int         `json:"index"`
	Message  chatMessage `json:"message"`
	Logprobs *struct{}   `json:"logprobs"`
	Finish   string      `json:"finish_reason"`
}

type chatMessage struct {
	Role     string  `json:"role"`
	Content  *string `json:"content"`
	Refusal  *string `json:"refusal"`
	Thoughts string  `json:"reasoning_content,omitempty"`

	Calls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra *chatExtra `json:"extra_content,omitempty"`
}

// chatExtra carries a seal that Gemini wants back with a call, as its own API of this kind does.
type chatExtra struct {
	Google struct {
		Signature string `json:"thought_signature"`
	} `json:"google"`
}

// chatUsage is the usage of a chat completion.
type chatUsage struct {
	Input        int64 `json:"prompt_tokens"`
	Output       int64 `json:"completion_tokens"`
	Total        int64 `json:"total_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type responseObject struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Status       string            `json:"status"`
	Error        *struct{}         `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions *string           `json:"instructions"`
	Model        string            `json:"model"`
	Output       []any             `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	ToolChoice   string            `json:"tool_choice"`
	Tools        []any             `json:"tools"`
	Metadata     map[string]string `json:"metadata"`
	Temperature  *float64          `json:"temperature"`
	TopP         *float64          `json:"top_p"`
	Usage        *responseUsage    `json:"usage,omitempty"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type responseMessage struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Role    string `json:"role"`
	Status  string `json:"status"`
	Content []any  `json:"content"`
}

type responseText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations *[]any `json:"annotations,omitempty"`
}

type responseRefusal struct {
	Type    string `json:"type"`
	Refusal string `json:"refusal"`
}

type responseThoughts struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Summary []responseText `json:"summary"`
}

type responseCall struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Status    string `json:"status"`
}

type responseUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"` // newer clients insist on it
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}
