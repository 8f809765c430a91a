package estimate_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/study/plan"
	"assay/internal/study/tokens"
)

// What comes late is unlike what comes first, and there are two ways to ask: a sample would miss both.
func TestTokensOfAllKnownRequestsAreCounted(t *testing.T) {
	t.Parallel()
	counter := tokens.NewCounter()
	plans := func(items int) (*plan.Plan, int64) {
		var rows strings.Builder
		count := 0
		for i := range items {
			text := fmt.Sprintf("Question %d, in plain words and at some length?", i)
			if i >= 64 {
				text = strings.Repeat("问题是什么", 1+i%7)
			}
			fmt.Fprintf(&rows, "{id: i%d, text: %q}, ", i, text)
			count += counter.Count(text) + counter.Count(strings.Repeat("Say it shortly. ", 5)+text)
		}
		p := must(t, desk(t, fmt.Sprintf(`study: s
inputs: {q: {items: [%s]}}
lane_defaults: {max_tokens: 500, temperature: 0}
lanes: {a: {model: openai/gpt-4.1-2025-04-14}}
stages:
  - {name: answers, ask: q, prompt: {plain: "{{ text }}", short: "%s{{ text }}"}}
`, rows.String(), strings.Repeat("Say it shortly. ", 5)), nil), plan.Options{})
		return p, int64(count)
	}
	p, want := plans(200)
	if got := p.Parts[0].Input.Expected; p.Sampled || got < want-1 || got > want+1 {
		t.Errorf("%d tokens are planned, there are %d (sampled: %t)", got, want, p.Sampled)
	}
	if p, _ := plans(5_100); !p.Sampled {
		t.Error("10,200 prompts are said to be counted")
	}
}
