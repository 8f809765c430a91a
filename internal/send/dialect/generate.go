package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
	"assay/internal/send/dialect/likely"
	"assay/internal/send/dialect/parts"
)

// writeGenerate writes the body of Gemini generateContent.
func (w *body) writeGenerate() error {
	if w.wire.ModelInBody {
		w.field("model")
		w.b = append(w.b, `"models/`...)
		w.b = jsontext.AppendText(w.b, w.model)
		w.b = append(w.b, '"')
	}
	if w.prompt.System != "" {
		w.field("systemInstruction")
		w.b = append(w.b, `{"parts":[{"text":`...)
		w.b = jsontext.AppendString(w.b, w.prompt.System)
		w.b = append(w.b, `}]}`...)
	}
	w.field("contents")
	w.b = append(w.b, '[')
	first := w.firstUser()
	for i, m := range w.prompt.Messages {
		w.item()
		role := "user"
		if m.Role == assay.RoleAssistant {
			role = "model"
		}
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, role...)
		w.b = append(w.b, `","parts":[`...)
		if len(m.Parts) > 0 {
			w.content(func(p *parts.Writer) { p.Generate(w.framed(m.Parts, i == first)) })
		} else {
			w.b = append(w.b, `{"text":`...)
			w.speech(i, first)
			w.b = append(w.b, '}')
		}
		w.b = append(w.b, `]}`...)
	}
	w.b = append(w.b, ']')
	w.generateTools()
	err := w.generationConfig()
	w.tier("serviceTier")
	if w.label != "" {
		w.object("labels")
		w.text(labelName, w.label)
		w.end()
	}
	return err
}

func (w *body) generationConfig() error {
	w.object("generationConfig")
	w.float("temperature", w.params.Temperature)
	w.float("topP", w.params.TopP)
	w.topK("topK")
	w.maxTokens("maxOutputTokens")
	w.texts("stopSequences", w.params.Stop)
	w.seed("seed")
	var err error
	switch w.wants() {
	case assay.SchemaWireStrict:
		w.text("responseMimeType", "application/json")
		w.field("responseSchema")
		w.content(func(p *parts.Writer) { err = p.GeminiSchema(w.params.Schema) })
	case assay.SchemaWireJSONObject:
		w.text("responseMimeType", "application/json")
	}
	if w.params.Logprobs > 0 {
		w.truth("responseLogprobs", true)
	}
	w.several("candidateCount", "logprobs")
	err = errors.Join(err, w.thinkingConfig())
	w.end()
	return err
}

// thinkingConfig writes a budget or a level, never both, and the wish for thoughts.
func (w *body) thinkingConfig() error {
	var budget int
	var level string
	var err error
	hasBudget := false
	switch w.wire.Thinking {
	case assay.ThinkingWireNone:
		if w.params.Thinking.Enabled() {
			err = noPlace("thinking")
		} else if w.params.Effort != "" {
			err = noPlace("effort")
		}
	case assay.ThinkingWireGemBudget:
		budget, hasBudget, err = w.geminiBudget()
	case assay.ThinkingWireGemLevel:
		if level, err = w.geminiLevel(); err == nil && level != "" && !parts.IsWord(level) {
			err = fmt.Errorf("no thinking level %q", level)
		}
	default:
		err = fmt.Errorf("thinking cannot be written as %s", w.wire.Thinking)
	}
	if err != nil || !hasBudget && level == "" && !w.params.Thoughts {
		return err
	}
	w.field("thinkingConfig")
	w.b = append(w.b, '{')
	if w.params.Thoughts {
		w.name("includeThoughts")
		w.b = append(w.b, "true"...)
	}
	if hasBudget {
		w.name("thinkingBudget")
		w.b = strconv.AppendInt(w.b, int64(budget), 10)
	}
	if level != "" {
		w.name("thinkingLevel")
		w.b = append(w.b, '"')
		w.b = parts.AppendUpper(w.b, level)
		w.b = append(w.b, '"')
	}
	w.b = append(w.b, '}')
	return nil
}

// dynamicBudget lets a model of Gemini 2.5 choose for itself.
const dynamicBudget = -1

func (w *body) geminiBudget() (budget int, has bool, err error) {
	t := w.params.Thinking
	switch {
	case w.params.Effort != "":
		return 0, false, noPlace("effort")
	case t.Mode == assay.ThinkingUnset:
		return 0, false, nil
	case t.Mode == assay.ThinkingOff:
		return 0, true, nil
	case t.Mode == assay.ThinkingOn:
		return dynamicBudget, true, nil
	case t.Mode == assay.ThinkingTokens:
		return t.Tokens, true, nil
	}
	return 0, false, fmt.Errorf("thinking is a number of tokens here, not %q", t.Level)
}

// geminiLevel returns the level by either of its names in a study: effort, or thinking with a level.
func (w *body) geminiLevel() (string, error) {
	t := w.params.Thinking
	switch t.Mode {
	case assay.ThinkingOff:
		return "", errors.New("thinking cannot be off here")
	case assay.ThinkingTokens:
		return "", errors.New("thinking takes a level here, not a number of tokens")
	case assay.ThinkingLevel:
		if w.params.Effort != "" && w.params.Effort != t.Level {
			return "", fmt.Errorf("effort %s and thinking %s exclude each other", w.params.Effort, t.Level)
		}
		return t.Level, nil
	}
	return w.params.Effort, nil
}

// readGenerate reads a generateContent reply.
func (d *Decoder) readGenerate(v jsontext.Value) assay.Outcome {
	usage := v.Get("usageMetadata")
	o := assay.Outcome{
		Model:     d.same(&d.model, v.Get("modelVersion")),
		RequestID: d.word(v.Get("responseId")),
		Tier:      d.same(&d.tier, cmp.Or(usage.Get("serviceTier"), usage.Get("trafficType"))),
		Usage:     generateUsage(usage),
	}
	if v.Get("error").Present() {
		return failed(o, d.fault(0, v))
	}
	c := v.Get("candidates").First()
	if !c.Is(jsontext.Object) {
		if o.Finish = d.word(v.Get("promptFeedback").Get("blockReason")); o.Finish != "" {
			return ended(o, stopRefused)
		}
		return failed(o, unreadable("no_candidates", "the reply has no candidates"))
	}
	for part := range c.Get("content").Get("parts").All() {
		if call := part.Get("functionCall"); call.Is(jsontext.Object) {
			c := d.readCall(call.Get("id"), call.Get("name"), call.Get("args"))
			c.Signature = d.text(part.Get("thoughtSignature"))
			o.Calls = append(o.Calls, c)
		}
		if part.Get("executableCode").Present() {
			o.Usage.Tools.Code = 1
		}
		if part.Get("thought").Is(jsontext.True) {
			d.addThought(d.text(part.Get("text")))
		} else {
			d.addText(d.text(part.Get("text")))
		}
	}
	tools := grounded(c.Get("groundingMetadata"))
	tools.Code = o.Usage.Tools.Code
	o.Usage.Tools = tools
	o.Text, o.Thoughts = d.flush("")
	o.Likely = likely.Generate(c.Get("logprobsResult"))
	if o.Text != "" && o.Usage.Output == o.Usage.Reasoning {
		o.Usage = assay.Usage{} // a text that was not counted
	}
	o.Finish = d.same(&d.finish, c.Get("finishReason"))
	return ended(o, generateStop(o.Finish))
}

// grounded returns how often an answer searched the web. What rests on pages and names no search was billed for we do not know how many.
func grounded(v jsontext.Value) (t assay.ToolCalls) {
	for range v.Get("webSearchQueries").All() {
		t.Searches++
	}
	if t.Searches == 0 && v.Get("groundingChunks").First().Present() {
		t.Other = 1
	}
	return t
}

func generateStop(finish string) stop {
	switch finish {
	case "MAX_TOKENS", "OTHER", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return stopCut
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return stopRefused
	}
	return stopWhole
}
