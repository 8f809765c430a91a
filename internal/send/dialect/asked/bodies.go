package asked

import (
	"encoding/json"
	"strings"

	"assay/internal/assay"
)

func (t *taker) sampling() {
	p := &t.asked.Params
	t.take(&p.Temperature, "temperature")
	t.take(&p.TopP, "top_p")
	t.take(&p.TopK, "top_k")
	t.take(&p.ServiceTier, "service_tier")
}

// chat takes the body of OpenAI chat completions.
func (t *taker) chat() {
	p := &t.asked.Params
	t.take(&t.asked.Model, "model")
	t.conversation("messages", "text")
	t.sampling()
	t.take(&p.MaxTokens, "max_completion_tokens", "max_tokens")
	t.take(&p.Seed, "seed", "random_seed")
	t.take(&p.Effort, "reasoning_effort")
	t.reasoning()
	p.Stop = t.stops("stop")
	t.openTools()
	t.raw("prompt_cache_key") // names a cache that the other API does not have
	format := t.inside("response_format")
	t.format(format, format.inside("json_schema"))
	format.rest()
}

// responses takes the body of OpenAI responses.
func (t *taker) responses() {
	p := &t.asked.Params
	t.take(&t.asked.Model, "model")
	t.take(&t.asked.Prompt.System, "instructions")
	var text string
	if raw := t.from["input"]; json.Unmarshal(raw, &text) == nil && text != "" {
		delete(t.from, "input")
		t.speak(0, "user", text, nil)
	} else {
		t.conversation("input", "input_text", "output_text", "text")
	}
	t.sampling()
	t.take(&p.MaxTokens, "max_output_tokens")
	t.openTools()
	t.raw("prompt_cache_key")
	t.reasoning()
	in := t.inside("text")
	format := in.inside("format")
	t.format(format, format)
	format.rest()
	in.rest()
}

// reasoning takes effort and thinking from an object of that name.
func (t *taker) reasoning() {
	p := &t.asked.Params
	in := t.inside("reasoning")
	in.take(&p.Effort, "effort")
	var tokens *int
	var on *bool
	in.take(&tokens, "max_tokens")
	in.take(&on, "enabled")
	switch {
	case tokens != nil:
		p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: *tokens}
	case on != nil && *on:
		p.Thinking.Mode = assay.ThinkingOn
	case on != nil:
		p.Thinking.Mode = assay.ThinkingOff
	}
	p.Thoughts = in.raw("summary") != nil
	in.rest()
}

// format takes the form of the answer: its kind from one object, its schema from the one inside.
func (t *taker) format(form, schema *taker) {
	var kind string
	form.take(&kind, "type")
	switch kind {
	case "json_schema":
		t.asked.Params.Schema = schema.raw("schema")
		schema.raw("name", "description")
		schema.rest()
	case "json_object":
		t.asked.Params.JSON = true
	}
}

// messages takes the body of Anthropic messages.
func (t *taker) messages() {
	p := &t.asked.Params
	t.take(&t.asked.Model, "model")
	t.asked.Prompt.System = t.text("system", t.raw("system"), between, "text")
	t.conversation("messages", "text")
	t.sampling()
	t.take(&p.MaxTokens, "max_tokens")
	p.Stop = t.stops("stop_sequences")
	t.messagesTools()
	t.thinking()
	config := t.inside("output_config")
	config.take(&p.Effort, "effort")
	format := config.inside("format")
	t.format(format, format)
	config.rest()
}

// thinking takes an object of that name in Anthropic's form.
func (t *taker) thinking() {
	p := &t.asked.Params
	in := t.inside("thinking")
	var kind, display string
	in.take(&kind, "type")
	in.take(&p.Thinking.Tokens, "budget_tokens")
	in.take(&display, "display")
	p.Thoughts = display == "summarized"
	switch kind {
	case "enabled":
		p.Thinking.Mode = assay.ThinkingTokens
	case "adaptive":
		p.Thinking.Mode = assay.ThinkingOn
	case "disabled":
		p.Thinking.Mode = assay.ThinkingOff
	}
	in.rest()
}

// generate takes the body of Gemini generateContent.
func (t *taker) generate() {
	p := &t.asked.Params
	t.take(&t.asked.Model, "model")
	t.asked.Model = strings.TrimPrefix(t.asked.Model, "models/")
	system := t.inside("systemInstruction", "system_instruction")
	t.asked.Prompt.System = system.text("the system instruction", system.raw("parts"), "")
	system.raw("role")
	system.rest()
	t.contents()
	t.generateTools()
	t.take(&p.ServiceTier, "serviceTier")
	c := t.inside("generationConfig", "generation_config")
	c.take(&p.Temperature, "temperature")
	c.take(&p.TopP, "topP", "top_p")
	c.take(&p.TopK, "topK", "top_k")
	c.take(&p.MaxTokens, "maxOutputTokens", "max_output_tokens")
	c.take(&p.Seed, "seed")
	p.Stop = c.stops("stopSequences")
	c.answerForm()
	c.thoughts()
	c.rest()
}

func (t *taker) contents() {
	var list []map[string]json.RawMessage
	t.take(&list, "contents")
	for i, m := range list {
		in := t.within("contents", m)
		role := "user"
		in.take(&role, "role")
		text, parts := in.content("contents", in.raw("parts"), "")
		in.rest()
		t.speak(i, role, text, parts)
	}
}

func (t *taker) answerForm() {
	p := &t.asked.Params
	if raw := t.raw("responseJsonSchema"); raw != nil {
		p.Schema = raw
	}
	if raw := t.raw("responseSchema", "response_schema"); raw != nil {
		var schema any
		if json.Unmarshal(raw, &schema) == nil {
			p.Schema, _ = json.Marshal(plainSchema(schema)) // it was JSON
		}
	}
	var kind string
	t.take(&kind, "responseMimeType", "response_mime_type")
	if p.JSON = kind == "application/json" && p.Schema == nil; kind != "" && kind != "text/plain" && p.Schema == nil && !p.JSON {
		t.lose("responseMimeType")
	}
}

// plainSchema is JSON Schema again: types in small letters, and null among the types of what is nullable.
func plainSchema(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plainSchema(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plainSchema(v[name])
		}
		kind, ok := v["type"].(string)
		if !ok {
			return v
		}
		v["type"] = strings.ToLower(kind)
		if v["nullable"] == true {
			v["type"] = []any{strings.ToLower(kind), "null"}
			delete(v, "nullable")
		}
		delete(v, "propertyOrdering")
	}
	return v
}

func (t *taker) thoughts() {
	p := &t.asked.Params
	in := t.inside("thinkingConfig", "thinking_config")
	var budget *int
	var level string
	in.take(&p.Thoughts, "includeThoughts", "include_thoughts")
	in.take(&budget, "thinkingBudget", "thinking_budget")
	in.take(&level, "thinkingLevel", "thinking_level")
	in.rest()
	switch {
	case level != "":
		p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: strings.ToLower(level)}
	case budget == nil:
	case *budget == 0:
		p.Thinking.Mode = assay.ThinkingOff
	case *budget < 0:
		p.Thinking.Mode = assay.ThinkingOn
	default:
		p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: *budget}
	}
}

// stops takes one text that ends the answer, or a list of them.
func (t *taker) stops(name string) []string {
	var one string
	raw := t.raw(name)
	if raw == nil {
		return nil
	}
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	t.from[name] = raw
	var many []string
	t.take(&many, name)
	return many
}

// converse takes the body of Bedrock's Converse.
func (t *taker) converse() {
	p := &t.asked.Params
	t.asked.Prompt.System = t.text("system", t.raw("system"), between)
	t.conversation("messages")
	t.converseTools()
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
