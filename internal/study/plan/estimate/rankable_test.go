package estimate_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

func TestPairsThatCannotRankAreWarnedOfWithTheNumberThatWouldDo(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf("{id: i%d, text: text %d}", i, i))
	}
	text := "study: s\ninputs: {q: {items: [" + strings.Join(items, ", ") +
		"]}}\nlanes: {j: {model: openai/gpt-4.1-2025-04-14, max_tokens: 60}}\n" +
		"stages: [{name: arena, compare: q, rubric: better, judges: [j], pairs: %s}]\n"
	for pairs, want := range map[string]struct {
		n    int64
		warn string
	}{
		"all":           {190, ""},
		"{sample: 60}":  {60, ""},
		"{sample: 59}":  {59, "ranks 20 items by 59 pairs: ranks will be rough"},
		"{sample: 10}":  {10, "cannot rank all of its 20 items: its 10 pairs leave them in 10 groups that never meet"},
		"{sample: 190}": {190, ""},
		"{sample: 500}": {190, "stage arena: a sample of 500 is more than the 190 pairs there are, which are all asked (say pairs: all)"},
		"{sample: 20%}": {38, "ranks 20 items by 38 pairs"},
		"{sample: 50%, reverse: 30%, order: as-listed}": {95 + 28, ""}, // 28.5 is rounded to the even number
		"{sample: 50%, reverse: 0.4}":                   {133, ""},
	} {
		p, problems := estimate.Make(t.Context(), desk(t, fmt.Sprintf(text, pairs), nil), plan.Options{})
		if len(problems.Errors()) > 0 {
			t.Fatal(problems)
		}
		n := int64(0)
		for _, part := range p.Parts {
			n += part.Requests
		}
		if n != want.n {
			t.Errorf("%s: %d requests, want %d", pairs, n, want.n)
		}
		said := problems.Warnings().Error()
		if want.warn == "" && strings.Contains(said, "rank") || !strings.Contains(said, want.warn) {
			t.Errorf("%s: %s, want %q", pairs, said, want.warn)
		}
		if strings.Contains(want.warn, "rank") && !strings.Contains(said, "about 60 pairs would do") {
			t.Errorf("%s: %s does not say what would do", pairs, said)
		}
	}
}
