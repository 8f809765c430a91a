package bodies

import (
	"encoding/json"

	"github.com/valyala/fastjson"
)

// Event is one event of a streamed reply.
type Event struct {
	Name string // empty: it has data alone
	Data []byte
}

// object is a JSON object that is taken apart.
type object = map[string]any

func eventOf(name string, data any) Event { return Event{name, AppendJSON(nil, data)} }

// wholeReply reads a reply again that was just written.
func wholeReply(whole []byte) object {
	var reply object
	if err := json.Unmarshal(whole, &reply); err != nil {
		return object{}
	}
	return reply
}

// pieceSize is how many characters come at once.
const pieceSize = 16

// pieces cuts a text as a model would hand it out. An empty text is one piece.
func pieces(text any) []string {
	s, _ := text.(string)
	all, out := []rune(s), []string{}
	for len(all) > pieceSize {
		out, all = append(out, string(all[:pieceSize])), all[pieceSize:]
	}
	return append(out, string(all))
}

// with returns a copy of an object with some other fields.
func with(o object, fields object) object {
	out := object{}
	for k, v := range o {
		out[k] = v
	}
	for k, v := range fields {
		out[k] = v
	}
	return out
}

// first returns the first object of a list.
func first(list any) object {
	if all, ok := list.([]any); ok && len(all) > 0 {
		o, _ := all[0].(object)
		return o
	}
	return object{}
}

// Stream returns a reply as chunks: the role, the thoughts, the text, the end; and the usage, where it is asked for or always told.
func (d Chat) Stream(whole []byte, asked *fastjson.Value) []Event {
	reply := wholeReply(whole)
	choices, _ := reply["choices"].([]any)
	usage := reply["usage"]
	head := with(reply, object{"object": "chat.completion.chunk"})
	delete(head, "usage")
	delete(head, "prompt")
	var out []Event
	extra := asked.GetBool("stream_options", "include_usage")
	for i, c := range choices {
		choice, _ := c.(object)
		var more object
		if d.UsageLast && !extra && i == len(choices)-1 {
			more = object{"usage": usage}
		}
		out = append(out, d.streamed(head, choice, more)...)
	}
	if extra {
		out = append(out, eventOf("", with(head, object{"choices": []any{}, "usage": usage})))
	}
	return append(out, Event{Data: []byte("[DONE]")})
}

// streamed returns one answer as chunks; the last has more.
func (d Chat) streamed(head, choice, last object) []Event {
	var out []Event
	message, _ := choice["message"].(object)
	chunk := func(delta object, finish any, more object) {
		one := object{"index": choice["index"], "delta": delta, "logprobs": nil, "finish_reason": finish}
		if finish != nil {
			one["logprobs"] = choice["logprobs"]
		}
		out = append(out, eventOf("", with(head, with(object{"choices": []any{one}}, more))))
	}
	chunk(object{"role": "assistant", "content": ""}, nil, nil)
	content := message["content"]
	if parts, ok := content.([]any); ok { // thoughts are in parts of the content
		thought := first(first(content)["thinking"])
		for _, p := range pieces(thought["text"]) {
			chunk(object{"content": []any{object{"type": "thinking", "thinking": []any{object{"type": "text", "text": p}}}}}, nil, nil)
		}
		last, _ := parts[len(parts)-1].(object)
		content = last["text"]
	}
	for _, name := range []string{"reasoning", "reasoning_content", "refusal"} {
		if text, ok := message[name].(string); ok && text != "" {
			for _, p := range pieces(text) {
				chunk(object{name: p}, nil, nil)
			}
		}
	}
	if content != nil {
		for _, p := range pieces(content) {
			chunk(object{"content": p}, nil, nil)
		}
	}
	for _, c := range callsIn(message) {
		f, _ := c["function"].(object)
		chunk(object{"tool_calls": []any{with(c, object{"function": with(f, object{"arguments": ""})})}}, nil, nil)
		for _, p := range pieces(argumentsText(f["arguments"])) {
			chunk(object{"tool_calls": []any{object{"index": c["index"], "function": object{"arguments": p}}}}, nil, nil)
		}
	}
	chunk(object{}, choice["finish_reason"], last)
	return out
}

// callsIn returns the calls of a message.
func callsIn(message object) []object {
	list, _ := message["tool_calls"].([]any)
	var out []object
	for _, c := range list {
		if one, ok := c.(object); ok {
			out = append(out, one)
		}
	}
	return out
}

// argumentsText returns arguments as text, whatever form they have.
func argumentsText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(AppendJSON(nil, v))
}

// Stream returns a reply as events: each part begins, grows and ends.
func (d Messages) Stream(whole []byte, _ *fastjson.Value) []Event {
	reply := wholeReply(whole)
	usage, _ := reply["usage"].(object)
	content, _ := reply["content"].([]any)
	var out []Event
	add := func(name string, fields object) { out = append(out, eventOf(name, with(fields, object{"type": name}))) }
	begun := with(reply, object{"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "stop_details": nil,
		"usage": with(usage, object{"output_tokens": 1})})
	add("message_start", object{"message": begun})
	add("ping", nil)
	for i, part := range content {
		block, _ := part.(object)
		grow := func(delta object) { add("content_block_delta", object{"index": i, "delta": delta}) }
		switch block["type"] {
		case "web_search_tool_result", "bash_code_execution_tool_result":
			add("content_block_start", object{"index": i, "content_block": block})
		case "tool_use", "server_tool_use":
			add("content_block_start", object{"index": i, "content_block": with(block, object{"input": object{}})})
			for _, p := range pieces(argumentsText(block["input"])) {
				grow(object{"type": "input_json_delta", "partial_json": p})
			}
		case "thinking":
			add("content_block_start", object{"index": i, "content_block": with(block, object{"thinking": "", "signature": ""})})
			for _, p := range pieces(block["thinking"]) {
				grow(object{"type": "thinking_delta", "thinking": p})
			}
			grow(object{"type": "signature_delta", "signature": block["signature"]})
		default:
			add("content_block_start", object{"index": i, "content_block": with(block, object{"text": ""})})
			for _, p := range pieces(block["text"]) {
				grow(object{"type": "text_delta", "text": p})
			}
		}
		add("content_block_stop", object{"index": i})
	}
	end := object{"stop_reason": reply["stop_reason"], "stop_sequence": reply["stop_sequence"], "stop_details": reply["stop_details"],
		"container": nil}
	add("message_delta", object{"delta": end, "usage": usage})
	add("message_stop", nil)
	return out
}

// Stream returns a reply as a few replies, each with a piece of the text; the last of an answer has the reason for its end, and the usage.
func (d Generate) Stream(whole []byte, _ *fastjson.Value) []Event {
	reply := wholeReply(whole)
	candidates, _ := reply["candidates"].([]any)
	var out []Event
	for _, c := range candidates {
		candidate, _ := c.(object)
		out = append(out, d.streamed(reply, candidate)...)
	}
	if len(out) == 0 { // there is no text
		return []Event{{Data: whole}}
	}
	return out
}

func (d Generate) streamed(reply, candidate object) []Event {
	content, _ := candidate["content"].(object)
	parts, _ := content["parts"].([]any)
	var out []Event
	for _, part := range parts {
		one, _ := part.(object)
		if _, called := one["functionCall"]; called {
			said := with(candidate, object{"content": with(content, object{"parts": []any{one}})})
			delete(said, "finishReason")
			out = append(out, eventOf("", with(reply, object{"candidates": []any{said}})))
			continue
		}
		for _, p := range pieces(one["text"]) {
			said := with(candidate, object{"content": with(content, object{"parts": []any{with(one, object{"text": p})}})})
			delete(said, "finishReason")
			out = append(out, eventOf("", with(reply, object{"candidates": []any{said}})))
		}
	}
	if len(out) == 0 { // there is no text
		return []Event{eventOf("", with(reply, object{"candidates": []any{candidate}}))}
	}
	end := with(candidate, object{"content": with(content, object{"parts": []any{object{"text": ""}}})})
	return append(out, eventOf("", with(reply, object{"candidates": []any{end}})))
}
