package dialect

import (
	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/parts"
)

// writeConverse writes the body of Bedrock's Converse.
func (w *body) writeConverse() error {
	if system := w.system(); system != "" {
		w.field("system")
		w.b = append(w.b, `[{"text":`...)
		w.b = jsontext.AppendString(w.b, system)
		w.b = append(w.b, `}]`...)
	}
	w.field("messages")
	w.b = append(w.b, '[')
	first := w.firstUser()
	for i, m := range w.prompt.Messages {
		w.item()
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, m.Role...)
		w.b = append(w.b, `","content":[`...)
		if len(m.Parts) > 0 {
			w.content(func(p *parts.Writer) { p.Converse(w.framed(m.Parts, i == first)) })
		} else {
			w.b = append(w.b, `{"text":`...)
			w.speech(i, first)
			w.b = append(w.b, '}')
		}
		w.b = append(w.b, `]}`...)
	}
	w.b = append(w.b, ']')

	w.object("inferenceConfig")
	w.maxTokens("maxTokens")
	w.float("temperature", w.params.Temperature)
	w.float("topP", w.params.TopP)
	w.texts("stopSequences", w.params.Stop)
	w.end()
	w.converseTools()
	w.seed("")
	w.several("", "")
	effort, err := w.modelFields()
	if err != nil {
		return err
	}
	if err := w.textFormat(effort); err != nil {
		return err
	}
	w.object("serviceTier")
	w.tier("type")
	w.end()
	return nil
}

// modelFields writes what is the model's own and not Converse's, and returns the effort where that has another place.
func (w *body) modelFields() (effort string, err error) {
	w.object("additionalModelRequestFields")
	w.topK("top_k")
	if effort, err = w.messagesThinking(); err != nil {
		return "", err
	}
	if effort != "" && w.wire.EffortField != "" {
		w.text(w.wire.EffortField, effort)
		effort = ""
	}
	w.end()
	return effort, nil
}

// textFormat writes the form of the answer. Its schema is a text.
func (w *body) textFormat(effort string) error {
	w.object("outputConfig")
	if effort != "" {
		w.text("effort", effort)
	}
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.field("textFormat")
		w.b = append(w.b, `{"type":"json_schema","structure":{"jsonSchema":{"name":"answer","schema":`...)
		w.schemaText()
		w.b = append(w.b, `}}}`...)
	case assay.SchemaWireJSONObject:
		if w.params.Schema != nil {
			return noPlace("JSON without a schema")
		}
	}
	w.end()
	return nil
}

// schemaText appends the answer schema as a JSON string. The schema itself is written behind it first, without the space
// between its tokens: the tail of the buffer serves as scratch.
func (w *body) schemaText() {
	w.b = append(w.b, '"')
	text := len(w.b)
	w.schema()
	raw := len(w.b)
	for i := text; i < raw; i++ { // nothing in it but quotes and backslashes needs an escape
		if c := w.b[i]; c == '"' || c == '\\' {
			w.b = append(w.b, '\\')
		}
		w.b = append(w.b, w.b[i])
	}
	n := copy(w.b[text:], w.b[raw:])
	w.b = append(w.b[:text+n], '"')
}

// readConverse reads a reply of Converse.
func (d *Decoder) readConverse(v jsontext.Value) assay.Outcome {
	o := assay.Outcome{
		Tier:   d.same(&d.tier, v.Get("serviceTier").Get("type")),
		Usage:  converseUsage(v.Get("usage")),
		Finish: d.same(&d.finish, v.Get("stopReason")),
	}
	content := v.Get("output").Get("message").Get("content")
	for block := range content.All() {
		d.addText(d.text(block.Get("text")))
		if use := block.Get("toolUse"); use.Is(jsontext.Object) {
			o.Calls = append(o.Calls, d.readCall(use.Get("toolUseId"), use.Get("name"), use.Get("input")))
		}
		d.addThought(d.text(block.Get("reasoningContent").Get("reasoningText").Get("text")))
	}
	o.Text, o.Thoughts = d.flush(paragraphs)
	if !content.Is(jsontext.Array) {
		if v.Get("message").Present() || v.Get("error").Present() {
			return failed(o, d.fault(0, v))
		}
		return failed(o, unreadable("no_content", "the reply has no content"))
	}
	switch o.Finish {
	case "guardrail_intervened", "content_filtered", "refusal":
		return ended(o, stopRefused)
	case "max_tokens", "model_context_window_exceeded", "malformed_model_output", "malformed_tool_use":
		return ended(o, stopCut)
	}
	return ended(o, stopWhole)
}

// converseUsage reads the usage of Converse, whose input leaves out what was read from the cache or written to it.
func converseUsage(v jsontext.Value) assay.Usage {
	var c counts
	fresh, written := c.need(v.Get("inputTokens")), c.of(v.Get("cacheWriteInputTokens"))
	u := assay.Usage{Cached: c.of(v.Get("cacheReadInputTokens")), Output: c.need(v.Get("outputTokens"))}
	for part := range v.Get("cacheDetails").All() {
		if string(part.Get("ttl").Source()) == "1h" {
			u.CacheWrite1h += c.of(part.Get("inputTokens"))
		}
	}
	u.CacheWrite1h = min(u.CacheWrite1h, written)
	u.CacheWrite5m = written - u.CacheWrite1h // given without its lifetime: the shorter is the default
	u.Input = fresh + u.Cached + written
	return c.known(u)
}

// recordLine reads a record of Bedrock: the model's reply, or an error, behind an echo of the request.
func (d *Decoder) recordLine(w assay.Wire, v jsontext.Value) assay.Outcome {
	if reply := v.Get("modelOutput"); reply.Present() {
		return d.reply(w.Dialect, reply, reasoningOf(w))
	}
	if v.Get("error").Present() {
		return unanswered(d.fault(0, v))
	}
	return failed(assay.Outcome{}, unreadable("no_response", "the line has neither modelOutput nor error"))
}
