package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// Events returns the server-sent events of a whole reply, in the order in which a client of a stream wants them: the
// answer in one piece. If usage is set, a chat completion's usage comes along; that of responses always does.
func Events(d assay.Dialect, reply []byte, usage bool) ([][]byte, error) {
	in := json.NewDecoder(bytes.NewReader(reply))
	in.UseNumber()
	var doc map[string]any
	if err := in.Decode(&doc); err != nil || doc == nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	e := &events{}
	switch d {
	case assay.DialectChat:
		e.chat(doc, usage)
	case assay.DialectResponses:
		e.responses(doc)
	default:
		return nil, fmt.Errorf("replies of %s are not streamed", d)
	}
	return e.all, e.err
}

type events struct {
	all [][]byte
	seq int
	err error
}

func (e *events) send(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.raw(name, text)
}

// raw sends an event whose data is a document of JSON.
func (e *events) raw(name string, text []byte) {
	line := []byte{}
	if name != "" {
		line = fmt.Appendf(line, "event: %s\n", name)
	}
	line = append(line, "data: "...)
	e.all = append(e.all, append(jsontext.AppendCompact(line, text), '\n', '\n'))
}

// chat makes chunks of a chat completion: the role, the text, the reason of the end.
func (e *events) chat(doc map[string]any, usage bool) {
	head := func(choices []any) map[string]any {
		c := map[string]any{"id": doc["id"], "object": "chat.completion.chunk", "created": doc["created"], "model": doc["model"],
			"choices": choices}
		for _, name := range []string{"service_tier", "system_fingerprint"} {
			if v, ok := doc[name]; ok {
				c[name] = v
			}
		}
		if usage {
			c["usage"] = nil
		}
		return c
	}
	choices, _ := doc["choices"].([]any)
	for i, one := range choices {
		choice, _ := one.(map[string]any)
		message, _ := choice["message"].(map[string]any)
		chunk := func(delta map[string]any, finish any) {
			e.send("", head([]any{map[string]any{"index": i, "delta": delta, "logprobs": nil, "finish_reason": finish}}))
		}
		chunk(map[string]any{"role": "assistant", "content": ""}, nil)
		for _, name := range []string{"reasoning_content", "content", "refusal"} {
			if text, _ := message[name].(string); text != "" {
				chunk(map[string]any{name: text}, nil)
			}
		}
		if calls, _ := message["tool_calls"].([]any); len(calls) > 0 {
			for k, one := range calls {
				if call, ok := one.(map[string]any); ok {
					call["index"] = k
				}
			}
			chunk(map[string]any{"tool_calls": calls}, nil)
		}
		chunk(map[string]any{}, choice["finish_reason"])
	}
	if usage {
		last := head([]any{})
		last["usage"] = doc["usage"]
		e.send("", last)
	}
	e.all = append(e.all, []byte("data: [DONE]\n\n"))
}

// event sends one event of a response, numbered.
func (e *events) event(name string, fields map[string]any) {
	fields["type"], fields["sequence_number"] = name, e.seq
	e.seq++
	e.send(name, fields)
}

// responses makes events of a response: every item is added, sent and done.
func (e *events) responses(doc map[string]any) {
	begun := map[string]any{}
	for k, v := range doc {
		begun[k] = v
	}
	begun["status"], begun["output"], begun["usage"] = "in_progress", []any{}, nil
	e.event("response.created", map[string]any{"response": begun})
	e.event("response.in_progress", map[string]any{"response": begun})
	output, _ := doc["output"].([]any)
	for i, one := range output {
		if item, ok := one.(map[string]any); ok {
			e.item(i, item)
		}
	}
	last := "response.completed"
	if doc["status"] == "incomplete" {
		last = "response.incomplete"
	}
	e.event(last, map[string]any{"response": doc})
}

func (e *events) item(i int, item map[string]any) {
	begun := map[string]any{}
	for k, v := range item {
		begun[k] = v
	}
	if item["type"] == "message" {
		begun["status"], begun["content"] = "in_progress", []any{}
	}
	if item["type"] == "function_call" {
		begun["status"], begun["arguments"] = "in_progress", ""
	}
	at := func(more map[string]any) map[string]any {
		more["output_index"], more["item_id"] = i, item["id"]
		return more
	}
	e.event("response.output_item.added", map[string]any{"output_index": i, "item": begun})
	if item["type"] == "function_call" {
		e.event("response.function_call_arguments.delta", at(map[string]any{"delta": item["arguments"]}))
		e.event("response.function_call_arguments.done", at(map[string]any{"arguments": item["arguments"], "name": item["name"]}))
	}
	content, _ := item["content"].([]any)
	for k, one := range content {
		part, _ := one.(map[string]any)
		if item["type"] != "message" || part == nil {
			continue
		}
		e.part(part, func(more map[string]any) map[string]any { more["content_index"] = k; return at(more) })
	}
	e.event("response.output_item.done", map[string]any{"output_index": i, "item": item})
}

// part sends a text or a refusal of a message.
func (e *events) part(part map[string]any, at func(map[string]any) map[string]any) {
	begun := map[string]any{}
	for k, v := range part {
		begun[k] = v
	}
	name, field := "response.output_text", "text"
	if part["type"] == "refusal" {
		name, field = "response.refusal", "refusal"
	}
	begun[field] = ""
	e.event("response.content_part.added", at(map[string]any{"part": begun}))
	more, done := map[string]any{"delta": part[field]}, map[string]any{field: part[field]}
	if field == "text" {
		more["logprobs"], done["logprobs"] = []any{}, []any{}
	}
	e.event(name+".delta", at(more))
	e.event(name+".done", at(done))
	e.event("response.content_part.done", at(map[string]any{"part": part}))
}
