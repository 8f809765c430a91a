package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"assay/internal/assay"
)

// Emitter writes the events of a stream for a client while the answer comes. Events of a provider with the client's API
// are passed on; of others each piece of the answer becomes an event of the client's API.
type Emitter struct {
	To     assay.Dialect // chat completions or responses
	Native bool          // the provider has the client's API
	Usage  bool          // the client wants a chat completion's usage
	Head   ReplyHead

	events
	begun, done, speaks, thought bool
	text, thoughts               strings.Builder
	item                         int // index of the message among the items
}

// Event returns what the client is sent for one event of the provider, with what it adds.
func (e *Emitter) Event(name string, data []byte, d Delta) [][]byte {
	defer func() { e.all = nil }()
	switch {
	case e.Native:
		e.pass(name, data)
	case d.Text == "" && d.Thoughts == "":
	case e.To == assay.DialectChat:
		e.start()
		if d.Thoughts != "" {
			e.chunk(map[string]any{"reasoning_content": d.Thoughts}, nil)
		}
		if d.Text != "" {
			e.chunk(map[string]any{"content": d.Text}, nil)
		}
	default:
		e.start()
		e.thoughts.WriteString(d.Thoughts)
		if d.Text != "" {
			e.speak()
			e.text.WriteString(d.Text)
			e.event("response.output_text.delta", e.at(map[string]any{"delta": d.Text, "logprobs": []any{}}))
		}
	}
	return e.all
}

// End returns what the client is sent when the answer is whole.
func (e *Emitter) End(o *assay.Outcome) [][]byte {
	defer func() { e.all = nil }()
	switch {
	case e.Native && (e.done || e.To == assay.DialectResponses):
	case e.Native:
		e.all = append(e.all, []byte("data: [DONE]\n\n"))
	case e.To == assay.DialectChat:
		e.start()
		for i, c := range chatCalls(e.Head, o) {
			e.chunk(map[string]any{"tool_calls": []any{indexedCall{i, c}}}, nil)
		}
		e.chunk(map[string]any{}, FinishWord(o))
		if e.Usage {
			e.send("", e.chunkOf([]any{}, usageOfChat(o.Usage)))
		}
		e.all = append(e.all, []byte("data: [DONE]\n\n"))
	default:
		e.start()
		e.finish(o)
	}
	return e.all
}

// indexedCall is a call in a chunk.
type indexedCall struct {
	Index int `json:"index"`
	chatCall
}

// pass sends an event on as it came. The chunk that has nothing but the usage is for clients that asked for it.
func (e *Emitter) pass(name string, data []byte) {
	data = bytes.TrimSpace(data)
	if e.done = e.done || string(data) == "[DONE]"; string(data) == "[DONE]" {
		e.all = append(e.all, []byte("data: [DONE]\n\n"))
		return
	}
	if e.To == assay.DialectChat && !e.Usage {
		var c struct {
			Choices []json.RawMessage `json:"choices"`
			Usage   json.RawMessage   `json:"usage"`
		}
		if json.Unmarshal(data, &c) == nil && len(c.Choices) == 0 && len(c.Usage) > 0 && string(c.Usage) != "null" {
			return
		}
	}
	e.raw(name, data)
}

// start writes the events that begin an answer.
func (e *Emitter) start() {
	if e.begun {
		return
	}
	e.begun = true
	if e.To == assay.DialectChat {
		e.chunk(map[string]any{"role": "assistant", "content": ""}, nil)
		return
	}
	begun := responsesReply(e.Head, &assay.Outcome{})
	begun.Status, begun.Output = "in_progress", []any{}
	e.event("response.created", map[string]any{"response": begun})
	e.event("response.in_progress", map[string]any{"response": begun})
}

func (e *Emitter) chunk(delta map[string]any, finish any) {
	e.send("", e.chunkOf([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, nil))
}

func (e *Emitter) chunkOf(choices []any, usage *chatUsage) map[string]any {
	c := map[string]any{"id": "chatcmpl-" + e.Head.ID, "object": "chat.completion.chunk", "created": e.Head.Created, "model": e.Head.Model,
		"choices": choices}
	if e.Usage {
		c["usage"] = usage
	}
	return c
}

// speak begins the message of a response. The thoughts before it are an item of their own.
func (e *Emitter) speak() {
	if e.speaks {
		return
	}
	e.speaks = true
	e.think()
	e.event("response.output_item.added", map[string]any{"output_index": e.item,
		"item": responseMessage{ID: "msg_" + e.Head.ID, Type: "message", Role: "assistant", Status: "in_progress", Content: []any{}}})
	e.event("response.content_part.added", e.at(map[string]any{"part": responseText{Type: "output_text", Annotations: &[]any{}}}))
}

// think sends the thoughts before an answer.
func (e *Emitter) think() {
	if e.thoughts.Len() > 0 && !e.thought {
		e.thought = true
		item := responseThoughts{ID: "rs_" + e.Head.ID, Type: "reasoning",
			Summary: []responseText{{Type: "summary_text", Text: e.thoughts.String()}}}
		e.event("response.output_item.added",
			map[string]any{"output_index": 0, "item": responseThoughts{ID: item.ID, Type: item.Type, Summary: []responseText{}}})
		e.event("response.output_item.done", map[string]any{"output_index": 0, "item": item})
		e.item = 1
	}
}

func (e *Emitter) at(fields map[string]any) map[string]any {
	fields["output_index"], fields["item_id"], fields["content_index"] = e.item, "msg_"+e.Head.ID, 0
	return fields
}

// finish ends the message and the response. Text that was sent is not taken back: a refusal after it cuts the response
// short.
func (e *Emitter) finish(o *assay.Outcome) {
	if len(o.Calls) == 0 {
		e.speak()
	}
	e.think()
	shown := *o
	shown.Model, shown.Text, shown.Thoughts = "", e.text.String(), ""
	if e.thought {
		shown.Thoughts = e.thoughts.String()
	}
	if o.Ending == assay.Refused {
		shown.Ending = assay.Cut
	}
	whole := responsesReply(e.Head, &shown)
	if o.Ending == assay.Refused {
		whole.Incomplete = &incomplete{"content_filter"}
	}
	if e.speaks {
		part := responseText{Type: "output_text", Text: shown.Text, Annotations: &[]any{}}
		e.event("response.output_text.done", e.at(map[string]any{"text": part.Text, "logprobs": []any{}}))
		e.event("response.content_part.done", e.at(map[string]any{"part": part}))
		e.event("response.output_item.done", map[string]any{"output_index": e.item, "item": whole.Output[e.item]})
	}
	for i, item := range whole.Output {
		if call, ok := item.(responseCall); ok {
			e.events.item(i, map[string]any{"id": call.ID, "type": call.Type, "call_id": call.CallID, "name": call.Name,
				"arguments": call.Arguments, "status": call.Status})
		}
	}
	last := "response.completed"
	if whole.Status == "incomplete" {
		last = "response.incomplete"
	}
	e.event(last, map[string]any{"response": whole})
}
