package estimate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

const lists = `study: s
inputs: {q: {items: [{id: s1, text: one}, {id: s2, text: two}, {id: s3, text: three}, {id: s4, text: four}]}}
lanes: {a: {model: openai/gpt-4.1-2025-04-14, max_tokens: 60}, b: {model: openai/gpt-4.1-mini-2025-04-14, max_tokens: 60}, c: {model: openai/gpt-4.1-nano-2025-04-14, max_tokens: 60}, j: {model: openai/gpt-4.1-2025-04-14, max_tokens: 50}}
stages:
  - {name: answers, ask: q, prompt: {x: "{{ text }}", y: "Say: {{ text }}"}, lanes: [a, b, c]%s}
  - {name: arena, compare: %s, rubric: better, judges: [j], pairs: %s}
`

func TestAListOfPairsIsPlanned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		more, compared, pairs, text string
		o                           plan.Options
		want                        int64
		problem                     string
	}{
		{compared: "q", pairs: "{file: p.csv}", text: "first,second\ns1,s2\ns3,s1\ns4,s1\n", want: 3},
		{compared: "q", pairs: "{file: p.csv, order: both}", text: "first,second\ns1,s2\ns3,s1\n", want: 4,
			problem: "leave them in 2 groups that never meet"},
		{compared: "q", pairs: "{file: p.csv}", text: "first,second\ns1,s2\ns3,s1\ns4,s1\n", o: plan.Options{Limit: 3}, want: 2},
		{compared: "answers", pairs: "{file: p.csv}", text: "first,second\na,b\nb,c\n", want: 2 * 4 * 2},
		{compared: "answers", pairs: "{file: p.csv}", text: "item,first,second\ns1,a,b\ns1,b,c\ns4,c,a\n", want: 3 * 2},
		{compared: "answers", pairs: "{file: p.csv, reverse: 1}", text: "item,first,second\ns1,a,b\ns1,b,c\ns4,c,a\n", want: 2 * 3 * 2},
		{more: ", where: 'id != \"s4\"'", compared: "answers", pairs: "{file: p.csv}",
			text: "item,first,second\ns1,a,b\ns4,c,a\n", want: 2},
		{compared: "answers", pairs: "{file: p.csv}", text: "item,first,second\ns1,a,b\ns1,b,c\n",
			o: plan.Options{Lanes: []string{"a", "b", "j"}}, want: 2},

		{compared: "q", pairs: "{file: p.csv}", text: "first,second\ns1,s2\ns1,s22\n", want: -1,
			problem: `p.csv:3: stage arena: no item of input q is called "s22" (did you mean s2?)`},
		{compared: "q", pairs: "{file: p.csv}", text: "first,second\ns1,zoology\n", want: -1,
			problem: `p.csv:2: stage arena: no item of input q is called "zoology" (there are s1, s2, s3, s4)`},
		{compared: "answers", pairs: "{file: p.csv}", text: "first,second\na,zoology\n", want: -1,
			problem: `p.csv:2: stage arena: no lane of stage answers is called "zoology" (there are a, b, c)`},
		{compared: "answers", pairs: "{file: p.csv}", text: "first,second\na,j\n", want: -1,
			problem: `no lane of stage answers is called "j"`},
		{compared: "answers", pairs: "{file: p.csv}", text: "item,first,second\ns7,a,b\n", want: -1,
			problem: `p.csv:2: stage arena: no item of input q is called "s7"`},
	} {
		in := desk(t, fmt.Sprintf(lists, c.more, c.compared, c.pairs), fstest.MapFS{"p.csv": {Data: []byte(c.text)}})
		p, problems := estimate.Make(t.Context(), in, c.o)
		if !strings.Contains(problems.Error(), c.problem) || c.want < 0 && len(problems.Errors()) == 0 {
			t.Errorf("%s %q: got %v, want %s", c.pairs, c.text, problems, c.problem)
		}
		if c.want < 0 {
			continue
		}
		if len(problems.Errors()) > 0 {
			t.Errorf("%s %q: %v", c.pairs, c.text, problems)
			continue
		}
		n := int64(0)
		for _, part := range p.Parts {
			if part.Stage == "arena" {
				n += part.Requests
			}
		}
		if n != c.want {
			t.Errorf("%s %s %q: %d requests, want %d", c.compared, c.pairs, c.text, n, c.want)
		}
	}
}
