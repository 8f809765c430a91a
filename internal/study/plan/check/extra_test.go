package check

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestFieldsThatCostMoreThanTokensAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]}`:     {"tools"},
		`{"tools": [{"type": "web_search"}], "verbosity": "low"}`:                               {"tools"},
		`{"tools": [{"google_search": {}}]}`:                                                    {"tools"},
		`{"tools": [{"name": "f", "input_schema": {}}, {"type": "code_execution_20250825"}]}`:   {"tools"},
		`{"service_tier": "priority", "web_search_options": {}}`:                                {"service_tier", "web_search_options"},
		`{"tools": [{"type": "function", "function": {"name": "f"}}]}`:                          nil,
		`{"tools": [{"name": "f", "input_schema": {}}]}`:                                        nil,
		`{"tools": [{"functionDeclarations": []}], "verbosity": "low", "metadata": {"a": "b"}}`: nil,
	} {
		var extra map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &extra); err != nil {
			t.Fatal(err)
		}
		if got := beyondTokens(extra); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
