package dialect

import (
	"errors"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// writeOllama writes the body of Ollama's own chat call.
func (w *body) writeOllama() error {
	w.modelField()
	w.field("messages")
	w.b = append(w.b, '[')
	w.turns(or(w.wire.SystemRole, "system"))
	w.b = append(w.b, ']')
	w.truth("stream", false) // the default is a stream
	if err := w.think(); err != nil {
		return err
	}
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.field("format")
		w.schema()
	case assay.SchemaWireJSONObject:
		w.text("format", "json")
	}
	w.ollamaTools()
	w.object("options")
	w.float("temperature", w.params.Temperature)
	w.float("top_p", w.params.TopP)
	w.topK("top_k")
	w.maxTokens("num_predict")
	w.texts("stop", w.params.Stop)
	w.seed("seed")
	w.end()
	if w.params.ServiceTier != "" {
		return noPlace("service_tier")
	}
	return nil
}

// ollamaTools writes tools, which the model alone chooses among.
func (w *body) ollamaTools() {
	w.noSwitch()
	w.several("", "")
	if c := w.params.ToolChoice.Mode; c != "" && c != assay.ToolAuto {
		w.fail(noPlace("tool_choice"))
	}
	w.functions(false)
}

// think writes a level or a yes or no; effort is another name of the level.
func (w *body) think() error {
	t := w.params.Thinking
	level := w.params.Effort
	switch {
	case w.wire.Thinking == assay.ThinkingWireNone && (t.Enabled() || level != ""):
		return noPlace("thinking")
	case t.Mode == assay.ThinkingTokens:
		return errors.New("thinking takes on, off or a level here, not a number of tokens")
	case level != "" && t.Mode != assay.ThinkingUnset && t.Level != level:
		return errors.New("effort and thinking exclude each other")
	}
	if t.Mode == assay.ThinkingLevel {
		level = t.Level
	}
	switch {
	case w.wire.Thinking == assay.ThinkingWireNone:
	case level != "":
		w.text("think", level)
	case t.Mode != assay.ThinkingUnset:
		w.truth("think", t.Enabled())
	}
	return nil
}

// readOllama reads a reply of Ollama's own chat call.
func (d *Decoder) readOllama(v jsontext.Value) assay.Outcome {
	message := v.Get("message")
	o := assay.Outcome{
		Model:    d.same(&d.model, v.Get("model")),
		Usage:    ollamaUsage(v),
		Text:     d.text(message.Get("content")),
		Thoughts: d.text(message.Get("thinking")),
		Finish:   d.same(&d.finish, v.Get("done_reason")),
	}
	for c := range message.Get("tool_calls").All() {
		f := c.Get("function")
		o.Calls = append(o.Calls, d.readCall(c.Get("id"), f.Get("name"), f.Get("arguments")))
	}
	switch {
	case v.Get("error").Present():
		return failed(o, d.fault(0, v))
	case !message.Is(jsontext.Object):
		return failed(o, unreadable("no_message", "the reply has no message"))
	case o.Finish == "length":
		return ended(o, stopCut)
	}
	return ended(o, stopWhole)
}
