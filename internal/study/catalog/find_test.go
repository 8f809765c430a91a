package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/catalog"
)

func TestFindKnowsRowsAliasesSnapshotsAndRoutes(t *testing.T) {
	t.Parallel()
	type got struct {
		Name, Family, Snapshot string
		Known, Floating        bool
	}
	for _, c := range []struct {
		vendor, model string
		want          got
	}{
		{"openai", "gpt-4o", got{"gpt-4o", "gpt-4.1", "", true, true}},
		{"openai", "gpt-4o-2024-08-06", got{"gpt-4o", "gpt-4.1", "2024-08-06", true, false}},
		{"openai", "GPT-4o", got{"gpt-4o", "gpt-4.1", "", true, true}},
		{"azure", "gpt-4.1-mini-2025-04-14", got{"gpt-4.1-mini", "gpt-4.1", "2025-04-14", true, false}},
		{"anthropic", "claude-sonnet-4-5-20250929", got{"claude-sonnet-4-5", "claude-4-5", "20250929", true, false}},
		{"anthropic", "claude-opus-4-0", got{"claude-opus-4", "claude-4", "", true, false}},
		{"anthropic", "claude-3-haiku-20240307", got{"claude-3-haiku-20240307", "claude-3", "20240307", false, false}},
		{"anthropic", "claude-sonnet-7", got{"claude-sonnet-7", "claude-5", "", false, false}},
		{"openai", "gpt-5.7-mini", got{"gpt-5.7-mini", "gpt-5.6", "", false, false}},
		{"openai", "gpt-7", got{"gpt-7", "gpt-6", "", false, false}},
		{"openai", "gpt-4-1106-preview", got{"gpt-4-1106-preview", "gpt-4", "", false, false}},
		{"openai", "ft:gpt-4o-2024-08-06:us::x1", got{"ft:gpt-4o-2024-08-06:us::x1", "gpt-4.1", "", false, false}},
		{"openai", "gpt-5-chat-latest", got{"gpt-5-chat-latest", "gpt-5-chat", "", false, true}},
		{"openai", "babbage", got{"babbage", "gpt-6", "", false, false}},
		{"gemini", "models/gemini-2.5-flash", got{"gemini-2.5-flash", "gemini-2.5-flash", "", true, false}},
		{"gemini", "gemini-flash-latest", got{"gemini-flash-latest", "gemini-3-flash", "", false, true}},
		{"gemini", "gemini-4-pro", got{"gemini-4-pro", "gemini-3.1-pro", "", false, false}},
		{"vertex", "publishers/google/models/gemini-2.5-pro", got{"gemini-2.5-pro", "gemini-2.5-pro", "", true, false}},
		{"together", "meta-llama/Llama-3.1-405B", got{"meta-llama/Llama-3.1-405B", "llama", "", false, false}},
		{"fireworks", "glm-5p2", got{"accounts/fireworks/models/glm-5p2", "open", "", true, false}},
		{"mistral", "mistral-large-2411", got{"mistral-large-2411", "mistral", "", false, false}},
		{"openrouter", "anthropic/claude-sonnet-4.5", got{"claude-sonnet-4-5", "claude-4-5", "", true, false}},
		{"openrouter", "openai/gpt-5.1:nitro", got{"gpt-5.1", "gpt-5.1", "", true, false}},
		{"openrouter", "nousresearch/hermes-4", got{"nousresearch/hermes-4", "open", "", false, false}},
		{"ollama", "llama3:latest", got{"llama3:latest", "llama", "", false, true}},
		{"nosuch", "m", got{"m", "", "", false, false}},
	} {
		m := catalog.Default().Find(c.vendor, c.model)
		if d := cmp.Diff(c.want, got{m.Model.Name, m.Family.Name, m.Snapshot, m.Known, m.Model.Floating}); d != "" {
			t.Errorf("%s/%s: %s", c.vendor, c.model, d)
		}
		if m.Model.Vendor != c.vendor {
			t.Errorf("%s/%s: found at %s", c.vendor, c.model, m.Model.Vendor)
		}
	}
}

func TestNearestIsAlive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vendor, model string
		on            catalog.Date
		want          string
	}{
		{"anthropic", "claude-opus-4-1", today, "claude-opus-4-5"},
		{"anthropic", "claude-opus-4-1-20250805", "2026-08-04", "claude-opus-4-1"},
		{"anthropic", "claude-3-5-sonnet-20240620", today, "claude-sonnet-4-5"},
		{"openrouter", "anthropic/claude-opus-4.1", today, "anthropic/claude-opus-4-5"},
		{"gemini", "gemini-3-pro-preview", today, "gemini-3.1-pro-preview"},
		{"openai", "gpt5", today, "gpt-5"},
		{"openai", "gpt-4-o", today, "gpt-4o"},
		{"azure", "gpt-4.1-mni", today, "gpt-4.1-mini"},
		{"openai", "gpt-5", today, "gpt-5"},
		{"openai", "text-embedding-3-smal", today, ""},
		{"openai", "something-else-altogether", today, ""},
		{"nosuch", "gpt-5", today, ""},
	} {
		near, ok := catalog.Default().Nearest(c.vendor, c.model, c.on)
		if near.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s/%s on %s: %q, want %q", c.vendor, c.model, c.on, near.Name, c.want)
		}
		if ok && near.Vendor != c.vendor {
			t.Errorf("%s/%s: found at %s", c.vendor, c.model, near.Vendor)
		}
	}
}

func TestAStudysOwnServerIsNotOpenAI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry, kind, baseURL, want string
		ok                         bool
	}{
		{"openai", "", "", "openai", true},
		{"openai", "openai", "http://127.0.0.1:9", "openai", true},
		{"box", "openai", "http://127.0.0.1:8000/v1", catalog.Compatible, true},
		{"second", "openai", "", "openai", true},
		{"fast", "groq", "http://127.0.0.1:9", "groq", true},
		{"box", "", "http://127.0.0.1:9", "box", false},
	} {
		kind, ok := catalog.Default().Kind(c.entry, c.kind, c.baseURL)
		if kind != c.want || ok != c.ok {
			t.Errorf("%+v: %s, %v", c, kind, ok)
		}
	}
}

func TestDatesCompareByDay(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 8, 4, 23, 30, 0, 0, time.FixedZone("west", -2*60*60))
	if got := catalog.DateOf(late); got != "2026-08-05" {
		t.Errorf("day of %s: %s", late, got)
	}
	for _, c := range []struct {
		a, b            catalog.Date
		before, reached bool
	}{
		{"2026-08-04", "2026-08-05", true, true},
		{"2026-08-05", "2026-08-05", false, true},
		{"2026-08-06", "2026-08-05", false, false},
		{"", "2026-08-05", false, false},
		{"2026-08-05", "", false, false},
	} {
		if c.a.Before(c.b) != c.before || c.a.Reached(c.b) != c.reached {
			t.Errorf("%q and %q: before %v, reached %v", c.a, c.b, c.a.Before(c.b), c.a.Reached(c.b))
		}
	}
}
