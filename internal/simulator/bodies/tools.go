package bodies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

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

// mayUse reads which tools of the provider a request allows: code, and a web search with how often it may be made.
func (q *Request) mayUse(tools []*fastjson.Value, most int) {
	for _, t := range tools {
		if strings.HasPrefix(stringOf(t, "type"), "web_search") || either(t, "googleSearch") != nil {
			q.searches = cmp.Or(t.GetInt("max_uses"), most, 3)
		}
		kind := stringOf(t, "type")
		q.codes = q.codes || kind == "code_interpreter" || strings.HasPrefix(kind, "code_execution") || either(t, "codeExecution") != nil
	}
}

// gptSearch returns the rejection of a web search by models and APIs that have none.
func (q *Request) gptSearch(rd Reading, b *fastjson.Value, chat bool) *rules.Rejection {
	for i, t := range b.GetArray("tools") {
		kind := stringOf(t, "type")
		switch {
		case rd.Vendor != "openai" && rd.Vendor != "azure":
		case chat && kind != "function" && kind != "custom":
			return rules.Invalid(fmt.Sprintf("tools[%d].type", i), "invalid_value",
				"Invalid value: '%s'. Supported values are: 'function' and 'custom'.", kind)
		case kind == "web_search" && q.Effort == "minimal":
			return rules.Invalid("tools", "", "The following tools cannot be used with reasoning.effort 'minimal': web_search.")
		case kind == "web_search" && strings.HasPrefix(q.Model, "gpt-4.1-nano"):
			return rules.Invalid("tools", "", "Hosted tool 'web_search' is not supported with %s.", q.Model)
		}
	}
	return nil
}

// geminiSearch returns the rejection of what does not go beside a search, or code.
func (q *Request) geminiSearch() *rules.Rejection {
	switch {
	case q.searches == 0 && !q.codes:
	case len(q.Tools) > 0:
		return rules.Invalid("", "", "Tool use with function calling is unsupported")
	case (q.JSON || q.Schema != nil) && strings.HasPrefix(q.Model, "gemini-2"):
		return rules.Invalid("", "", "Tool use with a response mime type: 'application/json' is unsupported")
	}
	return nil
}

// queries returns what a reply searched for.
func (r *Reply) queries() []string {
	var all []string
	for i := range r.Usage.Searches {
		all = append(all, fmt.Sprintf("what is it (%d)", i+1))
	}
	return all
}

// searchBlocks returns the searches and the code of a reply as Anthropic shows them: each call with what it gave.
func searchBlocks(r *Reply) (all []any) {
	for i, query := range r.queries() {
		id := fmt.Sprintf("srvtoolu_%016x", r.id+uint64(i))
		page := map[string]any{"type": "web_search_result", "title": "A page", "url": "https://example.com/" + id,
			"encrypted_content": "x", "page_age": nil}
		all = append(all,
			map[string]any{"type": "server_tool_use", "id": id, "name": "web_search", "input": map[string]any{"query": query}},
			map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{page}})
	}
	if id := fmt.Sprintf("srvtoolu_c%015x", r.id>>4); r.ran {
		all = append(all,
			map[string]any{"type": "server_tool_use", "id": id, "name": "bash_code_execution",
				"input": map[string]any{"command": "expr 6 + 7"}},
			map[string]any{"type": "bash_code_execution_tool_result", "tool_use_id": id, "content": map[string]any{
				"type": "bash_code_execution_result", "stdout": "42", "stderr": "", "return_code": 0, "content": []any{}}})
	}
	return all
}

// codeParts returns the code of an answer, and what it printed, as Gemini shows them.
func codeParts(r *Reply) []generatePart {
	if !r.ran {
		return nil
	}
	return []generatePart{{Code: map[string]any{"language": "PYTHON", "code": "print(6*7)"}},
		{Ran: map[string]any{"outcome": "OUTCOME_OK", "output": "42"}}}
}

// textBlocks returns the text of a message: of one that rests on searches in pieces, of which the later ones cite.
func textBlocks(r *Reply) []any {
	half := 0
	if r.Usage.Searches > 0 {
		for half = len(r.Text) / 2; half > 0 && !utf8.RuneStart(r.Text[half]); half-- {
		}
	}
	if half == 0 {
		return []any{map[string]any{"type": "text", "text": r.Text, "citations": nil}}
	}
	return []any{map[string]any{"type": "text", "text": r.Text[:half]}, map[string]any{"type": "text", "text": r.Text[half:],
		"citations": []any{map[string]any{"type": "web_search_result_location", "url": "https://example.com/", "title": "A page",
			"cited_text": "It is so.", "encrypted_index": "x"}}}}
}

// searchCalls returns the searches and the code of a reply as items of responses, and a page that was opened, which is not billed.
func searchCalls(r *Reply) (all []any) {
	call := func(i int, action map[string]any) {
		all = append(all, map[string]any{"id": fmt.Sprintf("ws_%016x", r.id+uint64(i)), "type": "web_search_call", "status": "completed",
			"action": action})
	}
	for i, query := range r.queries() {
		call(i, map[string]any{"type": "search", "query": query})
	}
	for i := 0; r.ran && i < 2; i++ { // both in one container
		all = append(all, map[string]any{"id": fmt.Sprintf("ci_%016x", r.id+uint64(i)), "type": "code_interpreter_call",
			"status": "completed", "code": "print(6*7)", "container_id": fmt.Sprintf("cntr_%016x", r.id), "outputs": nil})
	}
	if len(all) > 1 {
		call(len(all), map[string]any{"type": "open_page", "url": "https://example.com/"})
	}
	return all
}

// grounding returns the searches of an answer as Gemini shows them.
func grounding(r *Reply) any {
	if r.Usage.Searches == 0 {
		return nil
	}
	return map[string]any{"webSearchQueries": r.queries(), "searchEntryPoint": map[string]any{"renderedContent": "<div></div>"},
		"groundingChunks": []any{map[string]any{"web": map[string]any{"uri": "https://example.com/", "title": "example.com"}}}}
}
