package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assay/internal/assay"
)

// Streams reports whether replies of a dialect can be streamed as server-sent events.
func Streams(d assay.Dialect) bool {
	return d == assay.DialectChat || d == assay.DialectResponses || d == assay.DialectMessages || d == assay.DialectGenerate
}

// AppendStreamed appends a body that asks for a stream. If usage is set, a chat completion is asked for its usage; some
// servers always send it, and refuse the option.
func AppendStreamed(dst, body []byte, d assay.Dialect, usage bool) []byte {
	body = bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}"))
	switch {
	case d == assay.DialectGenerate: // it is in the path
		return append(append(dst, body...), '}')
	case d == assay.DialectChat && usage:
		return append(append(dst, body...), `,"stream":true,"stream_options":{"include_usage":true}}`...)
	}
	return append(append(dst, body...), `,"stream":true}`...)
}

// Stream puts the events of a streamed reply together: what each adds, and the whole reply at the end.
type Stream struct {
	dialect assay.Dialect
	doc     map[string]any
	over    bool
}

// NewStream begins a reply of a dialect.
func NewStream(d assay.Dialect) *Stream { return &Stream{dialect: d, doc: map[string]any{}} }

// Delta is the text that an event adds to an answer.
type Delta struct{ Text, Thoughts string }

// growing is a text that is not whole yet.
type growing struct{ strings.Builder }

// MarshalText returns the text so far.
func (g *growing) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Add takes the data of one event.
func (s *Stream) Add(data []byte) (Delta, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		s.over = true
		return Delta{}, nil
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var e map[string]any
	if err := in.Decode(&e); err != nil {
		return Delta{}, fmt.Errorf("read an event: %w", err)
	}
	if e == nil {
		return Delta{}, errors.New("read an event: it is null")
	}
	if failure, ok := e["error"]; ok && failure != nil && s.dialect != assay.DialectResponses || e["type"] == "error" {
		s.doc, s.over = e, true
		if s.dialect == assay.DialectResponses && e["error"] == nil {
			s.doc = map[string]any{"error": e}
		}
		return Delta{}, nil
	}
	switch s.dialect {
	case assay.DialectChat:
		return s.chat(e), nil
	case assay.DialectResponses:
		return s.response(e), nil
	case assay.DialectMessages:
		return s.message(e), nil
	}
	return s.generate(e), nil
}

// Reply returns the whole reply. False: the stream ended before it did.
func (s *Stream) Reply() ([]byte, bool) {
	text, err := json.Marshal(s.doc)
	return text, err == nil && s.over
}

// grow appends to a text of an object.
func grow(o map[string]any, name, more string) {
	if g, ok := o[name].(*growing); ok {
		g.WriteString(more)
		return
	}
	g := &growing{}
	before, _ := o[name].(string)
	g.WriteString(before)
	g.WriteString(more)
	o[name] = g
}

// member returns an object among the fields of another, made if there is none.
func member(o map[string]any, name string) map[string]any {
	m, ok := o[name].(map[string]any)
	if !ok {
		m = map[string]any{}
		o[name] = m
	}
	return m
}

// most elements that a stream may name: an index of a hostile one makes no long list.
const maxParts = 1024

// element returns an object of a list, made if there is none; nil: the index is none.
func element(o map[string]any, name string, index any) map[string]any {
	n, ok := index.(json.Number)
	i, err := n.Int64()
	if !ok || err != nil {
		i = 0
	}
	if i < 0 || i >= maxParts {
		return nil
	}
	list, _ := o[name].([]any)
	for int64(len(list)) <= i {
		list = append(list, map[string]any{})
	}
	o[name] = list
	m, _ := list[i].(map[string]any)
	return m
}

// chat takes a chunk of a chat completion.
func (s *Stream) chat(e map[string]any) (d Delta) {
	for k, v := range e {
		if k != "choices" && v != nil {
			s.doc[k] = v
		}
	}
	s.doc["object"] = "chat.completion"
	choices, _ := e["choices"].([]any)
	for _, one := range choices {
		choice, _ := one.(map[string]any)
		to := element(s.doc, "choices", choice["index"])
		if to == nil {
			continue
		}
		if i, ok := choice["index"]; ok {
			to["index"] = i
		}
		if why := choice["finish_reason"]; why != nil {
			to["finish_reason"] = why
			s.over = true // a usage may follow, and the word that it is done
		}
		delta, _ := choice["delta"].(map[string]any)
		added := addDelta(member(to, "message"), delta)
		if to["index"] == nil || fmt.Sprint(to["index"]) == "0" {
			d.Text, d.Thoughts = d.Text+added.Text, d.Thoughts+added.Thoughts
		}
	}
	return d
}

// addDelta adds a delta to a message.
func addDelta(message, delta map[string]any) (d Delta) {
	for name, v := range delta {
		text, isText := v.(string)
		switch parts, isList := v.([]any); {
		case v == nil:
		case name == "role":
			message[name] = v
		case isText:
			grow(message, name, text)
			if name == "content" {
				d.Text += text
			}
			if name == "reasoning_content" || name == "reasoning" {
				d.Thoughts += text
			}
		case name == "tool_calls" && isList:
			for _, one := range parts {
				called(message, one)
			}
		case isList: // parts of a content that has several kinds
			all, _ := message[name].([]any)
			message[name] = append(all, parts...)
			for _, one := range parts {
				part, _ := one.(map[string]any)
				text, _ := part["text"].(string)
				d.Text += text
			}
		default:
			message[name] = v
		}
	}
	return d
}

// called adds a piece of a call of a tool.
func called(message map[string]any, piece any) {
	p, _ := piece.(map[string]any)
	call := element(message, "tool_calls", p["index"])
	if call == nil {
		return
	}
	for name, v := range p {
		if f, ok := v.(map[string]any); ok && name == "function" {
			to := member(call, "function")
			for k, v := range f {
				if text, ok := v.(string); ok {
					grow(to, k, text)
				}
			}
			continue
		}
		if name != "index" && v != nil {
			call[name] = v
		}
	}
}

// response takes an event of a response; the last has it whole.
func (s *Stream) response(e map[string]any) Delta {
	text, _ := e["delta"].(string)
	switch e["type"] {
	case "response.output_text.delta":
		return Delta{Text: text}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return Delta{Thoughts: text}
	case "response.completed", "response.incomplete", "response.failed":
		if whole, ok := e["response"].(map[string]any); ok {
			s.doc, s.over = whole, true
		}
	}
	return Delta{}
}

// message takes an event of a message.
func (s *Stream) message(e map[string]any) Delta {
	switch e["type"] {
	case "message_start":
		if m, ok := e["message"].(map[string]any); ok {
			s.doc = m
		}
	case "content_block_start":
		if to := element(s.doc, "content", e["index"]); to != nil {
			block, _ := e["content_block"].(map[string]any)
			for k, v := range block {
				to[k] = v
			}
		}
	case "content_block_delta":
		to := element(s.doc, "content", e["index"])
		delta, _ := e["delta"].(map[string]any)
		if to == nil {
			break
		}
		for _, name := range []string{"text", "thinking", "signature"} {
			if text, ok := delta[name].(string); ok {
				grow(to, name, text)
			}
		}
		if text, ok := delta["partial_json"].(string); ok {
			grow(to, "partial_json", text)
		}
		text, _ := delta["text"].(string)
		thoughts, _ := delta["thinking"].(string)
		return Delta{text, thoughts}
	case "content_block_stop":
		if to := element(s.doc, "content", e["index"]); to != nil && to["partial_json"] != nil {
			arguments := fmt.Sprint(to["partial_json"])
			if delete(to, "partial_json"); json.Valid([]byte(arguments)) {
				to["input"] = json.RawMessage(arguments)
			} else if arguments != "" {
				to["input"] = arguments
			}
		}
	case "message_delta":
		delta, _ := e["delta"].(map[string]any)
		for k, v := range delta {
			s.doc[k] = v
		}
		usage, _ := e["usage"].(map[string]any)
		for k, v := range usage {
			if v != nil {
				member(s.doc, "usage")[k] = v
			}
		}
	case "message_stop":
		s.over = true
	}
	return Delta{}
}

// generate takes one of the replies that Gemini's come in.
func (s *Stream) generate(e map[string]any) (d Delta) {
	for k, v := range e {
		if k != "candidates" {
			s.doc[k] = v
		}
	}
	if blocked, ok := e["promptFeedback"].(map[string]any); ok && blocked["blockReason"] != nil {
		s.over = true
	}
	candidates, _ := e["candidates"].([]any)
	for _, one := range candidates {
		c, _ := one.(map[string]any)
		to := element(s.doc, "candidates", c["index"])
		if to == nil {
			continue
		}
		for k, v := range c {
			if k != "content" {
				to[k] = v
			}
		}
		if c["finishReason"] != nil {
			s.over = true
		}
		content, _ := c["content"].(map[string]any)
		whole := member(to, "content")
		if role, ok := content["role"]; ok {
			whole["role"] = role
		}
		parts, _ := content["parts"].([]any)
		for _, p := range parts {
			part, _ := p.(map[string]any)
			text, _ := part["text"].(string)
			thought, _ := part["thought"].(bool)
			all, _ := whole["parts"].([]any)
			whole["parts"] = append(all, part)
			if thought {
				d.Thoughts += text
			} else {
				d.Text += text
			}
		}
	}
	return d
}
