package studyfile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/studyfile"
)

// TestToolsThatNoProviderTakesAreNamed reads a stage whose tools are wrong in every way.
func TestToolsThatNoProviderTakesAreNamed(t *testing.T) {
	t.Parallel()
	const text = `study: s
inputs: {q: {items: [{id: a, text: one}]}}
lanes: {g: {model: openai/gpt-4.1-mini}}
stages:
  - name: one
    ask: q
    turns: [one, two]
    tools: [{name: get weather}, {name: a}, {name: a}]
    tool_choice: {name: b}
  - {name: two, ask: q, prompt: x, tool_choice: any}
  - {name: three, judge: two, rubric: {rule: {tool: {name: a, none: true}}}}
  - {name: four, judge: two, rubric: {rule: {tool: {none: true, arguments: {x: 1}}}}}
  - {name: five, judge: two, rubric: {rule: {tool: {name: a, whole: true}}}}
  - {name: six, judge: two, rubric: {rule: {tool: {name: a, arguments: {x: "{{ "}}}}}
`
	_, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml", studyfile.Options{})
	var all strings.Builder
	for _, p := range problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{`tool name "get weather"`, "tool a is here a second time", "tools are called in one step, and it has several turns",
		`"b"`, "there are no tools to choose from", "a rule about tools has one of name, none",
		"a call that must not be made has no arguments", "there are no arguments that have to be all"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
}
