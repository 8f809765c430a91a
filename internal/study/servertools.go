package study

import (
	"assay/internal/assay"
	"assay/internal/study/decode"
)

// ServerTools is `server_tools:` of a lane: tools that its provider runs.
type ServerTools struct {
	decode.Where
	assay.ServerTools
}

type serverToolsMap struct {
	decode.Where
	WebSearch     ServerTool `json:"web_search,omitzero" jsonschema:"searches of the web"`
	CodeExecution bool       `json:"code_execution,omitempty" jsonschema:"code that the model writes is run"`
}

// Read takes a map of tools by name.
func (s *ServerTools) Read(d *decode.Decoder, n *decode.Node) {
	switch n.Kind {
	case decode.Null: // a default is taken away
	case decode.Map:
		var m serverToolsMap
		d.Fields(n, &m)
		s.Where, s.WebSearch, s.CodeExecution = m.Where, m.WebSearch.given, m.CodeExecution
	default:
		d.Wrong(n, "a map of tools, such as {web_search: {max_uses: 3}}")
	}
}

// ServerTool is one tool of a provider.
type ServerTool struct{ given *assay.ServerTool }

type serverToolMap struct {
	decode.Where
	MaxUses int `json:"max_uses,omitempty" jsonschema:"calls of it for an answer, at most"`
}

// Read takes a map with the most calls, or true.
func (t *ServerTool) Read(d *decode.Decoder, n *decode.Node) {
	switch {
	case n.Kind == decode.Bool && n.Bool:
		t.given = &assay.ServerTool{}
	case n.Kind == decode.Bool:
	case n.Kind == decode.Map:
		var m serverToolMap
		d.Fields(n, &m)
		t.given = &assay.ServerTool{MaxUses: m.MaxUses}
		if m.Has("max_uses") && m.MaxUses < 1 {
			d.Problems.Add(m.Key("max_uses"), "leave it out for as many as the model likes", "max_uses: want at least 1, got %d", m.MaxUses)
		}
	default:
		d.Wrong(n, "a map such as {max_uses: 3}, or true")
	}
}
