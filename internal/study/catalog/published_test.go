package catalog_test

import (
	"fmt"
	"testing"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

func TestCostsAreThosePublishedForTheSameTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model         string
		in, out       float64 // dollars for a million tokens
		input, output int64
		published     string
	}{
		{"claude-haiku-3-5", 0.80, 4, 198941, 92531, "0.53"},
		{"claude-sonnet-4-5", 3, 15, 426153, 261669, "5.20"},
		{"gemini-2-5-flash-lite", 0.10, 0.40, 796640, 510841, "0.28"},
		{"gemini-2-5-flash", 0.30, 2.50, 796133, 469789, "1.41"},
		{"gpt-5-nano", 0.05, 0.40, 491442, 1481199, "0.62"},
		{"gpt-5-mini", 0.25, 2, 735314, 964345, "2.11"},
		{"grok-4-fast-non-reasoning", 0.20, 0.50, 638707, 307485, "0.28"},
	} {
		rate := func(d float64) catalog.Rate { return catalog.Rate{Million: assay.Dollars(d), Known: true} }
		rates := catalog.Rates{Input: rate(c.in), Output: rate(c.out)}
		p := catalog.Price{Live: catalog.Schedule{Short: rates, Long: rates}}
		cost := p.Bill(assay.Usage{Known: true, Input: c.input, Output: c.output}, catalog.Billing{Mode: assay.ModeLive})
		if got := fmt.Sprintf("%.2f", cost.Sum.Float()); got != c.published || !cost.Known() {
			t.Errorf("%s: $%s, published $%s", c.model, got, c.published)
		}
	}
}
