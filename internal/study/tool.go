package study

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/prompt"
)

// Tool is a function that the lanes of a stage may call. Nothing runs it: the call is the answer.
type Tool struct {
	decode.Where
	Name        string    `json:"name" jsonschema:"letters, digits, _ and -, at most 64"`
	Description string    `json:"description,omitempty" jsonschema:"what it does, for the model"`
	Parameters  RawSchema `json:"parameters,omitzero" jsonschema:"JSON Schema of its arguments, or the name of a file"`
	Strict      *bool     `json:"strict,omitempty" jsonschema:"arguments have to fit the schema; the provider's default when omitted"`
}

// ToolChoice is which tools are to be called: a word, or the name of one.
type ToolChoice struct {
	assay.ToolChoice
	At assay.Place
}

type toolChoiceMap struct {
	decode.Where
	Name string `json:"name" jsonschema:"the tool that has to be called"`
}

// Read takes auto, none, any, or {name: TOOL}.
func (c *ToolChoice) Read(d *decode.Decoder, n *decode.Node) {
	c.At = n.At
	if n.Kind == decode.Map {
		var m toolChoiceMap
		d.Fields(n, &m)
		c.Mode, c.Name = assay.ToolNamed, m.Name
		return
	}
	c.Mode = assay.ToolMode(d.OneOf(n, string(assay.ToolAuto), string(assay.ToolNone), string(assay.ToolAny)))
}

// Forced reports whether a tool has to be called.
func (c ToolChoice) Forced() bool { return c.Mode == assay.ToolAny || c.Mode == assay.ToolNamed }

// Callable returns the tools of a stage as requests carry them.
func (s Stage) Callable() []assay.Tool {
	var all []assay.Tool
	for _, t := range s.Tools {
		all = append(all, assay.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters.JSON, Strict: t.Strict})
	}
	return all
}

// ToolRule is the call that an answer has to make.
type ToolRule struct {
	decode.Where
	Name      string       `json:"name,omitempty" jsonschema:"the tool that has to be called; its one call, or the first with this name"`
	Arguments RawArguments `json:"arguments,omitzero" jsonschema:"arguments that the call has to have; texts may be templates"`
	Whole     bool         `json:"whole,omitempty" jsonschema:"the call has these arguments and no others (false)"`
	None      bool         `json:"none,omitempty" jsonschema:"the answer has to call no tool"`
}

// RawArguments are the arguments of a call, written in place.
type RawArguments struct {
	JSON      json.RawMessage
	At        assay.Place
	Templates map[string]*prompt.Template // texts of theirs that are templates, by their source
}

// Parse reads the texts that are templates.
func (a *RawArguments) Parse() (problems assay.Problems) {
	a.Templates = map[string]*prompt.Template{}
	a.each(func(text string) (any, error) {
		if strings.Contains(text, "{{") || strings.Contains(text, "{%") {
			t, found := prompt.Parse(a.At, text)
			a.Templates[text], problems = t, append(problems, found...)
		}
		return text, nil
	})
	return problems
}

// Render returns the arguments with their templates filled; nil: there are none.
func (a *RawArguments) Render(values prompt.Values, most int) (json.RawMessage, error) {
	v, err := a.each(func(text string) (any, error) {
		t, ok := a.Templates[text]
		if !ok {
			return text, nil
		}
		b, err := t.Render(nil, values, most)
		return string(b), err
	})
	if v == nil || err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// each returns the arguments with every text replaced by what f makes of it; nil: there are none.
func (a *RawArguments) each(f func(text string) (any, error)) (any, error) {
	if a.JSON == nil {
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(a.JSON))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return replaced(v, f)
}

func replaced(v any, f func(text string) (any, error)) (_ any, err error) {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			if v[i], err = replaced(v[i], f); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = replaced(v[name], f); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// Templates returns the templates of a rule; a rule that is none has none.
func (r *Rule) Templates() []*prompt.Template {
	switch {
	case r == nil:
		return nil
	case r.Exact.Template != nil:
		return []*prompt.Template{r.Exact.Template}
	case r.Tool != nil:
		return slices.Collect(maps.Values(r.Tool.Arguments.Templates))
	}
	return nil
}

// Read takes a map.
func (a *RawArguments) Read(d *decode.Decoder, n *decode.Node) {
	a.At = n.At
	if n.Kind != decode.Map {
		d.Wrong(n, "a map of arguments")
		return
	}
	a.JSON = n.JSON()
}
