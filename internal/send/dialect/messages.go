package dialect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/parts"
)

// writeMessages writes the body of Anthropic messages.
func (w *body) writeMessages() error {
	if w.params.MaxTokens == 0 {
		return errors.New("this API needs max_tokens")
	}
	w.modelField()
	if w.wire.Version != "" {
		w.text("anthropic_version", w.wire.Version)
	}
	w.messagesSystem()
	w.field("messages")
	w.b = append(w.b, '[')
	first := w.firstUser()
	for i, m := range w.prompt.Messages {
		w.item()
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, m.Role...)
		w.b = append(w.b, `","content":`...)
		switch {
		case len(m.Parts) > 0:
			w.b = append(w.b, '[')
			if i == first {
				w.markedBlock(w.prompt.Context)
			}
			w.content(func(p *parts.Writer) { p.Messages(m.Parts) })
			w.b = append(w.b, ']')
		case i == first:
			w.contextBlocks(m.Text)
		default:
			w.b = jsontext.AppendString(w.b, m.Text)
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')

	w.maxTokens("max_tokens")
	w.float("temperature", w.params.Temperature)
	w.float("top_p", w.params.TopP)
	w.topK("top_k")
	w.texts("stop_sequences", w.params.Stop)
	w.seed("")
	w.messagesTools()
	w.several("", "")
	effort, err := w.messagesThinking()
	if err != nil {
		return err
	}
	if effort != "" && w.wire.EffortField != "" {
		w.text(w.wire.EffortField, effort)
		effort = ""
	}
	w.tier("service_tier")
	return w.outputConfig(effort)
}

// messagesSystem writes the system text; it carries the cache mark when no context follows.
func (w *body) messagesSystem() {
	switch {
	case w.system() == "":
	case w.wire.CacheMarks && w.prompt.Context == "":
		w.field("system")
		w.b = append(w.b, '[')
		w.markedBlock(w.system())
		w.b = append(w.b, ']')
	default:
		w.text("system", w.system())
	}
}

// contextBlocks writes the context as a block of its own, so that a cache mark can end it.
func (w *body) contextBlocks(text string) {
	w.b = append(w.b, '[')
	w.markedBlock(w.prompt.Context)
	w.b = append(w.b, `,{"type":"text","text":`...)
	w.b = jsontext.AppendString(w.b, text)
	w.b = append(w.b, '}', ']')
}

func (w *body) markedBlock(text string) {
	w.b = append(w.b, `{"type":"text","text":`...)
	w.b = jsontext.AppendString(w.b, text)
	if w.wire.CacheMarks {
		w.b = append(w.b, `,"cache_control":{"type":"ephemeral"`...)
		if w.wire.CacheTTL != "" {
			w.b = append(w.b, `,"ttl":`...)
			w.b = jsontext.AppendString(w.b, w.wire.CacheTTL)
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, '}')
}

// messagesThinking writes the wish for thinking and returns the effort that goes with it.
func (w *body) messagesThinking() (effort string, err error) {
	t, effort := w.params.Thinking, w.params.Effort
	switch w.wire.Thinking {
	case assay.ThinkingWireNone:
		if t.Enabled() {
			return "", noPlace("thinking")
		}
	case assay.ThinkingWireBudget:
		return effort, w.thinkingBudget(t)
	case assay.ThinkingWireAdaptive:
		return w.thinkingAdaptive(t, effort)
	default:
		return "", fmt.Errorf("thinking cannot be written as %s", w.wire.Thinking)
	}
	return effort, nil
}

// minBudget is the smallest budget that Anthropic takes.
const minBudget = 1024

func (w *body) thinkingBudget(t assay.Thinking) error {
	budget := t.Tokens
	switch t.Mode {
	case assay.ThinkingUnset:
		return nil
	case assay.ThinkingOff:
		w.field("thinking")
		w.b = append(w.b, `{"type":"disabled"}`...)
		return nil
	case assay.ThinkingLevel:
		return fmt.Errorf("thinking is a number of tokens here, not %q", t.Level)
	case assay.ThinkingOn: // no number was given: half of the output limit is for thinking
		budget = max(minBudget, w.params.MaxTokens/2)
	}
	w.field("thinking")
	w.b = append(w.b, `{"type":"enabled","budget_tokens":`...)
	w.b = strconv.AppendInt(w.b, int64(budget), 10)
	w.b = append(w.b, '}')
	return nil
}

func (w *body) thinkingAdaptive(t assay.Thinking, effort string) (string, error) {
	switch t.Mode {
	case assay.ThinkingUnset:
		if !w.params.Thoughts {
			return effort, nil
		}
	case assay.ThinkingOff:
		w.field("thinking")
		w.b = append(w.b, `{"type":"disabled"}`...)
		return effort, nil
	case assay.ThinkingTokens:
		return "", errors.New("thinking takes a level here, not a number of tokens")
	case assay.ThinkingLevel:
		if effort != "" && effort != t.Level {
			return "", fmt.Errorf("effort %s and thinking %s exclude each other", effort, t.Level)
		}
		effort = t.Level
	}
	w.field("thinking")
	w.b = append(w.b, `{"type":"adaptive"`...)
	if w.params.Thoughts {
		w.b = append(w.b, `,"display":"summarized"`...)
	}
	w.b = append(w.b, '}')
	return effort, nil
}

func (w *body) outputConfig(effort string) error {
	w.object("output_config")
	if effort != "" {
		w.text("effort", effort)
	}
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.field("format")
		w.b = append(w.b, `{"type":"json_schema","schema":`...)
		w.schema()
		w.b = append(w.b, '}')
	case assay.SchemaWireJSONObject:
		if w.params.Schema != nil {
			return noPlace("JSON without a schema")
		}
	}
	w.end()
	return nil
}

// readMessages reads a message.
func (d *Decoder) readMessages(v jsontext.Value) assay.Outcome {
	o := assay.Outcome{
		Model:     d.same(&d.model, v.Get("model")),
		RequestID: d.word(v.Get("id")),
		Tier:      d.same(&d.tier, v.Get("usage").Get("service_tier")),
		Usage:     messagesUsage(v.Get("usage")),
		Finish:    d.same(&d.finish, v.Get("stop_reason")),
	}
	content := v.Get("content")
	d.addText(d.text(content))
	ran, found := int64(0), int64(0) // whether code ran, and searches that found something
	for block := range content.All() {
		switch string(d.bytes(block.Get("type"))) {
		case "text":
			d.addText(d.text(block.Get("text")))
		case "thinking":
			d.addThought(d.text(block.Get("thinking")))
		case "tool_use":
			o.Calls = append(o.Calls, d.readCall(block.Get("id"), block.Get("name"), block.Get("input")))
		case "server_tool_use":
			if strings.HasSuffix(d.text(block.Get("name")), "code_execution") {
				ran = 1
			}
		case "web_search_tool_result":
			if block.Get("content").Is(jsontext.Array) { // else it is an error, which costs nothing
				found++
			}
		}
	}
	if used := v.Get("usage").Get("server_tool_use"); !used.Get("web_search_requests").Present() {
		o.Usage.Tools.Searches = found
	}
	if fetched := (&counts{}).of(v.Get("usage").Get("server_tool_use").Get("web_fetch_requests")); fetched+o.Usage.Tools.Searches == 0 {
		o.Usage.Tools.Code = ran // it is free beside the web
	}
	o.Text, o.Thoughts = d.flush(paragraphs)
	switch {
	case v.Get("error").Present():
		return failed(o, d.fault(0, v))
	case o.Text == "" && !content.Is(jsontext.Array):
		return failed(o, unreadable("no_content", "the reply has no content"))
	}
	switch o.Finish {
	case "refusal":
		return ended(o, stopRefused)
	case "max_tokens", "model_context_window_exceeded":
		return ended(o, stopCut)
	case "pause_turn":
		d.note = "the model paused its turn: what stands here is not all it wanted to say"
		return ended(o, stopCut)
	}
	return ended(o, stopWhole)
}
