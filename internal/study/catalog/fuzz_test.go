package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

func FuzzAnyLaneAtAnyVendorIsLookedAtWithoutPanic(f *testing.F) {
	f.Add("openai", "gpt-5", "", "minimal", "off", 0.7, 36000, 0, "flex", "input")
	f.Add("anthropic", "claude-sonnet-4-5-20250929", "messages", "", "tokens", 1.1, 38000, 32000, "", "system")
	f.Add("gemini", "models/gemini-2.5-flash", "", "", "level", -1.0, -5, -1, "", "generationConfig")
	f.Add("openrouter", "anthropic/claude-opus-4.1:free", "chat", "none", "on", 2.0, 1, 1<<62, "*", "reasoning")
	f.Add("", "ft:::/-20250101", "grpc", "*", "?", 1e308, 1<<62, 0, "", "")
	f.Add("mistral", "-latest", "", "high", "", 0.0, 0, 0, "", "n")
	f.Fuzz(func(t *testing.T, vendor, model, api, word, thinking string, temp float64, limit, tokens int, tier, field string) {
		c := catalog.Default()
		l := assay.Lane{Model: model, API: api, Mode: assay.ModeBatch, Params: assay.Params{
			Temperature: &temp, TopP: &temp, TopK: &tokens, MaxTokens: limit, Effort: word, Stop: strings.Split(word, "h"),
			Thinking: assay.Thinking{Mode: assay.ThinkingMode(thinking), Tokens: tokens, Level: word}, Thoughts: limit%2 == 0,
			Schema: json.RawMessage(field), ServiceTier: tier, Extra: map[string]json.RawMessage{field: nil},
		}}
		for _, i := range c.Check(l, vendor, today) {
			if i.Param == "" || i.What == "" || i.Kind == "" {
				t.Errorf("an issue that says nothing: %+v", i)
			}
		}
		if m := c.Find(vendor, model); m.Known && m.Family.Name == "" {
			t.Errorf("a known model without a family: %+v", m)
		}
		if near, ok := c.Nearest(vendor, model, today); ok && near.Retired.Reached(today) {
			t.Errorf("the nearest living model is retired: %+v", near)
		}
		if w := c.Wire(l, vendor, assay.ModeBatch); w.Dialect == "" || w.MaxTokensField == "" {
			t.Errorf("no dialect: %+v", w)
		}
		low, expected, high := c.OutputGuess(l, vendor)
		if low < 0 || low > expected || expected > high {
			t.Errorf("guess %d, %d, %d", low, expected, high)
		}
		if p, ok := c.Price(vendor, model); ok && p.Cost(assay.Usage{Input: int64(limit), Output: int64(tokens)}, live) < 0 {
			t.Error("a negative cost")
		}
		if x := c.TokenFactor(vendor, model); x <= 0 {
			t.Errorf("token factor %v", x)
		}
	})
}

func FuzzAPriceFileIsReadOrRefused(f *testing.F) {
	f.Add("- {vendor: openai, model: m, input: 1, output: 2, long: {above: 1, input: 2}}")
	f.Add("- {vendor: together, model: m, input: 0, output: 0, batch_input: 3, batch: 9}")
	f.Add("- {}")
	f.Add("- &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		overrides, err := catalog.ReadOverrides(strings.NewReader(text))
		if err != nil {
			return
		}
		c, err := catalog.Default().With(overrides)
		if (c == nil) != (err != nil) {
			t.Errorf("catalogue %v with error %v", c != nil, err)
		}
	})
}
