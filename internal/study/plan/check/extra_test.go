package check

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestFieldsThatCostMoreThanTokensAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"service_tier": "priority", "web_search_options": {}}`:  {"service_tier", "web_search_options"},
		`{"tools": [], "verbosity": "low", "metadata": {"a": 1}}`: nil,
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
