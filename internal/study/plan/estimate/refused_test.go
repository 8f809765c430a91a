package estimate_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/plan"
	"assay/internal/study/plan/check"
	"assay/internal/study/plan/estimate"
)

// A run reads every row of every input: what it would refuse is a problem of the plan, whoever uses the input.
func TestRowsThatOnlyAJoinReadsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, want string }{
		"no JSON": {"{\"id\":\"r1\",\"text\":\"be kind\"}\n{\"id\":\n", "rules.jsonl:2"},
		"no id":   {"{\"id\":\"r1\",\"text\":\"be kind\"}\n{\"text\":\"be brief\"}\n", "rules.jsonl:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := desk(t, `study: s
inputs:
  rules: {file: rules.jsonl, id: id}
  q: {items: [{id: a, text: one, rule: r1}], join: [{with: rules, match: rule = id, as: statement}]}
lane_defaults: {max_tokens: 100}
lanes: {g: {model: openai/gpt-4.1-2025-04-14}}
stages:
  - {name: one, ask: q, prompt: "{{ text }} {{ statement.text }}"}
`, fstest.MapFS{"rules.jsonl": {Data: []byte(c.rules)}})
			p, problems := estimate.Make(context.Background(), d, plan.Options{})
			if p != nil || !strings.Contains(problems.Error(), c.want) {
				t.Errorf("a plan: %v, problems: %v", p != nil, problems)
			}
		})
	}
}

const roles = `study: s
inputs: {q: {items: [{id: a, text: one}]}}
lane_defaults: {max_tokens: 100}
lanes:
  g: {model: openai/gpt-4.1-2025-04-14}
  h: {model: openai/gpt-4.1-2025-04-14}
stages:
`

func TestLanesThatDifferByRoleAloneAreNoProblem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stages, want string }{
		"one answers, one judges": {`  - {name: one, ask: q, prompt: "{{ text }}"}
  - {name: ok, judge: one, rubric: stance, judges: [h]}
`, ""},
		"both answer": {`  - {name: one, ask: q, prompt: "{{ text }}"}
`, "s.yaml:6:3: lanes g and h send the same requests (a repeat is `repeats: 2` on the stage)"},
		"both judge": {`  - {name: one, ask: q, prompt: "{{ text }}", lanes: g}
  - {name: ok, judge: one, rubric: stance, judges: [g, h]}
`, "s.yaml:6:3: lanes g and h send the same requests (a repeat is `repeats: 2` on the stage)"},
		"all judge": {`  - {name: one, ask: q, prompt: "{{ text }}"}
  - {name: ok, judge: one, rubric: stance, judges: [g]}
  - {name: again, judge: one, rubric: stance, judges: [h]}
`, "s.yaml:8:5: stage one asks no lane: all of them judge, and such lanes are not asked unless named (`lanes: \"*\"` asks lanes " +
			"that judge, too)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := check.Study(desk(t, roles+c.stages, nil), func(string) bool { return true }).Errors()
			if diff := cmp.Diff(c.want, problems.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhoJudgesAndIsNotAskedIsNamed(t *testing.T) {
	t.Parallel()
	p := must(t, desk(t, roles+`  - {name: one, ask: q, prompt: "{{ text }}"}
  - {name: ok, judge: one, rubric: stance, judges: [h]}
`, nil), plan.Options{})
	want := "stage one asks all lanes but those that judge: h (`lanes: \"*\"` asks them, too)"
	if len(p.Notes) == 0 || p.Notes[0] != want {
		t.Errorf("notes: %q", p.Notes)
	}
}
