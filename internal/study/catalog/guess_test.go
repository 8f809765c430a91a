package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

func TestOutputIsGuessedFromLimitEffortAndBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vendor string
		lane         assay.Lane
		want         [3]int
	}{
		{"plain", "openai", lane("gpt-4.1", maxTokens(6000)), [3]int{40, 125, 6000}},
		{"plain under a small limit", "openai", lane("gpt-4.1", maxTokens(64)), [3]int{40, 64, 64}},
		{"plain without a limit", "openai", lane("gpt-4.1"), [3]int{40, 125, 32768}},
		{"a form to fill in", "openai", lane("gpt-4.1", maxTokens(1000), schema), [3]int{30, 100, 1000}},
		{"medium is the default", "openai", lane("gpt-5", maxTokens(36000)), [3]int{190, 625, 36000}},
		{"minimal", "openai", lane("gpt-5", effort("minimal"), maxTokens(36000)), [3]int{55, 175, 36000}},
		{"high", "openai", lane("gpt-5", effort("high"), maxTokens(36000)), [3]int{415, 1375, 36000}},
		{"never over the limit", "openai", lane("gpt-5-pro", maxTokens(600)), [3]int{600, 600, 600}},
		{"reasoning switched off", "openai", lane("gpt-5.1", effort("none"), maxTokens(36000)), [3]int{40, 125, 36000}},
		{"a budget", "anthropic", lane("claude-sonnet-4-5", budget(32000), maxTokens(38000)), [3]int{4840, 16125, 38000}},
		{"no thinking", "anthropic", lane("claude-sonnet-4-5", maxTokens(6000)), [3]int{40, 125, 6000}},
		{"the limit that is filled in", "anthropic", lane("claude-sonnet-4-5"), [3]int{40, 125, 8192}},
		{"a level", "gemini", lane("gemini-3.6-flash", level("low"), maxTokens(10000)), [3]int{76, 245, 10000}},
		{"nothing is known", "vllm", lane("m"), [3]int{40, 125, 16000}},
	} {
		low, expected, high := catalog.Default().OutputGuess(c.lane, c.vendor)
		if d := cmp.Diff(c.want, [3]int{low, expected, high}); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestTokensOfOtherFamiliesAreMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vendor, model string
		want          float64
	}{
		{"openai", "gpt-5", 1}, {"openai", "gpt-4-turbo", 1}, {"azure", "gpt-4o", 1}, {"groq", "gpt-oss-120b", 1},
		{"anthropic", "claude-sonnet-4-5", 1.2}, {"anthropic", "claude-opus-5", 1.4}, {"gemini", "gemini-2.5-pro", 1.1},
		{"nosuch", "m", 1},
	} {
		if got := catalog.Default().TokenFactor(c.vendor, c.model); got != c.want {
			t.Errorf("%s/%s: %v, want %v", c.vendor, c.model, got, c.want)
		}
		if got := catalog.Default().CountsTokens(c.vendor, c.model); got != (c.want == 1 && c.vendor != "nosuch") {
			t.Errorf("%s/%s: counts by o200k: %t", c.vendor, c.model, got)
		}
	}
}
