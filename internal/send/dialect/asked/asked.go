// Package asked reads the bodies of requests back: what a client wrote in one dialect, ready to be written in another.
package asked

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Request is the body of a request, read back: dialect.AppendBody makes it again, in this dialect or in another.
type Request struct {
	Model  string // empty where the job names it
	Prompt assay.Prompt
	Params assay.Params
	Lost   []string // members of the body that have no place here, in order; what only repeats an API's default is not among them
}

// Read reads a body that others wrote. It returns an error if its question cannot be converted to another
// dialect: it has pictures, tools or roles that are no text of a conversation.
func Read(d assay.Dialect, body []byte) (Request, error) {
	var r reading
	t := &taker{reading: &r}
	if json.Unmarshal(body, &t.from) != nil || t.from == nil {
		return r.asked, errors.New("the body is no JSON object")
	}
	switch d {
	case assay.DialectChat:
		t.chat()
	case assay.DialectResponses:
		t.responses()
	case assay.DialectMessages:
		t.messages()
	case assay.DialectGenerate:
		t.generate()
	case assay.DialectConverse:
		t.converse()
	default:
		return r.asked, fmt.Errorf("bodies of %s cannot be read back", d)
	}
	t.rest()
	slices.Sort(r.asked.Lost)
	r.asked.Lost = slices.Compact(r.asked.Lost)
	return r.asked, r.err
}

// reading holds the parts of a body that were read, and the first part that cannot be.
type reading struct {
	asked Request
	tools map[string]string // ids of calls: their tools
	err   error
}

func (r *reading) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// taker takes an object of a body apart: what is not taken is lost.
type taker struct {
	*reading
	from map[string]json.RawMessage
	path string // of the object in the body, with a dot at its end
}

func (t *taker) within(path string, from map[string]json.RawMessage) *taker {
	return &taker{reading: t.reading, path: path + ".", from: from}
}

func (t *taker) lose(name string) { t.asked.Lost = append(t.asked.Lost, t.path+name) }

// raw takes a member unparsed; nil: it is not there, or null.
func (t *taker) raw(names ...string) json.RawMessage {
	var found json.RawMessage
	for _, name := range names {
		if raw := t.from[name]; found == nil && len(raw) > 0 && string(raw) != "null" {
			found = raw
		}
		delete(t.from, name)
	}
	return found
}

// take takes a member into a value, which is unchanged if there is none.
func (t *taker) take(into any, names ...string) {
	raw := t.raw(names...)
	if raw == nil {
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			err = fmt.Errorf("it is a %s", wrong.Value)
		}
		t.fail(fmt.Errorf("%s%s: %w", t.path, names[0], err))
	}
}

// inside takes a member that is an object; without one it is empty.
func (t *taker) inside(names ...string) *taker {
	in := t.within(t.path+names[0], nil)
	t.take(&in.from, names...)
	return in
}

// rest reports the members that were not taken as lost, but for those with idle values.
func (t *taker) rest() {
	for _, name := range slices.Sorted(maps.Keys(t.from)) {
		if raw := string(t.from[name]); raw != "null" && !slices.Contains(idle()[name], raw) {
			t.lose(name)
		}
	}
}

// idle returns the values of members that equal the defaults.
func idle() map[string][]string {
	return map[string][]string{
		"stream": {"false"}, "n": {"1"}, "store": {"false"}, "background": {"false"}, "logprobs": {"false"}, "top_logprobs": {"0"},
		"frequency_penalty": {"0", "0.0"}, "presence_penalty": {"0", "0.0"}, "logit_bias": {"{}"}, "metadata": {"{}"},
		"candidateCount": {"1"}, "safetySettings": {"[]"},
		"strict": {"true", "false"},
	}
}

// text returns the text of a message or of a system prompt: a text, or a list of parts of the given kinds.
func (t *taker) text(what string, raw json.RawMessage, between string, kinds ...string) string {
	var text string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []map[string]json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		t.fail(fmt.Errorf("%s is neither a text nor a list of parts", what))
		return ""
	}
	var texts []string
	for _, part := range parts {
		p := t.within(what, part)
		kind, text := "", ""
		p.take(&kind, "type")
		if len(kinds) > 0 && !slices.Contains(kinds, kind) || part["text"] == nil {
			t.fail(fmt.Errorf("%s has a part that is no text%s", what, quoted(kind)))
			return ""
		}
		p.take(&text, "text")
		p.rest()
		texts = append(texts, text)
	}
	return strings.Join(texts, between)
}

func quoted(kind string) string {
	if kind == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", kind)
}

const between = "\n\n" // as between a context and its question

// conversation takes a list of messages; leading ones under a system role become the system text.
func (t *taker) conversation(name string, kinds ...string) {
	var list []map[string]json.RawMessage
	raw := t.raw(name)
	if raw == nil || json.Unmarshal(raw, &list) != nil {
		t.fail(fmt.Errorf("%s%s is no list of messages", t.path, name))
		return
	}
	for i, m := range list {
		in := t.within(name, m)
		var role, kind string
		in.take(&role, "role")
		if in.take(&kind, "type"); kind != "" && kind != "message" {
			in.item(i, kind)
			continue
		}
		what := fmt.Sprintf("message %d", i+1)
		if role == "tool" {
			in.answer(in.raw("tool_call_id"), in.raw("content"))
			in.raw("name")
			in.rest()
			continue
		}
		text, parts := in.content(what, in.raw("content"), between, kinds...)
		parts = in.calls(text, parts)
		in.raw("refusal", "annotations", "audio", "id", "status") // of answers that are sent back
		in.rest()
		t.speak(i, role, text, parts)
	}
}

// calls takes the calls of a message of chat completions, behind what it says.
func (t *taker) calls(text string, parts []assay.Part) []assay.Part {
	var list []struct {
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
		Extra struct {
			Google struct {
				Signature string `json:"thought_signature"`
			}
		} `json:"extra_content"`
	}
	if t.take(&list, "tool_calls"); len(list) == 0 {
		return parts
	}
	if text != "" {
		parts = append(parts, assay.Part{Text: text})
	}
	for _, c := range list {
		if c.Function.Name == "" {
			t.fail(errors.New("a call names no tool"))
		}
		one := call(c.ID, c.Function.Name, c.Function.Arguments)
		one.Signature = c.Extra.Google.Signature
		parts = append(parts, assay.Part{Call: t.remember(one)})
	}
	return parts
}

// answer takes what a tool gave back, as a message or an item of its own: it goes to the user's side.
func (t *taker) answer(id, content json.RawMessage) {
	r := &assay.ToolResult{}
	if json.Unmarshal(id, &r.ID) != nil {
		t.fail(errors.New("the result of a tool does not name its call"))
	}
	r.Name = t.tools[r.ID]
	r.Text, r.Parts = t.content("the result of a tool", content, between)
	t.add(assay.RoleUser, assay.Part{Result: r})
}

// item takes an item of responses that is no message: a call, or what came of it.
func (t *taker) item(i int, kind string) {
	switch kind {
	case "function_call":
		var id, name string
		t.take(&id, "call_id")
		t.take(&name, "name")
		t.add(assay.RoleAssistant, assay.Part{Call: t.remember(call(id, name, t.raw("arguments")))})
		t.raw("id", "status")
	case "function_call_output":
		t.answer(t.raw("call_id"), t.raw("output"))
		t.raw("id", "status")
	case "reasoning": // thoughts that only their maker reads
		t.from = nil
	default:
		t.fail(fmt.Errorf("message %d is a %q", i+1, kind))
	}
	t.rest()
}

// add adds a part to the last message if it is of the same side, and else begins one.
func (t *taker) add(role assay.Role, p assay.Part) {
	list := t.asked.Prompt.Messages
	if n := len(list); n > 0 && list[n-1].Role == role && (len(list[n-1].Parts) > 0 || role == assay.RoleAssistant) {
		last := &list[n-1]
		if len(last.Parts) == 0 && last.Text != "" {
			last.Parts = []assay.Part{{Text: last.Text}}
		}
		last.Text, last.Parts = "", append(last.Parts, p)
		return
	}
	t.asked.Prompt.Messages = append(list, assay.Message{Role: role, Parts: []assay.Part{p}})
}

// speak adds one message.
func (t *taker) speak(i int, role, text string, parts []assay.Part) {
	p := &t.asked.Prompt
	if len(parts) > 0 {
		text = ""
	}
	switch role {
	case "system", "developer":
		if len(p.Messages) > 0 {
			t.fail(fmt.Errorf("message %d: a %s message stands behind the conversation's beginning", i+1, role))
		}
		if len(parts) > 0 {
			t.fail(fmt.Errorf("message %d: a %s message is a text", i+1, role))
		}
		p.System = joined(p.System, text)
	case "user":
		p.Messages = append(p.Messages, assay.Message{Role: assay.RoleUser, Text: text, Parts: parts})
	case "assistant", "model":
		p.Messages = append(p.Messages, assay.Message{Role: assay.RoleAssistant, Text: text, Parts: parts})
	default:
		t.fail(fmt.Errorf("message %d has the role %q", i+1, role))
	}
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}
