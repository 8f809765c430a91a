package parts

import (
	"cmp"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// argumentsOf returns the arguments of a call as the text that chat completions carry.
func argumentsOf(c *assay.ToolCall) string { return cmp.Or(c.Given(), "{}") }

// arguments writes the arguments of a call as an object. What is none cannot be written so.
func (w *Writer) arguments(c *assay.ToolCall) {
	switch {
	case c.Broken != "":
		w.fail(noPlace("arguments of a call that are no JSON object"))
	case len(c.Arguments) == 0:
		w.raw("{}")
	default:
		w.B = jsontext.AppendCompact(w.B, c.Arguments)
	}
}

func (w *Writer) chatCalls(calls []*assay.ToolCall) {
	if len(calls) == 0 {
		return
	}
	w.raw(`,"tool_calls":[`)
	for _, c := range calls {
		w.item()
		w.raw(`{"id":`)
		w.quoted(c.ID)
		w.raw(`,"type":"function","function":{"name":`)
		w.quoted(c.Name)
		w.name("arguments")
		w.quoted(argumentsOf(c))
		w.raw("}}")
	}
	w.raw("]")
}

func (w *Writer) chatResult(r *assay.ToolResult) {
	w.item()
	w.raw(`{"role":"tool","tool_call_id":`)
	w.quoted(r.ID)
	w.name("content")
	if hasMedia(r.Parts) {
		w.fail(noPlace("media in the result of a tool"))
	}
	w.quoted(r.Words())
	w.raw("}")
}

func (w *Writer) responsesResult(r *assay.ToolResult) {
	w.item()
	w.raw(`{"type":"function_call_output","call_id":`)
	w.quoted(r.ID)
	w.name("output")
	if hasMedia(r.Parts) {
		w.raw("[")
		for _, p := range r.Parts {
			w.responsesPart(p, "input_text")
		}
		w.raw("]")
	} else {
		w.quoted(r.Words())
	}
	w.raw("}")
}

func hasMedia(parts []assay.Part) bool {
	for _, p := range parts {
		if p.Media != nil {
			return true
		}
	}
	return false
}

// toolSchema appends the schema of a tool's arguments; one without arguments has an empty object.
func (w *Writer) toolSchema(t assay.Tool) {
	switch raw := jsontext.SkipSpace(t.Schema); {
	case len(raw) == 0 || string(raw) == "null":
		w.raw(`{"type":"object","properties":{}}`)
	case !jsontext.Valid(raw) || raw[0] != '{':
		w.fail(noPlace("the schema of the tool " + t.Name + ", which is no JSON object"))
	default:
		w.B = jsontext.AppendCompact(w.B, raw)
	}
}

func (w *Writer) strict(t assay.Tool) {
	if t.Strict != nil {
		w.name("strict")
		if *t.Strict {
			w.raw("true")
		} else {
			w.raw("false")
		}
	}
}

// own writes the tools that a provider runs, as elements of a list.
func (w *Writer) own(tools []string) {
	for _, t := range tools {
		w.item()
		w.raw(t)
	}
}

// Functions writes tools as chat completions have them, and those of the provider; in responses a function is flat.
func (w *Writer) Functions(tools []assay.Tool, flat bool, own []string) {
	w.raw("[")
	for _, t := range tools {
		w.item()
		w.raw(`{"type":"function"`)
		if !flat {
			w.raw(`,"function":{`)
		}
		w.member("name", t.Name)
		w.member("description", t.Description)
		w.name("parameters")
		w.toolSchema(t)
		w.strict(t)
		if !flat {
			w.raw("}")
		}
		w.raw("}")
	}
	w.own(own)
	w.raw("]")
}

// ChatChoice writes which functions are to be called.
func (w *Writer) ChatChoice(c assay.ToolChoice, flat bool) {
	switch {
	case c.Mode == assay.ToolAny:
		w.raw(`"required"`)
	case c.Mode != assay.ToolNamed:
		w.quoted(string(c.Mode))
	case flat:
		w.raw(`{"type":"function","name":`)
		w.quoted(c.Name)
		w.raw("}")
	default:
		w.raw(`{"type":"function","function":{"name":`)
		w.quoted(c.Name)
		w.raw("}}")
	}
}

// MessagesTools writes tools as Anthropic has them, and its own.
func (w *Writer) MessagesTools(tools []assay.Tool, own []string) {
	w.raw("[")
	for _, t := range tools {
		w.item()
		w.raw("{")
		w.member("name", t.Name)
		w.member("description", t.Description)
		w.name("input_schema")
		w.toolSchema(t)
		w.strict(t)
		w.raw("}")
	}
	w.own(own)
	w.raw("]")
}

// MessagesChoice writes a choice, and that only one tool may be called at a time.
func (w *Writer) MessagesChoice(c assay.ToolChoice, one bool) {
	if c.Mode == "" {
		c.Mode = assay.ToolAuto
	}
	w.raw(`{"type":"` + string(c.Mode) + `"`)
	w.member("name", c.Name)
	if one && c.Mode != assay.ToolNone {
		w.raw(`,"disable_parallel_tool_use":true`)
	}
	w.raw("}")
}

// GenerateTools writes tools as Gemini has them, and its own. One without arguments has no schema: an empty object fails there.
func (w *Writer) GenerateTools(tools []assay.Tool, own []string) {
	w.raw("[")
	if len(tools) > 0 {
		w.declarations(tools)
	}
	w.own(own)
	w.raw("]")
}

func (w *Writer) declarations(tools []assay.Tool) {
	w.raw(`{"functionDeclarations":[`)
	for _, t := range tools {
		w.item()
		w.raw("{")
		w.member("name", t.Name)
		w.member("description", t.Description)
		if hasProperties(t.Schema) {
			w.name("parameters")
			w.fail(w.GeminiSchema(t.Schema))
		}
		w.raw("}")
	}
	w.raw("]}")
}

// GenerateChoice writes a choice as Gemini has it. That arguments have to fit their schema is a mode of its own there; a call that is
// forced keeps to it anyway.
func (w *Writer) GenerateChoice(c assay.ToolChoice, strict bool) {
	w.raw(`{"functionCallingConfig":{"mode":"`)
	if strict && (c.Mode == "" || c.Mode == assay.ToolAuto) {
		w.raw(`VALIDATED"}}`)
		return
	}
	if c.Mode == assay.ToolNamed {
		w.raw(`ANY","allowedFunctionNames":[`)
		w.quoted(c.Name)
		w.raw("]}}")
		return
	}
	w.B = AppendUpper(w.B, string(c.Mode))
	w.raw(`"}}`)
}

// hasProperties reports whether a tool has arguments.
func hasProperties(schema []byte) bool {
	found := jsontext.HasMember(schema, "$ref", "anyOf", "oneOf", "allOf")
	jsontext.Members(schema, func(name, value []byte) {
		if jsontext.Named(name, "properties") {
			jsontext.Members(value, func(_, _ []byte) { found = true })
		}
	})
	return found
}

// ConverseTools writes tools and their choice as Bedrock's Converse has them.
func (w *Writer) ConverseTools(tools []assay.Tool, c assay.ToolChoice) {
	w.raw(`{"tools":[`)
	for _, t := range tools {
		w.item()
		w.raw(`{"toolSpec":{`)
		w.member("name", t.Name)
		w.member("description", t.Description)
		w.name("inputSchema")
		w.raw(`{"json":`)
		w.toolSchema(t)
		w.raw("}")
		w.strict(t)
		w.raw("}}")
	}
	w.raw("]")
	switch c.Mode {
	case "":
	case assay.ToolNamed:
		w.raw(`,"toolChoice":{"tool":{"name":`)
		w.quoted(c.Name)
		w.raw("}}")
	default:
		w.raw(`,"toolChoice":{"` + string(c.Mode) + `":{}}`)
	}
	w.raw("}")
}
