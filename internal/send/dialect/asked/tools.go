package asked

import (
	"encoding/json"
	"fmt"

	"assay/internal/assay"
)

// openTools takes functions and their choice as chat completions or responses have them.
func (t *taker) openTools() {
	p := &t.asked.Params
	var list []map[string]json.RawMessage
	t.take(&list, "tools")
	for _, m := range list {
		in := t.within("tools", m)
		var kind string
		if in.take(&kind, "type"); kind != "function" {
			t.fail(fmt.Errorf("tools: no tool of the type %q", kind))
			continue
		}
		f := in
		if m["function"] != nil {
			f = in.inside("function")
		}
		p.Tools = append(p.Tools, f.tool("parameters"))
		f.rest()
	}
	t.openChoice()
	t.take(&p.Parallel, "parallel_tool_calls")
	if len(p.Tools) == 0 || p.Parallel != nil && *p.Parallel {
		p.Parallel = nil // that is how it is without the word
	}
}

// tool takes one definition.
func (t *taker) tool(schema string) assay.Tool {
	var out assay.Tool
	if t.take(&out.Name, "name"); out.Name == "" {
		t.fail(fmt.Errorf("tools: a tool has no name"))
	}
	t.take(&out.Description, "description")
	t.take(&out.Strict, "strict")
	out.Schema = t.raw(schema)
	return out
}

func (t *taker) openChoice() {
	c := &t.asked.Params.ToolChoice
	raw := t.raw("tool_choice")
	var word string
	if raw == nil {
		return
	}
	if json.Unmarshal(raw, &word) == nil {
		switch word {
		case "auto", "none":
			c.Mode = assay.ToolMode(word)
		case "required", "any":
			c.Mode = assay.ToolAny
		default:
			t.fail(fmt.Errorf("tool_choice: no choice %q", word))
		}
		if len(t.asked.Params.Tools) == 0 {
			*c = assay.ToolChoice{}
		}
		return
	}
	var named struct {
		Type, Name string
		Function   struct{ Name string }
	}
	if json.Unmarshal(raw, &named) != nil || named.Type != "function" {
		t.fail(fmt.Errorf("tool_choice: it is neither a word nor a function"))
	}
	c.Mode, c.Name = assay.ToolNamed, named.Name+named.Function.Name
}

// messagesTools takes tools as Anthropic has them; those that it runs itself stay there.
func (t *taker) messagesTools() {
	p := &t.asked.Params
	var list []map[string]json.RawMessage
	t.take(&list, "tools")
	for _, m := range list {
		in := t.within("tools", m)
		kind := "custom"
		in.take(&kind, "type")
		if kind != "custom" {
			t.fail(fmt.Errorf("tools: no tool of the type %q", kind))
		}
		in.raw("cache_control")
		p.Tools = append(p.Tools, in.tool("input_schema"))
		in.rest()
	}
	c := t.inside("tool_choice")
	var one bool
	c.take(&p.ToolChoice.Mode, "type")
	c.take(&p.ToolChoice.Name, "name")
	if c.take(&one, "disable_parallel_tool_use"); one {
		no := false
		p.Parallel = &no
	}
	c.rest()
}

func (t *taker) generateTools() {
	p := &t.asked.Params
	var list []map[string]json.RawMessage
	t.take(&list, "tools")
	for _, m := range list {
		in := t.within("tools", m)
		var functions []map[string]json.RawMessage
		in.take(&functions, "functionDeclarations", "function_declarations")
		for _, f := range functions {
			d := t.within("functionDeclarations", f)
			tool := d.tool("parametersJsonSchema")
			if raw := d.raw("parameters"); raw != nil {
				var schema any
				if json.Unmarshal(raw, &schema) == nil {
					tool.Schema, _ = json.Marshal(plainSchema(schema)) // it was JSON
				}
			}
			p.Tools = append(p.Tools, tool)
			d.rest()
		}
		in.rest()
	}
	config := t.inside("toolConfig", "tool_config")
	calling := config.inside("functionCallingConfig")
	var mode string
	var names []string
	calling.take(&mode, "mode")
	calling.take(&names, "allowedFunctionNames")
	switch {
	case mode == "":
	case mode == "ANY" && len(names) == 1:
		p.ToolChoice = assay.ToolChoice{Mode: assay.ToolNamed, Name: names[0]}
	case mode == "AUTO", mode == "NONE", mode == "ANY" && len(names) == 0:
		p.ToolChoice.Mode = map[string]assay.ToolMode{"AUTO": assay.ToolAuto, "NONE": assay.ToolNone, "ANY": assay.ToolAny}[mode]
	case mode == "VALIDATED" && len(names) == 0:
		p.ToolChoice.Mode = assay.ToolAuto
		for i := range p.Tools {
			p.Tools[i].Strict = new(true)
		}
	default:
		calling.lose("mode")
	}
	calling.rest()
	config.rest()
}

func (t *taker) converseTools() {
	p := &t.asked.Params
	config := t.inside("toolConfig")
	var list []map[string]json.RawMessage
	config.take(&list, "tools")
	for _, m := range list {
		in := t.within("tools", m)
		spec := in.inside("toolSpec")
		schema := spec.inside("inputSchema")
		tool := spec.tool("inputSchema")
		tool.Schema = schema.raw("json")
		p.Tools = append(p.Tools, tool)
		spec.rest()
		in.rest()
	}
	choice := config.inside("toolChoice")
	for _, mode := range []assay.ToolMode{assay.ToolAuto, assay.ToolAny} {
		if choice.raw(string(mode)) != nil {
			p.ToolChoice.Mode = mode
		}
	}
	if choice.from["tool"] != nil {
		one := choice.inside("tool")
		p.ToolChoice.Mode = assay.ToolNamed
		one.take(&p.ToolChoice.Name, "name")
		one.rest()
	}
	choice.rest()
	config.rest()
}
