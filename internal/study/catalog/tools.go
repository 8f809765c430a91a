package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Tools are the tools that a lane lets its provider run for a request: its `server_tools`, and those in its `extra`.
type Tools struct {
	Any     bool            // it has tools that the provider runs
	Bounded bool            // a request makes at most these calls
	Most    assay.ToolCalls // where it is not bounded, one of each kind
}

// ToolsOf returns the tools that a lane lets its provider run, and how often; by prompt, all searches of a request are billed as one.
func ToolsOf(lane assay.Params, byPrompt bool) Tools {
	out := extraTools(lane.Extra)
	if s := lane.ServerTools; s.Any() { // `extra` has no tools then
		out = Tools{Any: true, Bounded: true}
		if s.WebSearch != nil {
			out.Bounded, out.Most.Searches = s.WebSearch.MaxUses > 0, int64(max(s.WebSearch.MaxUses, 1))
		}
		if s.CodeExecution { // however often it runs, its container is one
			out.Most.Code = 1
		}
	}
	if byPrompt && out.Most.Lookups+out.Most.Other == 0 {
		out.Bounded, out.Most.Searches = true, min(out.Most.Searches, 1)
	}
	return out
}

// extraTools reads the tools of a provider from a lane's `extra`. Those that are declared with their parameters are the client's own.
func extraTools(extra map[string]json.RawMessage) Tools {
	text, ok := extra["tools"]
	if !ok {
		return Tools{}
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return Tools{Any: true, Most: assay.ToolCalls{Other: 1}}
	}
	all := wholeOf(extra["max_tool_calls"])
	out := Tools{Bounded: true}
	for _, tool := range list {
		if slices.ContainsFunc(declared, func(name string) bool { _, ok := tool[name]; return ok }) || ownKind(tool) {
			continue
		}
		out.Any = true
		most := max(all, wholeOf(tool["max_uses"]))
		out.Bounded = out.Bounded && most > 0
		*kindOf(&out.Most, tool) += max(most, 1)
	}
	return out
}

// declared are the fields of a tool that its client runs.
var declared = []string{"function", "parameters", "input_schema", "functionDeclarations", "function_declarations"}

// ownKinds begin the types of tools that a client runs, whatever they declare.
var ownKinds = []string{"function", "custom", "bash_", "text_editor_", "computer_", "memory_"}

// ownKind reports whether a tool is of such a kind.
func ownKind(tool map[string]json.RawMessage) bool {
	var kind string
	return json.Unmarshal(tool["type"], &kind) == nil &&
		slices.ContainsFunc(ownKinds, func(own string) bool { return strings.HasPrefix(kind, own) })
}

func wholeOf(text json.RawMessage) (n int64) {
	if json.Unmarshal(text, &n) != nil {
		return 0
	}
	return n
}

// kindOf returns the count that calls of a tool belong to.
func kindOf(calls *assay.ToolCalls, tool map[string]json.RawMessage) *int64 {
	var kind string
	if json.Unmarshal(tool["type"], &kind) != nil {
		for _, name := range []string{"google_search", "googleSearch"} {
			if _, ok := tool[name]; ok {
				return &calls.Searches
			}
		}
	}
	switch {
	case strings.HasPrefix(kind, "web_search_preview"): // it has prices of its own
	case strings.HasPrefix(kind, "web_search"), kind == "x_search":
		return &calls.Searches
	case kind == "file_search", kind == "collections_search":
		return &calls.Lookups
	}
	return &calls.Other
}
