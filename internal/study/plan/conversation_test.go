package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/plan"
	"assay/internal/study/studyfile"
)

// reading returns a study with these stages, read.
func reading(t *testing.T, stages string) *plan.Input {
	t.Helper()
	text := `study: s
inputs:
  q: {items: [{id: a, text: one, topic: x}, {id: b, text: two, topic: y}, {id: c, text: three, topic: x}]}
  push: {items: [{id: p1, topic: x, say: no}, {id: p2, topic: x, say: never}, {id: p3, topic: y, say: hm}]}
lane_defaults: {max_tokens: 100}
lanes: {g: {model: openai/gpt-4.1-2025-04-14}}
stages:
` + stages + "\n"
	files := fstest.MapFS{"s.yaml": {Data: []byte(text)}}
	s, problems := studyfile.Read(files, "s.yaml", studyfile.Options{})
	if s == nil || len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	source := inputs.Open(files, s.Specs())
	return &plan.Input{Study: s, Items: source, Rows: source, Catalog: catalog.Default(), Today: "2026-11-15"}
}

// walk lists every request of every step of a stage about one item, with the conversation it would carry.
func walk(t *testing.T, d *plan.Input, stage, item string) []string {
	t.Helper()
	st, ok := d.Study.Stage(stage)
	if !ok {
		t.Fatalf("no stage %s", stage)
	}
	talk, err := d.Conversation(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for it, err := range d.Items.Items(context.Background(), "q") {
		if err != nil {
			t.Fatal(err)
		}
		if it.ID != item {
			continue
		}
		for k := range talk.Steps {
			for draw := range talk.Repeats() {
				for _, w := range talk.Ways(k, it, draw+1) {
					at := talk.At(k, "lane", it.ID, w)
					back, err := plan.ParseWay(at)
					if err != nil || talk.At(k, "lane", it.ID, back) != at {
						t.Fatalf("way %+v does not survive its coordinates %+v: %v", w, at, err)
					}
					var answers []string
					for _, h := range talk.History(k, "lane", it, w) {
						answers = append(answers, short(h))
					}
					p, err := talk.Prompt(k, it, w, answers)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, short(at)+": "+said(p))
				}
			}
		}
	}
	return out
}

func short(at assay.Coordinates) string {
	return fmt.Sprintf("%s.%d[%s]#%d", at.Stage, at.Turn, strings.Trim(at.Template+" "+at.Branch, " "), at.Draw)
}

func said(p assay.Prompt) string {
	var parts []string
	for _, m := range p.Messages {
		parts = append(parts, m.Text)
	}
	return strings.Join(parts, " | ")
}

func TestEveryTurnFollowsTheRealAnswersOfItsOwnBranch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages, stage string
		want          []string
	}{
		"a chain with two control draws": {
			`  - {name: one, ask: q, turns: ["{{ text }}", sure?, really?], control: {say: "again: {{ text }}", draws: 2}}`, "one",
			[]string{
				"one.1[]#1: one",
				"one.2[]#1: one | one.1[]#1 | sure?",
				"one.2[control]#1: one | one.1[]#1 | again: one",
				"one.2[control]#2: one | one.1[]#1 | again: one",
				"one.3[]#1: one | one.1[]#1 | sure? | one.2[]#1 | really?",
				"one.3[control]#1: one | one.1[]#1 | again: one | one.2[control]#1 | again: one",
				"one.3[control]#2: one | one.1[]#1 | again: one | one.2[control]#2 | again: one",
			},
		},
		"branches of branches": {
			`  - {name: one, ask: q, turns: ["{{ text }}", {each: {x/y: no, z: hm}}, why?, {each: {p: p, q: q}}]}`, "one",
			[]string{
				"one.1[]#1: one",
				"one.2[x%2Fy]#1: one | one.1[]#1 | no",
				"one.2[z]#1: one | one.1[]#1 | hm",
				"one.3[x%2Fy]#1: one | one.1[]#1 | no | one.2[x%2Fy]#1 | why?",
				"one.3[z]#1: one | one.1[]#1 | hm | one.2[z]#1 | why?",
				"one.4[x%2Fy/p]#1: one | one.1[]#1 | no | one.2[x%2Fy]#1 | why? | one.3[x%2Fy]#1 | p",
				"one.4[x%2Fy/q]#1: one | one.1[]#1 | no | one.2[x%2Fy]#1 | why? | one.3[x%2Fy]#1 | q",
				"one.4[z/p]#1: one | one.1[]#1 | hm | one.2[z]#1 | why? | one.3[z]#1 | p",
				"one.4[z/q]#1: one | one.1[]#1 | hm | one.2[z]#1 | why? | one.3[z]#1 | q",
			},
		},
		"branches from an input, a control and repeats": {
			`  - {name: one, ask: q, repeats: 2, turns: ["{{ text }}", {each: push, match: topic, say: "{{ branch.say }}!"}], control: {say: hm}}`, "one",
			[]string{
				"one.1[]#1: one", "one.1[]#2: one",
				"one.2[p1]#1: one | one.1[]#1 | no!", "one.2[p2]#1: one | one.1[]#1 | never!", "one.2[control]#1: one | one.1[]#1 | hm",
				"one.2[p1]#2: one | one.1[]#2 | no!", "one.2[p2]#2: one | one.1[]#2 | never!", "one.2[control]#2: one | one.1[]#2 | hm",
			},
		},
		"a continued stage": {
			`  - {name: one, ask: q, prompt: {s: "{{ text }}", l: "please {{ text }}"}}
  - {name: two, continue: one, turns: [sure?, {each: {a: a, b: b}}]}`, "two",
			[]string{
				"two.1[s]#1: one | one.1[s]#1 | sure?", "two.1[l]#1: please one | one.1[l]#1 | sure?",
				"two.2[s a]#1: one | one.1[s]#1 | sure? | two.1[s]#1 | a", "two.2[s b]#1: one | one.1[s]#1 | sure? | two.1[s]#1 | b",
				"two.2[l a]#1: please one | one.1[l]#1 | sure? | two.1[l]#1 | a",
				"two.2[l b]#1: please one | one.1[l]#1 | sure? | two.1[l]#1 | b",
			},
		},
		"a control that is continued stays one": {
			`  - {name: one, ask: q, turns: ["{{ text }}", sure?], control: {say: "again: {{ text }}"}}
  - {name: two, continue: one, turns: [{each: {a: a, b: b}}]}`, "two",
			[]string{
				"two.1[a]#1: one | one.1[]#1 | sure? | one.2[]#1 | a", "two.1[b]#1: one | one.1[]#1 | sure? | one.2[]#1 | b",
				"two.1[control]#1: one | one.1[]#1 | again: one | one.2[control]#1 | again: one",
			},
		},
		"given turns stand where they were written": {
			`  - {name: one, ask: q, turns: [hello, {assistant: hi}, "{{ text }}", bye]}`, "one",
			[]string{"one.1[]#1: hello | hi | one", "one.2[]#1: hello | hi | one | one.1[]#1 | bye"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := walk(t, reading(t, c.stages), c.stage, "a")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
