package estimate_test

import (
	"testing"

	"assay/internal/study/plan"
)

func TestVerdictsArePricedByTheirForm(t *testing.T) {
	t.Parallel()
	p := must(t, desk(t, `study: s
inputs: {q: {items: [{id: a, text: one}, {id: b, text: two}]}}
lane_defaults: {max_tokens: 500, temperature: 0}
lanes: {a: {model: openai/gpt-4.1-2025-04-14}, j: {model: openai/gpt-4.1-mini-2025-04-14}}
stages:
  - {name: answers, ask: q, prompt: "{{ text }}", lanes: [a]}
  - {name: good, judge: answers, rubric: stance, judges: [j]}
  - {name: more, ask: q, prompt: "More: {{ text }}", lanes: [a], when: 'any(finding("good", "mean"), .low > 0.5)'}
  - {name: second, judge: more, rubric: stance, judges: [j]}
`, nil), plan.Options{})
	for _, q := range p.Parts {
		switch q.Stage {
		case "good":
			if q.Output.Expected >= 200*q.Requests || q.Output.High != 500*q.Requests || q.Cost.Low.Sum == 0 {
				t.Errorf("verdicts write %+v, for %+v", q.Output, q.Cost)
			}
		case "second":
			if q.Cost.Low.Sum != 0 || q.Output.Low != 0 || q.Cost.High.Sum == 0 {
				t.Errorf("behind a gate that may stay closed: %+v", q.Cost)
			}
		}
	}
}
