package check

import (
	"encoding/json"
	"maps"
	"slices"
)

// dearFields are fields of request bodies that are billed by more than tokens, or change what a token costs.
var dearFields = []string{"web_search_options", "search_parameters", "plugins", "service_tier", "serviceTier", "speed", "inference_geo",
	"modalities", "audio", "container"}

// beyondTokens names the fields of a lane's `extra` whose price nobody here knows.
func beyondTokens(extra map[string]json.RawMessage) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(dearFields, name) || name == "tools" && serverTools(extra[name]) {
			out = append(out, name)
		}
	}
	return out
}

// serverTools reports whether a list of tools has one that the provider runs, such as a web search: it is not declared with
// its parameters.
func serverTools(list json.RawMessage) bool {
	var tools []map[string]json.RawMessage
	if json.Unmarshal(list, &tools) != nil {
		return true
	}
	return slices.ContainsFunc(tools, func(t map[string]json.RawMessage) bool {
		for _, declared := range []string{"function", "parameters", "input_schema", "functionDeclarations", "function_declarations"} {
			if _, ok := t[declared]; ok {
				return false
			}
		}
		return true
	})
}
