package bodies

import (
	"encoding/json"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/rules"

	"github.com/valyala/fastjson"
)

// addTool adds a tool that the client runs.
func (q *Request) addTool(name, description *fastjson.Value, schema *fastjson.Value, strict bool) {
	if name == nil {
		return
	}
	t := assay.Tool{Name: stringOf(name), Description: stringOf(description), Schema: json.RawMessage(schemaOf(schema))}
	if strict {
		t.Strict = new(true)
	}
	q.Tools = append(q.Tools, t)
}

// functions reads tools as chat completions have them; in responses a function is flat.
func (q *Request) functions(b *fastjson.Value, flat bool) {
	for _, t := range b.GetArray("tools") {
		if stringOf(t, "type") != "function" {
			continue
		}
		f := t
		if !flat {
			f = t.Get("function")
		}
		q.addTool(f.Get("name"), f.Get("description"), f.Get("parameters"), f.GetBool("strict"))
	}
	q.OneCall = b.Get("parallel_tool_calls") != nil && !b.GetBool("parallel_tool_calls")
	c := b.Get("tool_choice")
	switch word := stringOf(c); {
	case c == nil:
	case c.Type() == fastjson.TypeObject && flat:
		q.Choice = assay.ToolChoice{Mode: assay.ToolNamed, Name: stringOf(c, "name")}
	case c.Type() == fastjson.TypeObject:
		q.Choice = assay.ToolChoice{Mode: assay.ToolNamed, Name: stringOf(c, "function", "name")}
	case word == "required" || word == "any":
		q.Choice.Mode = assay.ToolAny
	case word == "none":
		q.Choice.Mode = assay.ToolNone
	}
}

// toolBlocks reads tools and their choice as Anthropic has them.
func (q *Request) toolBlocks(b *fastjson.Value) {
	for _, t := range b.GetArray("tools") {
		if t.Get("input_schema") != nil {
			q.addTool(t.Get("name"), t.Get("description"), t.Get("input_schema"), t.GetBool("strict"))
		}
	}
	q.Choice = assay.ToolChoice{Mode: assay.ToolMode(stringOf(b, "tool_choice", "type")), Name: stringOf(b, "tool_choice", "name")}
	q.OneCall = b.GetBool("tool_choice", "disable_parallel_tool_use")
}

// declarations reads tools and their choice as Gemini has them.
func (q *Request) declarations(b *fastjson.Value) {
	for _, t := range b.GetArray("tools") {
		for _, f := range either2(t, "functionDeclarations").GetArray() {
			schema := f.Get("parameters")
			if schema == nil {
				schema = either(f, "parametersJsonSchema")
			}
			q.addTool(f.Get("name"), f.Get("description"), schema, false)
		}
	}
	c := either2(either2(b, "toolConfig"), "functionCallingConfig")
	names := stringsOf(either(c, "allowedFunctionNames"))
	switch mode := stringOf(c, "mode"); {
	case mode == "NONE":
		q.Choice.Mode = assay.ToolNone
	case mode == "ANY" && len(names) == 1:
		q.Choice = assay.ToolChoice{Mode: assay.ToolNamed, Name: names[0]}
	case mode == "ANY":
		q.Choice.Mode = assay.ToolAny
	}
}

// specs reads tools and their choice as Converse has them.
func (q *Request) specs(b *fastjson.Value) {
	c := b.Get("toolConfig")
	if c == nil {
		return
	}
	for _, t := range c.GetArray("tools") {
		s := t.Get("toolSpec")
		if s == nil {
			continue
		}
		q.addTool(s.Get("name"), s.Get("description"), s.Get("inputSchema", "json"), s.GetBool("strict"))
	}
	switch choice := c.Get("toolChoice"); {
	case choice == nil:
	case choice.Get("tool") != nil:
		q.Choice = assay.ToolChoice{Mode: assay.ToolNamed, Name: stringOf(choice, "tool", "name")}
	case choice.Get("any") != nil:
		q.Choice.Mode = assay.ToolAny
	}
}

// gptTools returns the rejection of tools in chat completions by models that want them elsewhere.
func (q *Request) gptTools(rd Reading) *rules.Rejection {
	if len(q.Tools) == 0 || rd.Vendor != "openai" && rd.Vendor != "azure" {
		return nil
	}
	light := strings.HasPrefix(q.Model, "gpt-5.6") || strings.HasPrefix(q.Model, "gpt-6-luna")
	if strings.HasPrefix(q.Model, "gpt-6.1-sol") || light && q.Effort != "none" {
		return rules.Invalid("tools", "unsupported_parameter",
			"Function tools are not supported with this model here. Use /v1/responses instead.")
	}
	return nil
}

// callID returns the id of a call.
func callID(r *Reply, at int) string { return fmt.Sprintf("call_%016x", dice.Mix(r.id+uint64(at))) }

// addCalls shows the calls of a message. Mistral's arguments are objects now and then; those of the others are strings.
func (m *chatMessage) addCalls(r *Reply, objects bool) {
	if r.Text == "" {
		m.Content = nil
	}
	for i, call := range r.Calls {
		var arguments any = call.Given()
		if objects && r.id%2 == 0 {
			arguments = call.Arguments
		}
		m.ToolCalls = append(m.ToolCalls, map[string]any{"id": callID(r, i), "type": "function", "index": i,
			"function": map[string]any{"name": call.Name, "arguments": arguments}})
	}
}

// toolTokens counts what definitions add to a prompt.
func toolTokens(q *Request) int {
	n := 0
	for _, t := range q.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema) + 20
	}
	if n > 0 && strings.Contains(q.Model, "claude-") { // what is told about tools as such
		return tokens(n) + 346
	}
	return tokens(n)
}

// forcing returns the rejection of a forced choice where the model or its thinking does not allow one.
func forcing(q *Request, thinks bool) *rules.Rejection {
	forced := q.Choice.Mode == assay.ToolAny || q.Choice.Mode == assay.ToolNamed
	at := strings.Index(q.Model, "claude-")
	if !forced || at < 0 {
		return nil
	}
	c := rules.ParseClaude(q.Model[at:])
	if thinks || c.AlwaysThinks() || c.Major == 5 && c.Minor == 5 {
		return rules.Invalid("", "", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}
