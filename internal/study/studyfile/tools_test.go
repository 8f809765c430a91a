package studyfile_test

import (
	"fmt"
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
  - {name: seven, judge: one, rubric: {rule: {tool: {name: c}}}}
  - {name: eight, judge: two, rubric: {rule: {tool: {name: d}}}}
`
	_, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml", studyfile.Options{})
	var all strings.Builder
	for _, p := range problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{`tool name "get weather"`, "tool a is here a second time", "tools are called in one step, and it has several turns",
		`"b"`, "there are no tools to choose from", "a rule about tools has one of name, none",
		"a call that must not be made has no arguments", "there are no arguments that have to be all",
		`s.yaml:15:54: no tool of the judged stage is called "c"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	if strings.Contains(all.String(), `called "d"`) {
		t.Errorf("answers without tools may be calls from elsewhere:\n%s", all.String())
	}
}

// TestServerToolsOfALaneAreRead reads them in their forms, in a grid with none, and in none of their forms.
func TestServerToolsOfALaneAreRead(t *testing.T) {
	t.Parallel()
	const text = `study: s
inputs: {q: {items: [{id: a, text: one}]}}
lane_defaults: {model: openai/gpt-5-mini}
lanes:
  a: {server_tools: {web_search: {max_uses: 3}}}
  b: {server_tools: {web_search: true}}
  c: {variants: {bare: {}, net: {server_tools: {web_search: {}}}}}
  d: {server_tools: [null, {web_search: true}], effort: low}
  e: {server_tools: {web_search: {max_uses: 0}}}
  f: {server_tools: [web_search]}
  g: {server_tools: {websearch: true}}
  h: {server_tools: {web_search: 3}}
stages: [{name: one, ask: q, prompt: x}]
`
	s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml", studyfile.Options{})
	var all strings.Builder
	for _, p := range problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{"s.yaml:9:35: max_uses: want at least 1, got 0 (leave it out",
		"s.yaml:10:22: want a map of tools, such as {web_search: {max_uses: 3}}, got the text \"web_search\"",
		"unknown key \"websearch\" (did you mean web_search?)", "s.yaml:12:34: want a map such as {max_uses: 3}, or true, got 3"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	var got []string
	for _, l := range s.Lanes {
		if w := l.Params.ServerTools.WebSearch; w != nil && l.Group < "e" {
			got = append(got, fmt.Sprint(l.Group, w.MaxUses))
		}
	}
	if strings.Join(got, " ") != "a3 b0 c0 d0" {
		t.Errorf("%q", got)
	}
}
