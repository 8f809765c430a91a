package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

const today catalog.Date = "2026-11-15"

func ptr[T any](v T) *T { return &v }

// lane makes a lane from a model and changes to its parameters.
func lane(model string, change ...func(*assay.Params)) assay.Lane {
	l := assay.Lane{Name: "lane", Model: model}
	for _, c := range change {
		c(&l.Params)
	}
	return l
}

func via(api string, l assay.Lane) assay.Lane { l.API = api; return l }

func temperature(x float64) func(*assay.Params) { return func(p *assay.Params) { p.Temperature = &x } }
func topP(x float64) func(*assay.Params)        { return func(p *assay.Params) { p.TopP = &x } }
func topK(n int) func(*assay.Params)            { return func(p *assay.Params) { p.TopK = &n } }
func maxTokens(n int) func(*assay.Params)       { return func(p *assay.Params) { p.MaxTokens = n } }
func effort(word string) func(*assay.Params)    { return func(p *assay.Params) { p.Effort = word } }
func seed(n int64) func(*assay.Params)          { return func(p *assay.Params) { p.Seed = &n } }
func stop(words ...string) func(*assay.Params)  { return func(p *assay.Params) { p.Stop = words } }
func tier(word string) func(*assay.Params)      { return func(p *assay.Params) { p.ServiceTier = word } }
func thoughts(p *assay.Params)                  { p.Thoughts = true }
func schema(p *assay.Params)                    { p.Schema = json.RawMessage(`{"type":"object"}`) }
func off(p *assay.Params)                       { p.Thinking.Mode = assay.ThinkingOff }
func on(p *assay.Params)                        { p.Thinking.Mode = assay.ThinkingOn }

func budget(n int) func(*assay.Params) {
	return func(p *assay.Params) { p.Thinking = assay.Thinking{Mode: assay.ThinkingTokens, Tokens: n} }
}

func level(word string) func(*assay.Params) {
	return func(p *assay.Params) { p.Thinking = assay.Thinking{Mode: assay.ThinkingLevel, Level: word} }
}

// extra adds body fields to a lane: "name" or "name=JSON".
func extra(fields ...string) func(*assay.Params) {
	return func(p *assay.Params) {
		p.Extra = map[string]json.RawMessage{}
		for _, f := range fields {
			name, value, ok := strings.Cut(f, "=")
			if !ok {
				value = "1"
			}
			p.Extra[name] = json.RawMessage(value)
		}
	}
}

func split(issues []catalog.Issue) (problems, warnings []string) {
	for _, i := range issues {
		if i.Warning {
			warnings = append(warnings, i.Param+": "+i.What)
		} else {
			problems = append(problems, i.Param+": "+i.What)
		}
	}
	return problems, warnings
}

// auditionLanes are fifteen lanes as people really wrote them: four of them no provider would take.
func auditionLanes() []struct {
	vendor string
	lane   assay.Lane
} {
	type row = struct {
		vendor string
		lane   assay.Lane
	}
	named := func(name, vendor, model string, change ...func(*assay.Params)) row {
		l := lane(model, change...)
		l.Name, l.Provider = name, vendor
		return row{vendor, l}
	}
	return []row{
		named("gpt5.reason-min", "openai", "gpt-5", effort("minimal"), maxTokens(36000)),
		named("gpt5.reason-med", "openai", "gpt-5", effort("medium"), maxTokens(36000)),
		named("gpt5.reason-high", "openai", "gpt-5", effort("high"), maxTokens(36000)),
		named("o3.reason-low", "openai", "o3", effort("low"), maxTokens(36000)),
		named("o3.reason-med", "openai", "o3", effort("medium"), maxTokens(36000)),
		named("o3.reason-high", "openai", "o3", effort("high"), maxTokens(36000)),
		named("4o.t0-6", "openai", "gpt-4o", temperature(0.6), maxTokens(6000)),
		named("4o.t0-8", "openai", "gpt-4o", temperature(0.8), maxTokens(6000)),
		named("4o.t1-0", "openai", "gpt-4o", temperature(1), maxTokens(6000)),
		named("sonnet.t0-8.std", "anthropic", "claude-sonnet-4-5", temperature(0.8), maxTokens(6000)),
		named("sonnet.t0-8.ext", "anthropic", "claude-sonnet-4-5", temperature(0.8), budget(32000), maxTokens(38000)),
		named("sonnet.t1-1.ext", "anthropic", "claude-sonnet-4-5", temperature(1.1), budget(32000), maxTokens(38000)),
		named("opus.t0-8.std", "anthropic", "claude-opus-4-1", temperature(0.8), maxTokens(6000)),
		named("opus.t1-0.ext", "anthropic", "claude-opus-4-1", temperature(1), budget(32000), maxTokens(38000)),
		named("opus.t1-2.ext", "anthropic", "claude-opus-4-1", temperature(1.2), budget(32000), maxTokens(38000)),
	}
}

func TestFourOfTheFifteenAuditionLanesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, row := range auditionLanes() {
		if problems, _ := split(catalog.Default().Check(row.lane, row.vendor, today)); problems != nil {
			got[row.lane.Name] = problems
		}
	}
	want := map[string][]string{
		"sonnet.t0-8.ext": {"temperature: thinking needs temperature 1, not 0.8"},
		"sonnet.t1-1.ext": {"temperature: thinking needs temperature 1, not 1.1"},
		"opus.t1-0.ext":   {"max_tokens: claude-opus-4-1 writes at most 32,000 tokens, not 38,000"},
		"opus.t1-2.ext": {
			"temperature: thinking needs temperature 1, not 1.2",
			"max_tokens: claude-opus-4-1 writes at most 32,000 tokens, not 38,000",
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestARetiredModelIsAWarningThatNamesTheNearestLivingOne(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	l := lane("claude-opus-4-1-20250805", temperature(0.8), maxTokens(6000))
	want := []catalog.Issue{{
		Param: "model", Kind: catalog.Retired, Warning: true,
		What: "claude-opus-4-1-20250805 is retired since 2026-08-05", Hint: "use claude-opus-4-5",
	}}
	if d := cmp.Diff(want, c.Check(l, "anthropic", today)); d != "" {
		t.Error(d)
	}
	if got := c.Check(l, "anthropic", "2026-08-05"); len(got) != 1 {
		t.Errorf("on the day itself: %v, want one warning", got)
	}
	for _, early := range []catalog.Date{"2026-08-04", ""} {
		if got := c.Check(l, "anthropic", early); got != nil {
			t.Errorf("on %q: %v, want no issue", early, got)
		}
	}
}

func TestUnknownAndFloatingModelsAreWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vendor, model string
		want          []string
	}{
		{"openai", "gpt-4o", []string{"model: gpt-4o is an alias that moves from snapshot to snapshot"}},
		{"openai", "gpt-4o-2024-08-06", nil},
		{"anthropic", "claude-sonnet-4-5-20250929", nil},
		{"openai", "gpt-5", nil},
		{"openai", "gpt-5.9", []string{"model: gpt-5.9 is not in the catalogue: the rules of GPT-5.6 are used"}},
		{"mistral", "mistral-large-latest", []string{"model: mistral-large-latest is an alias that moves from snapshot to snapshot"}},
		{"ollama", "llama3.2:3b", nil},
		{"vllm", "my-own-model", nil},
		{"azure", "our-deployment", nil},
		{"openai-compatible", "anything", nil},
		{"openrouter", "anthropic/claude-sonnet-4.5", nil},
		{"openrouter", "anthropic/claude-opus-4.1", []string{"model: anthropic/claude-opus-4.1 is retired since 2026-08-05"}},
	} {
		problems, warnings := split(catalog.Default().Check(lane(c.model), c.vendor, today))
		if d := cmp.Diff(c.want, warnings); d != "" || problems != nil {
			t.Errorf("%s/%s: problems %v, warnings %s", c.vendor, c.model, problems, d)
		}
	}
}
