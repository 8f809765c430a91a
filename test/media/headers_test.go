package media

import (
	"slices"
	"strings"
	"testing"
)

// TestABetaIsAskedForByEachCall sets a header for a provider, and tries to set those that may hold keys.
func TestABetaIsAskedForByEachCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	study := func(header, mode, most string) {
		b.write("study.yaml", []byte(`study: long
budget: 20 USD
canary: false
mode: `+mode+`
providers: {anthropic: {headers: {`+header+`}}}
inputs: {questions: {items: [{id: a}, {id: b}]}}
lanes: {claude: {model: anthropic/claude-sonnet-4-6, max_tokens: `+most+`}}
stages: [{name: answered, ask: questions, prompt: "What is {{ id }}?"}]
`))
	}
	const long = "anthropic-beta: output-300k-2026-03-24"
	study(long, "batch", "300000")
	b.assay([]int{0}, "run", "study.yaml", "--yes")
	if !slices.Contains(b.betas, "POST /anthropic/v1/messages/batches output-300k-2026-03-24") {
		t.Errorf("betas of %v", b.betas)
	}
	for _, c := range []struct{ header, mode, most, want string }{
		{long, "live", "300000", "writes at most 64,000 tokens, not 300,000"},
		{long, "batch", "300001", "writes at most 300,000 tokens, not 300,001"},
		{"anthropic-beta: context-1m-2025-08-07", "batch", "300000", "writes at most 64,000 tokens"},
		{"authorization: Bearer x", "batch", "100", `takes no header "authorization" from a study`},
		{"x-api-key: x", "batch", "100", `takes no header "x-api-key" from a study`},
		{"anthropic-version: x", "batch", "100", `takes no header "anthropic-version" from a study`},
		{"anthropic-beta: sk-ant-api03-secret", "batch", "100", "header anthropic-beta of provider anthropic is no list of betas"},
		{`anthropic-beta: "${HOME}"`, "batch", "100", "header anthropic-beta of provider anthropic is no list of betas"},
	} {
		study(c.header, c.mode, c.most)
		if out := b.assay([]int{2}, "check", "study.yaml"); !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
			t.Errorf("%s, %s, %s: %s", c.header, c.mode, c.most, out)
		}
	}
}
