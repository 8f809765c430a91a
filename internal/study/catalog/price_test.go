package catalog_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

var (
	live  = catalog.Billing{Mode: assay.ModeLive}
	batch = catalog.Billing{Mode: assay.ModeBatch}
)

func inTier(word string) catalog.Billing { return catalog.Billing{Mode: assay.ModeLive, Tier: word} }

func TestCostsComputedByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vendor, model string
		usage               assay.Usage
		how                 catalog.Billing
		want                assay.Money // nanodollars
	}{
		// 800 x 1.25 + 200 x 0.125 + 500 x 10 dollars a million
		{"live with cached input", "openai", "gpt-5", assay.Usage{Input: 1000, Cached: 200, Output: 500, Reasoning: 400}, live,
			1_000_000 + 25_000 + 5_000_000},
		// half of it: the discount stacks with caching
		{"batch with cached input", "openai", "gpt-5", assay.Usage{Input: 1000, Cached: 200, Output: 500}, batch, 3_012_500},
		{"flex is batch prices", "openai", "gpt-5", assay.Usage{Input: 1000, Cached: 200, Output: 500}, inTier("flex"), 3_012_500},
		{"priority by its factor", "openai", "gpt-5", assay.Usage{Input: 1000, Cached: 200, Output: 500}, inTier("priority"), 12_050_000},
		{"fast is priority", "openai", "gpt-4.1", assay.Usage{Input: 1000, Output: 1000}, inTier("fast"), 17_500_000},
		{"flex by its factor", "gemini", "gemini-3.6-flash", assay.Usage{Input: 1000, Cached: 1000, Output: 1000}, inTier("flex"),
			75_000 + 3_750_000},
		{"the default tier is live", "openai", "gpt-5", assay.Usage{Input: 1000, Output: 500}, inTier("default"), 6_250_000},
		{"a word of the vendor's own is live", "openai", "gpt-5", assay.Usage{Input: 1000, Output: 500}, inTier("ultrafast"), 6_250_000},
		{"a batch has one price", "openai", "gpt-5", assay.Usage{Input: 1000, Output: 500},
			catalog.Billing{Mode: assay.ModeBatch, Tier: "default"}, 3_125_000},
		// (1000-100-200-300) x 3 + 100 x 0.3 + 200 x 3.75 + 300 x 6 + 50 x 15
		{"cache writes", "anthropic", "claude-sonnet-4-5", assay.Usage{Input: 1000, Cached: 100, CacheWrite5m: 200, CacheWrite1h: 300,
			Output: 50}, live, 1_200_000 + 30_000 + 750_000 + 1_800_000 + 750_000},
		{"cache writes in a batch", "anthropic", "claude-sonnet-4-5",
			assay.Usage{Input: 1000, Cached: 100, CacheWrite5m: 200, CacheWrite1h: 300, Output: 50}, batch, 2_265_000},
		{"a reply that says batch", "anthropic", "claude-sonnet-4-5", assay.Usage{Input: 1000, Output: 50}, inTier("batch"), 1_875_000},
		// 900 x 0.15 + 100 x 0.03 (cached costs the same in a batch) + 10 x 1.25
		{"caching does not stack", "gemini", "gemini-2.5-flash", assay.Usage{Input: 1000, Cached: 100, Output: 10}, batch,
			135_000 + 3_000 + 12_500},
		// 200,000 x 1.25 + 10 x 10; one token more: 200,001 x 2.5 + 10 x 15
		{"at the threshold", "gemini", "gemini-2.5-pro", assay.Usage{Input: 200_000, Output: 10}, live, 250_000_000 + 100_000},
		{"above the threshold", "gemini", "gemini-2.5-pro", assay.Usage{Input: 200_001, Output: 10}, live, 500_002_500 + 150_000},
		{"cached above the threshold", "gemini", "gemini-2.5-pro", assay.Usage{Input: 300_000, Cached: 300_000}, live, 75_000_000},
		{"above the threshold in a batch", "openai", "gpt-5.4", assay.Usage{Input: 300_000, Cached: 100_000, Output: 1000}, batch,
			500_000_000 + 25_000_000 + 11_250_000},
		// 3 x 0.0028 = 8.4 nanodollars; 1 x 0.0375 = 37.5 rounds up
		{"below a nanodollar", "deepseek", "deepseek-v4-flash", assay.Usage{Input: 3, Cached: 3}, live, 8},
		{"half a nanodollar", "groq", "gpt-oss-20b", assay.Usage{Input: 1, Cached: 1}, live, 38},
		{"written for nothing", "deepseek", "deepseek-v4-pro", assay.Usage{Input: 10, CacheWrite5m: 10}, live, 0},
		{"no batches, no discount", "deepseek", "deepseek-v4-pro", assay.Usage{Input: 1000}, batch, 435_000},
		{"chosen models only", "together", "GLM-4.7", assay.Usage{Input: 1000}, batch, 450_000},
		{"a fifth off", "xai", "grok-4.3", assay.Usage{Input: 1000, Output: 1000}, batch, 1_000_000 + 2_000_000},
		{"a snapshot costs what its base costs", "azure", "gpt-4.1-2025-04-14", assay.Usage{Input: 1000, Output: 1000}, live, 10_000_000},
		{"no rate for cached input", "mistral", "mistral-large", assay.Usage{Input: 1000, Cached: 500}, live, 500_000},
		{"nothing used", "openai", "gpt-5", assay.Usage{}, live, 0},
		{"nonsense is not negative", "openai", "gpt-5", assay.Usage{Input: 10, Cached: 20, Output: -5}, live, 2_500},
		// forty trillion tokens at 180 dollars a million
		{"no overflow in between", "openai", "gpt-5.5-pro", assay.Usage{Output: 40_000_000_000_000}, live, 7_200_000_000 * assay.Dollar},
		{"no overflow at the end", "openai", "gpt-5.5-pro", assay.Usage{Output: math.MaxInt64}, live, math.MaxInt64},
	} {
		p, ok := catalog.Default().Price(c.vendor, c.model)
		if got := p.Cost(c.usage, c.how); got != c.want || !ok || !p.Covers(c.how) {
			t.Errorf("%s: %d nanodollars, want %d (price known: %v)", c.name, got, c.want, ok)
		}
	}
}

func TestAnUnknownPriceIsUnknownAndNeverNothing(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	used := assay.Usage{Known: true, Input: 10, Output: 10}
	for _, q := range []struct {
		vendor, model string
		how           catalog.Billing
	}{
		{"openai", "gpt-7", live},
		{"openai", "gpt-5-pro", live},
		{"openai", "ft:gpt-4o-2024-08-06:us::x1", live},
		{"gemini", "gemini-3.8-flash", live}, // its output rate is not known
		{"openrouter", "openai/gpt-5", batch},
		{"mistral", "mistral-large-2411", live},
		{"ollama", "llama3", live},
		{"nosuch", "m", live},
		{"openai", "gpt-5", inTier("scale")},
		{"openai", "gpt-5-nano", inTier("priority")},
		{"gemini", "gemini-2.5-pro", inTier("flex")},
	} {
		if d := cmp.Diff(assay.Cost{Unknown: 1}, c.Bill(q.vendor, q.model, used, q.how)); d != "" {
			t.Errorf("%s/%s %s: %s", q.vendor, q.model, q.how.Tier, d)
		}
	}
	if d := cmp.Diff(assay.Cost{Unknown: 1}, c.Bill("openai", "gpt-5", assay.Usage{}, live)); d != "" {
		t.Errorf("no usage: %s", d)
	}
	if d := cmp.Diff(assay.Cost{Sum: 112_500, Priced: 1}, c.Bill("openai", "gpt-5", used, live)); d != "" {
		t.Errorf("known: %s", d)
	}
	for _, model := range []string{"gpt-7", "gpt-5-pro"} {
		if _, ok := c.Price("openai", model); ok {
			t.Errorf("%s has a price", model)
		}
	}
}

func TestTheUserKnowsPricesBetter(t *testing.T) {
	t.Parallel()
	base := catalog.Default()
	own, err := base.With(catalog.Overrides{Prices: []catalog.PriceRow{
		{Vendor: "openai", Model: "gpt-5", RateRow: catalog.RateRow{Input: ptr(1.0), Output: ptr(2.0)}, Batch: ptr(0.25)},
		{Vendor: "vllm", Model: "mine", RateRow: catalog.RateRow{Input: ptr(0.0), Output: ptr(0.0)}},
		{Vendor: "azure", Model: "gpt-4o", RateRow: catalog.RateRow{Input: ptr(9.0), Output: ptr(9.0)}},
		{Vendor: "openai", Model: "mine", RateRow: catalog.RateRow{Input: ptr(0.0), Output: ptr(4.0)}, BatchInput: ptr(1.0)},
		{Vendor: "openai", Model: "gpt-4.1", RateRow: catalog.RateRow{Input: ptr(2.0), Output: ptr(8.0)},
			Tiers: map[string]catalog.RateRow{"priority": {Input: ptr(3.5), Output: ptr(14.0)}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	used := assay.Usage{Known: true, Input: 1000, Cached: 500, Output: 1000}
	for _, c := range []struct {
		catalog       *catalog.Catalog
		vendor, model string
		how           catalog.Billing
		want          assay.Cost
	}{
		{own, "openai", "gpt-5", live, assay.Cost{Sum: 3_000_000, Priced: 1}}, // no cached rate: the input's
		{own, "openai", "gpt-5-2025-08-07", batch, assay.Cost{Sum: 750_000, Priced: 1}},
		{own, "vllm", "mine", live, assay.Cost{Priced: 1}}, // free is known
		// No factor follows from a price of nothing: its own price of input in batches, and half of that of output.
		{own, "openai", "mine", batch, assay.Cost{Sum: 1_000_000 + 2_000_000, Priced: 1}},
		{own, "azure", "gpt-4o", live, assay.Cost{Sum: 18_000_000, Priced: 1}},
		{own, "openai", "gpt-4o", live, assay.Cost{Sum: 1_250_000 + 625_000 + 10_000_000, Priced: 1}},
		{own, "openai", "gpt-4.1", inTier("priority"), assay.Cost{Sum: 17_500_000, Priced: 1}},
		{base, "openai", "gpt-5", live, assay.Cost{Sum: 625_000 + 62_500 + 10_000_000, Priced: 1}}, // the base is untouched
		{base, "vllm", "mine", live, assay.Cost{Unknown: 1}},
	} {
		if d := cmp.Diff(c.want, c.catalog.Bill(c.vendor, c.model, used, c.how)); d != "" {
			t.Errorf("%s/%s: %s", c.vendor, c.model, d)
		}
	}
}

func TestBadPricesAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- {vendor: openai, model: m, input: 1}":                                        "input and output are needed",
		"- {vendor: openai, input: 1, output: 1}":                                       "no model",
		"- {vendor: opanai, model: m, input: 1, output: 1}":                             "no such vendor",
		"- {vendor: openai, model: m, input: -1, output: 1}":                            "not an amount",
		"- {vendor: openai, model: m, input: .nan, output: 1}":                          "not an amount",
		"- {vendor: openai, model: m, input: 1, output: 1, tiers: {flex: {input: -1}}}": "not an amount",
		"- {vendor: openai, model: m, input: 1, output: 1, factors: {priority: -2}}":    "not an amount",
		"- {vendor: openai, model: m, inputs: 1, output: 1}":                            "unknown field",
		"prices: [1]": "read price file",
	} {
		overrides, err := catalog.ReadOverrides(strings.NewReader(text))
		if err == nil {
			_, err = catalog.Default().With(overrides)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	overrides, err := catalog.ReadOverrides(strings.NewReader("- {vendor: xai, model: grok-9, input: 1, output: 3, batch: 0.5}"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Default().With(overrides)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := c.Price("xai", "grok-9"); !ok || p.Batch.Short.Output.Million != assay.Dollars(1.5) || p.Source != "user" {
		t.Errorf("price of grok-9: %+v, %v", p, ok)
	}
	if _, err := catalog.ReadOverrides(strings.NewReader("")); err != nil {
		t.Errorf("an empty price file: %v", err)
	}
}

func TestATierIsDearerByEitherRateOrWithoutAPrice(t *testing.T) {
	t.Parallel()
	rate := func(million assay.Money) catalog.Rate { return catalog.Rate{Million: million, Known: true} }
	rates := func(in, out assay.Money) catalog.Schedule {
		return catalog.Schedule{Short: catalog.Rates{Input: rate(in), Output: rate(out)}}
	}
	p := catalog.Price{Live: rates(2, 8), Tiers: map[string]catalog.Schedule{
		"same": rates(2, 8), "input": rates(3, 8), "output": rates(2, 9), "less": rates(1, 4), "unpriced": {},
	}}
	for tier, want := range map[string]bool{"same": false, "input": true, "output": true, "less": false, "unpriced": true} {
		if p.Dearer(tier, "") != want {
			t.Errorf("%s: %v, want %v", tier, !want, want)
		}
		if got := p.Unpriced(tier); got != (tier == "unpriced") {
			t.Errorf("%s has no price: %v", tier, got)
		}
	}
	if p.Unpriced("nobody asks for it") || (catalog.Price{Tiers: p.Tiers}).Unpriced("unpriced") {
		t.Error("a tier is unpriced that nobody can ask for, or whose usual one is")
	}
}
