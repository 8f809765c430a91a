package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/parts"
)

// content has parts of messages or tools written behind the body so far.
func (w *body) content(write func(p *parts.Writer)) {
	p := parts.Writer{B: w.b, Wire: w.wire}
	write(&p)
	w.b = p.B
	if p.Err != nil {
		w.fail(p.Err)
	}
}

// value writes a field whose value is of parts.
func (w *body) value(name string, write func(p *parts.Writer)) {
	w.field(name)
	w.content(write)
}

// chatTools writes tools and their choice; in responses a function is flat.
func (w *body) chatTools() {
	flat := w.wire.Dialect == assay.DialectResponses
	w.functions(flat)
	if c := w.params.ToolChoice; c.Mode != "" {
		w.value("tool_choice", func(p *parts.Writer) { p.ChatChoice(c, flat) })
	}
	if w.params.Parallel != nil {
		w.truth("parallel_tool_calls", *w.params.Parallel)
	}
}

func (w *body) functions(flat bool) {
	if tools, own := w.params.Tools, w.serverTools(); len(tools)+len(own) > 0 {
		w.value("tools", func(p *parts.Writer) { p.Functions(tools, flat, own) })
	}
}

// messagesTools writes tools, and a choice that says whether several may be called at once.
func (w *body) messagesTools() {
	tools, c := w.params.Tools, w.params.ToolChoice
	if own := w.serverTools(); len(tools)+len(own) > 0 {
		w.value("tools", func(p *parts.Writer) { p.MessagesTools(tools, own) })
	}
	one := w.oneAtATime()
	if c.Mode != "" || one {
		w.value("tool_choice", func(p *parts.Writer) { p.MessagesChoice(c, one) })
	}
}

// serverTools returns the tools that the provider runs, as elements of the list of tools.
func (w *body) serverTools() (all []string) {
	given := w.params.ServerTools
	if !given.Any() {
		return nil
	}
	most := 0
	if given.WebSearch != nil {
		most = given.WebSearch.MaxUses
	}
	var search, code string
	switch w.wire.Dialect {
	case assay.DialectResponses: // max_tool_calls bounds searches
		search, code = `{"type":"web_search"}`, `{"type":"code_interpreter","container":{"type":"auto"}}`
	case assay.DialectMessages: // called directly: newer ones else run inside code, which some models have not
		search = `{"type":"web_search_20260318","name":"web_search","allowed_callers":["direct"]` + bounded(`,"max_uses":`, most) + `}`
		code = `{"type":"code_execution_20250825","name":"code_execution"}`
	case assay.DialectGenerate:
		if most > 0 {
			w.fail(noPlace("max_uses of web_search"))
		}
		search, code = `{"googleSearch":{}}`, `{"codeExecution":{}}`
	default:
		w.fail(noPlace("server_tools"))
	}
	if given.WebSearch != nil {
		all = append(all, search)
	}
	if given.CodeExecution {
		all = append(all, code)
	}
	return all
}

// bounded returns a member with a bound, where there is one.
func bounded(name string, most int) string {
	if most == 0 {
		return ""
	}
	return name + strconv.Itoa(most)
}

// oneAtATime reports whether no two tools may be called at once.
func (w *body) oneAtATime() bool {
	return w.params.Parallel != nil && !*w.params.Parallel && len(w.params.Tools) > 0
}

// noSwitch refuses the wish for one call at a time where an API has no switch for it.
func (w *body) noSwitch() {
	if w.oneAtATime() {
		w.fail(noPlace("parallel_tool_calls"))
	}
}

func (w *body) generateTools() {
	w.noSwitch()
	tools, c := w.params.Tools, w.params.ToolChoice
	if own := w.serverTools(); len(tools)+len(own) > 0 {
		w.value("tools", func(p *parts.Writer) { p.GenerateTools(tools, own) })
	}
	strict := slices.ContainsFunc(tools, func(t assay.Tool) bool { return t.Strict != nil && *t.Strict })
	if c.Mode != "" || strict {
		w.value("toolConfig", func(p *parts.Writer) { p.GenerateChoice(c, strict) })
	}
}

// converseTools writes tools. That none is to be called has no word there: they are left out.
func (w *body) converseTools() {
	w.noSwitch()
	w.serverTools() // it has none
	tools, c := w.params.Tools, w.params.ToolChoice
	switch {
	case c.Mode == assay.ToolNone && w.called():
		w.fail(noPlace("tool_choice none in a conversation with calls"))
	case c.Mode == assay.ToolNone:
	case len(tools) > 0:
		w.value("toolConfig", func(p *parts.Writer) { p.ConverseTools(tools, c) })
	case c.Mode != "":
		w.fail(noPlace("tool_choice without tools"))
	}
}

// called reports whether the conversation has calls of tools.
func (w *body) called() bool {
	for _, m := range w.prompt.Messages {
		for _, p := range m.Parts {
			if p.Call != nil || p.Result != nil {
				return true
			}
		}
	}
	return false
}

// several writes how many answers are wanted, and how many likely tokens with each place; without a name it refuses them.
func (w *body) several(n, logprobs string) {
	if w.params.N > 1 {
		w.orRefuse(n, "n", w.params.N)
	}
	if w.params.Logprobs > 0 {
		w.orRefuse(logprobs, "logprobs", w.params.Logprobs)
	}
}

func (w *body) orRefuse(name, param string, value int) {
	if name == "" {
		w.fail(noPlace(param))
		return
	}
	w.number(name, int64(value))
}

// jsonOnly asks for JSON where an API has no field for it.
const jsonOnly = "Answer with one JSON object and nothing else: no words around it and no code fence."

// system returns the system text, with the wish for JSON where the dialect has no field for that.
func (w *body) system() string {
	plain := w.wire.Dialect == assay.DialectMessages || w.wire.Dialect == assay.DialectConverse
	switch {
	case !plain || !w.params.JSON || w.params.Schema != nil:
		return w.prompt.System
	case w.prompt.System == "":
		return jsonOnly
	}
	return w.prompt.System + "\n\n" + jsonOnly
}

// framed returns parts behind the context, where they are the first of the user.
func (w *body) framed(parts []assay.Part, first bool) []assay.Part {
	if !first {
		return parts
	}
	return append([]assay.Part{{Text: w.prompt.Context}}, parts...)
}

// textCall returns a call whose arguments came as a text.
func textCall(id, name, arguments string) assay.ToolCall {
	c := assay.ToolCall{ID: id, Name: name}
	raw := bytes.TrimSpace([]byte(arguments))
	switch {
	case len(raw) == 0:
		c.Arguments = json.RawMessage("{}")
	case raw[0] == '{' && jsontext.Valid(raw):
		c.Arguments = jsontext.AppendCompact(nil, raw)
	default:
		c.Broken = arguments
	}
	return c
}

// readCall returns a call whose arguments are a text or an object.
func (d *Decoder) readCall(id, name, arguments jsontext.Value) assay.ToolCall {
	if arguments.Is(jsontext.Object) {
		return textCall(d.word(id), d.word(name), string(arguments.Source()))
	}
	return textCall(d.word(id), d.word(name), d.text(arguments))
}
