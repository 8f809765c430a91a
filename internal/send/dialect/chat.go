package dialect

import (
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/likely"
	"assay/internal/send/dialect/parts"
)

// writeChat writes the body of OpenAI chat completions, which many providers read.
func (w *body) writeChat() error {
	w.modelField()
	w.field("messages")
	w.b = append(w.b, '[')
	w.turns(or(w.wire.SystemRole, "system"))
	w.b = append(w.b, ']')

	w.float("temperature", w.params.Temperature)
	w.float("top_p", w.params.TopP)
	w.topK("top_k")
	w.maxTokens("max_tokens")
	if err := w.chatReasoning(); err != nil {
		return err
	}
	w.texts("stop", w.params.Stop)
	w.seed("seed")
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.object("response_format")
		w.text("type", "json_schema")
		w.field("json_schema")
		w.b = append(w.b, `{"name":"answer","strict":true,"schema":`...)
		w.schema()
		w.b = append(w.b, '}')
		w.end()
	case assay.SchemaWireJSONObject:
		w.object("response_format")
		w.text("type", "json_object")
		w.end()
	}
	w.chatTools()
	if w.params.Logprobs > 0 {
		w.truth("logprobs", true)
	}
	w.several("n", "top_logprobs")
	w.tier("service_tier")
	w.keepNothing()
	w.cacheKey()
	return nil
}

func (w *body) modelField() {
	if w.wire.ModelInBody {
		w.text("model", w.model)
	}
}

func (w *body) keepNothing() {
	if w.wire.StoreFalse {
		w.truth("store", false)
	}
}

// turns writes the system text under its role, then the conversation.
func (w *body) turns(systemRole string) {
	if w.prompt.System != "" && systemRole != "" {
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, systemRole...)
		w.b = append(w.b, `","content":`...)
		w.b = jsontext.AppendString(w.b, w.prompt.System)
		w.b = append(w.b, '}')
	}
	first := w.firstUser()
	for i, m := range w.prompt.Messages {
		if len(m.Parts) > 0 {
			w.parts(&m, i == first)
			continue
		}
		w.item()
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, m.Role...)
		w.b = append(w.b, `","content":`...)
		w.speech(i, first)
		w.b = append(w.b, '}')
	}
}

// parts writes a message that has parts, behind the context where it is the first of the user.
func (w *body) parts(m *assay.Message, first bool) {
	context := ""
	if first {
		context = w.prompt.Context
	}
	w.content(func(p *parts.Writer) {
		switch w.wire.Dialect {
		case assay.DialectResponses:
			p.Responses(m, context)
		case assay.DialectOllama:
			p.Ollama(m, context)
		default:
			p.Chat(m, context)
		}
	})
}

// chatReasoning writes effort and thinking: a flat field, or a reasoning object where the provider has one.
func (w *body) chatReasoning() error {
	effort := w.params.Effort
	if effort != "" && (w.wire.EffortField != "" || w.wire.Thinking != assay.ThinkingWireReasoning) {
		w.text(or(w.wire.EffortField, "reasoning_effort"), effort)
		effort = ""
	}
	w.object("reasoning")
	err := w.reasoningFields(effort)
	w.end()
	return err
}

// reasoningFields writes the inside of a reasoning object.
func (w *body) reasoningFields(effort string) error {
	t := w.params.Thinking
	if t.Enabled() && w.wire.Thinking == assay.ThinkingWireNone {
		return noPlace("thinking")
	}
	switch w.wire.Thinking {
	case assay.ThinkingWireReasoning:
		if effort != "" && (t.Mode == assay.ThinkingTokens || t.Mode == assay.ThinkingLevel && t.Level != effort) {
			return fmt.Errorf("effort %s and thinking %s exclude each other", effort, t.Mode)
		}
		switch t.Mode {
		case assay.ThinkingTokens:
			w.number("max_tokens", int64(t.Tokens))
		case assay.ThinkingLevel:
			effort = t.Level
		case assay.ThinkingOn, assay.ThinkingOff:
			w.truth("enabled", t.Enabled())
		}
	case assay.ThinkingWireEnableFlag:
		switch t.Mode {
		case assay.ThinkingTokens, assay.ThinkingLevel:
			return fmt.Errorf("thinking is only on or off here, not %s", t.Mode)
		case assay.ThinkingOn, assay.ThinkingOff:
			w.truth("enabled", t.Enabled())
		}
	case assay.ThinkingWireNone:
	default:
		return fmt.Errorf("thinking cannot be written as %s", w.wire.Thinking)
	}
	if effort != "" {
		w.text("effort", effort)
	}
	return nil
}

// readChat reads a chat completion.
func (d *Decoder) readChat(v jsontext.Value, r reasoning) assay.Outcome {
	o := assay.Outcome{
		Model:     d.same(&d.model, v.Get("model")),
		RequestID: d.word(v.Get("id")),
		Tier:      d.same(&d.tier, v.Get("service_tier")),
		Usage:     openUsage(v.Get("usage"), r),
	}
	choice := v.Get("choices").First()
	message := choice.Get("message")
	o.Finish = d.same(&d.finish, choice.Get("finish_reason"))
	o.Text, o.Thoughts = d.chatContent(message)
	o.Likely = likely.Open(choice.Get("logprobs").Get("content"))
	for c := range message.Get("tool_calls").All() {
		f := c.Get("function")
		o.Calls = append(o.Calls, d.readCall(c.Get("id"), f.Get("name"), f.Get("arguments")))
	}
	switch {
	case v.Get("error").Present(), d.word(v.Get("object")) == "error": // Mistral's has no member of its own
		return failed(o, d.fault(0, v))
	case choice.Get("error").Present():
		return failed(o, d.fault(0, choice))
	case !message.Is(jsontext.Object):
		return failed(o, unreadable("no_choices", "the reply has no choice with a message"))
	}
	if refusal := d.text(message.Get("refusal")); refusal != "" {
		o.Text = refusal
		return ended(o, stopRefused)
	}
	switch o.Finish {
	case "length", "model_length", "max_tokens":
		return ended(o, stopCut)
	case "content_filter", "refusal":
		return ended(o, stopRefused)
	case "error", "abort", "insufficient_system_resource":
		return failed(o, assay.Fault{Class: assay.FaultBusy, Code: o.Finish, Message: "the provider broke the answer off"})
	}
	return ended(o, stopWhole)
}

// chatContent reads the answer and the thoughts of a message, whose content is a text or a list of chunks.
func (d *Decoder) chatContent(m jsontext.Value) (text, thoughts string) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if thoughts = d.text(m.Get(name)); thoughts != "" {
			d.addThought(thoughts)
			break
		}
	}
	content := m.Get("content")
	d.addText(d.text(content))
	for c := range content.All() {
		switch string(d.bytes(c.Get("type"))) {
		case "text", "output_text":
			d.addText(d.text(c.Get("text")))
		case "thinking", "reasoning":
			d.addThought(d.chunkThoughts(c))
		}
	}
	return d.flush(paragraphs)
}

// chunkThoughts reads a chunk of thinking: a text, or Mistral's list of text chunks.
func (d *Decoder) chunkThoughts(c jsontext.Value) string {
	v := c.Get("thinking")
	if !v.Is(jsontext.Array) {
		return d.text(v) + d.text(c.Get("text"))
	}
	var all strings.Builder
	for p := range v.All() {
		all.WriteString(d.text(p.Get("text")))
	}
	return all.String()
}

// readData reads the reply of an endpoint that gives no text. What it holds is for who asked: kept are its usage and its fault.
func (d *Decoder) readData(v jsontext.Value) assay.Outcome {
	o := assay.Outcome{Model: d.same(&d.model, v.Get("model")), RequestID: d.word(v.Get("id"))}
	usage := v.Get("usage")
	if input := usage.Get("prompt_tokens"); input.Present() { // what comes out is not counted
		var c counts
		o.Usage = c.known(assay.Usage{Input: c.need(input)})
	}
	switch {
	case v.Get("error").Present(), d.word(v.Get("object")) == "error":
		return failed(o, d.fault(0, v))
	case v.Get("data").First().Present(), v.Get("results").First().Present(), v.Get("pages").First().Present():
		o.Ending = assay.Answered
	default:
		o.Ending = assay.Empty
	}
	return o
}
