package dialect

import (
	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// writeConverse writes the body of Bedrock's Converse.
func (w *body) writeConverse() error {
	if w.prompt.System != "" {
		w.field("system")
		w.b = append(w.b, `[{"text":`...)
		w.b = jsontext.AppendString(w.b, w.prompt.System)
		w.b = append(w.b, `}]`...)
	}
	w.field("messages")
	w.b = append(w.b, '[')
	first := w.firstUser()
	for i, m := range w.prompt.Messages {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, m.Role...)
		w.b = append(w.b, `","content":[{"text":`...)
		w.speech(i, first)
		w.b = append(w.b, `}]}`...)
	}
	w.b = append(w.b, ']')

	w.object("inferenceConfig")
	w.maxTokens("maxTokens")
	w.float("temperature", w.params.Temperature)
	w.float("topP", w.params.TopP)
	w.texts("stopSequences", w.params.Stop)
	w.end()
	w.seed("")
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
		return noPlace("JSON without a schema")
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

// converse takes the body of Bedrock's Converse.
func (t *taker) converse() {
	p := &t.asked.Params
	t.asked.Prompt.System = t.text("system", t.raw("system"), between)
	t.conversation("messages")
	c := t.inside("inferenceConfig")
	c.take(&p.MaxTokens, "maxTokens")
	c.take(&p.Temperature, "temperature")
	c.take(&p.TopP, "topP")
	p.Stop = c.stops("stopSequences")
	c.rest()
	own := t.inside("additionalModelRequestFields")
	own.take(&p.TopK, "top_k")
	own.thinking()
	own.rest()
	out := t.inside("outputConfig")
	out.take(&p.Effort, "effort")
	format := out.inside("textFormat")
	structure := format.inside("structure")
	schema := structure.inside("jsonSchema")
	var kind, text string
	format.take(&kind, "type")
	if schema.take(&text, "schema"); text != "" {
		p.Schema = []byte(text)
	}
	schema.raw("name", "description")
	for _, in := range []*taker{schema, structure, format, out} {
		in.rest()
	}
	tier := t.inside("serviceTier")
	tier.take(&p.ServiceTier, "type")
	tier.rest()
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
	case "max_tokens", "model_context_window_exceeded", "malformed_model_output", "malformed_tool_use", "tool_use":
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
