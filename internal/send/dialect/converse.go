package dialect

import (
	"assay/internal/assay"
)

// writeConverse writes the body of Bedrock's Converse.
func (w *body) writeConverse() error {
	if w.prompt.System != "" {
		w.field("system")
		w.b = append(w.b, `[{"text":`...)
		w.b = appendString(w.b, w.prompt.System)
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
	t.asked.Prompt.System = t.said("system", t.raw("system"), between)
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
func (d *Decoder) readConverse(v value) assay.Outcome {
	o := assay.Outcome{
		Tier:   d.same(&d.tier, v.get("serviceTier").get("type")),
		Usage:  converseUsage(v.get("usage")),
		Finish: d.same(&d.finish, v.get("stopReason")),
	}
	content := v.get("output").get("message").get("content")
	for block := range content.all() {
		d.say(d.text(block.get("text")))
		d.think(d.text(block.get("reasoningContent").get("reasoningText").get("text")))
	}
	o.Text, o.Thoughts = d.said(paragraphs)
	if !content.is(array) {
		if v.get("message").present() || v.get("error").present() {
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
func converseUsage(v value) assay.Usage {
	var c counts
	fresh, written := c.need(v.get("inputTokens")), c.of(v.get("cacheWriteInputTokens"))
	u := assay.Usage{Cached: c.of(v.get("cacheReadInputTokens")), Output: c.need(v.get("outputTokens"))}
	for part := range v.get("cacheDetails").all() {
		if string(part.get("ttl").source()) == "1h" {
			u.CacheWrite1h += c.of(part.get("inputTokens"))
		}
	}
	u.CacheWrite1h = min(u.CacheWrite1h, written)
	u.CacheWrite5m = written - u.CacheWrite1h // given without its lifetime: the shorter is the default
	u.Input = fresh + u.Cached + written
	return c.known(u)
}

// recordLine reads a record of Bedrock: what the model said, or an error, behind an echo of what it was asked.
func (d *Decoder) recordLine(w assay.Wire, v value) assay.Outcome {
	if reply := v.get("modelOutput"); reply.present() {
		return d.reply(w.Dialect, reply, reasoningOf(w))
	}
	if v.get("error").present() {
		return unanswered(d.fault(0, v))
	}
	return failed(assay.Outcome{}, unreadable("no_response", "the line has neither modelOutput nor error"))
}
