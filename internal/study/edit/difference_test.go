package edit_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/studyfile"
)

const edited = `study: s
description: first
inputs: {q: {items: [one, two]}}
lane_defaults: {max_tokens: 100}
lanes:
  a: {model: openai/gpt-4.1, temperature: 0}
  b: {model: openai/gpt-4.1-mini, label: B}
  j: {model: openai/gpt-4.1}
rubrics:
  own: {prompt: "Good? {{ answer.text }}", labels: {yes: 1, no: 0}}
  scored: {command: [python3, score.py], labels: [yes, no]}
stages:
  - {name: answers, ask: q, prompt: ask.md, lanes: [a, b]}
  - {name: right, judge: answers, rubric: own, judges: [j]}
  - {name: scored, judge: answers, rubric: scored}
`

func TestTheDifferenceOfTwoStudiesInWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit []string // old, new, old, new, …
		ask  string   // another text of the prompt
		code string   // of the program
		want string   // all that differs
		asks string   // of it, what changes requests
	}{
		"nothing":             {},
		"a comment":           {edit: []string{"study: s\n", "# a comment\nstudy:   s\n"}},
		"keys in other order": {edit: []string{"{name: answers, ask: q, prompt: ask.md", "{ask: q, prompt: ask.md, name: answers"}},
		"another file name":   {edit: []string{"prompt: ask.md", `prompt: "Tell me: {{ text }}"`}},
		"description":         {edit: []string{"description: first", "description: second"}, want: "description (first → second)"},
		"what is analysed": {edit: []string{"stages:", "analyses: [{of: right, by: [lane]}]\n" +
			"require: ['any(finding(\"right\", \"rate\"), .value > 0)']\nstages:"}, want: "analyses, require"},
		"money and time": {edit: []string{"stages:", "budget: 5 USD\ndeadline: {after: 12h}\nstop_if: error_rate > 0.2\nstages:"},
			want: "budget (nothing → $5.00), deadline (nothing → 12h0m0s), stop_if (nothing → 0.2)"},
		"a label": {edit: []string{"label: B", "label: Bee"}, want: "label of lane b (B → Bee)"},
		"caps": {edit: []string{"label: B", "label: B, rate: 2/s, stop_if: error_rate > 0.5"},
			want: "rate of lane b (nothing → 2), stop_if of lane b (nothing → 0.5)"},
		"gold":   {edit: []string{"judges: [j]}", "judges: [j], gold: gold.csv}"}, want: "gold of stage right (nothing → gold.csv)"},
		"a jury": {edit: []string{"judges: [j]}", "judges: [j], jury: majority}"}, want: "jury of stage right (nothing → majority)"},
		"a lane": {edit: []string{"  j: {", "  c: {model: openai/gpt-5}\n  j: {"}, want: "lanes +1 (c)", asks: "lanes +1 (c)"},
		"a lane less and a judge more": {edit: []string{"  b: {model: openai/gpt-4.1-mini, label: B}\n", "", "lanes: [a, b]", "lanes: [a]",
			"judges: [j]", "judges: [j, a]"}, want: "lanes -1 (b), lanes of stage answers -1 (b), judges of stage right +1 (a)",
			asks: "lanes -1 (b), lanes of stage answers -1 (b), judges of stage right +1 (a)"},
		"lanes in other order": {edit: []string{"  j: {model: openai/gpt-4.1}\n", "", "lanes:\n", "lanes:\n  j: {model: openai/gpt-4.1}\n"},
			want: "order of lanes", asks: "order of lanes"},
		"a parameter that was not set": {edit: []string{"gpt-4.1-mini,", "gpt-4.1-mini, temperature: 0,"},
			want: "temperature of lane b (nothing → 0)", asks: "temperature of lane b (nothing → 0)"},
		"a prompt": {ask: "Say: {{ text }}", want: "prompt of stage answers (Tell me: {{ text }} → Say: {{ text }})",
			asks: "prompt of stage answers (Tell me: {{ text }} → Say: {{ text }})"},
		"a program": {code: "print(2)", want: "program score.py", asks: "program score.py"},
		"a rubric": {edit: []string{"Good?", "Is it good?"}, want: "rubric own (Good? {{ answer.text }} → Is it good? {{ answer.text }})",
			asks: "rubric own (Good? {{ answer.text }} → Is it good? {{ answer.text }})"},
		"a stage": {edit: []string{"  - {name: scored, judge: answers, rubric: scored}\n", "  - {name: scored, judge: answers, rubric: " +
			"scored}\n  - {name: more, judge: answers, rubric: contains}\n"}, want: "stages +1 (more)", asks: "stages +1 (more)"},
		"both kinds": {edit: []string{"description: first", "description: second", "stages:", "mode: live\nstages:"},
			want: "description (first → second), mode (nothing → live)", asks: "mode (nothing → live)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := edited
			for i := 0; i < len(c.edit); i += 2 {
				if !strings.Contains(text, c.edit[i]) {
					t.Fatalf("%q is not in the study", c.edit[i])
				}
				text = strings.Replace(text, c.edit[i], c.edit[i+1], 1)
			}
			was, is := readEdited(t, edited, "", ""), readEdited(t, text, c.ask, c.code)
			got := edit.Compare(was, is)
			if strings.HasPrefix(name, "a program") {
				got[0].Was, got[0].Is = "", "" // digests
			}
			if d := cmp.Diff([]string{c.want, c.asks}, []string{got.String(), got.Asks().String()}); d != "" {
				t.Errorf("difference (-want +got):\n%s", d)
			}
		})
	}
}

// The part of a study that a change is about is a fact of its own: a name may be any words.
func TestAChangeNamesItsPartWhateverThePartIsCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"use of wit", "use of stage directions", "order of items of input q"} {
		read := func(description string) *study.Study {
			return readEdited(t, edited+"  - {name: better, compare: answers, rubric: better_sample, trait: ["+name+"], judges: [j]}\n"+
				"traits: {"+name+": {name: n, description: "+description+"}}\n", "", "")
		}
		was, is := read("one thing"), read("another thing")
		got := edit.Compare(was, is)
		want := edit.Difference{{Section: edit.Traits, Name: name, Was: "one thing", Is: "another thing", Asks: true}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("difference (-want +got):\n%s", d)
		}
		better, _ := is.Stage("better")
		right, _ := is.Stage("right")
		if !got.Rereads(is, better) || got.Rereads(is, right) || got.Grows(was, is) {
			t.Errorf("an edit of trait %q", name)
		}
	}
}

func readEdited(t *testing.T, text, ask, code string) *study.Study {
	t.Helper()
	if ask == "" {
		ask = "Tell me: {{ text }}"
	}
	folder := fstest.MapFS{"s.yaml": {Data: []byte(text)}, "ask.md": {Data: []byte(ask)}, "score.py": {Data: []byte("print(1)" + code)}}
	s, problems := studyfile.Read(folder, "s.yaml", studyfile.Options{})
	if s == nil || len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return s
}

func TestAStudyThatOnlyAddsGrows(t *testing.T) {
	t.Parallel()
	const compares = "  - {name: better, compare: answers, rubric: better, judges: [j]}\n"
	const when = "  - {name: more, ask: q, prompt: Again, lanes: [a], when: 'any(finding(\"right\", \"rate\"), .value > 0)'}\n"
	const end = "  - {name: nice, judge: answers, rubric: {prompt: Nice?, labels: [yes, no]}, judges: [j]}\n"
	lane := []string{"  j: {", "  c: {model: openai/gpt-5}\n  j: {", "lanes: [a, b]", "lanes: [a, b, c]"}
	repeats := []string{"lanes: [a, b]}", "lanes: [a, b], repeats: 3}"}
	stage := []string{"stages:", "stages:\n  - {name: extra, judge: answers, rubric: {prompt: Nice?, labels: [yes, no]}, judges: [j]}"}
	judged := []string{"judges: [j]", "judges: [j, a]"}
	for name, c := range map[string]struct {
		more string // stages of both studies, besides
		edit []string
		want bool
	}{
		"nothing":                    {},
		"a description":              {edit: []string{"description: first", "description: second"}},
		"a lane":                     {edit: lane, want: true},
		"draws":                      {edit: repeats, want: true},
		"a stage":                    {edit: stage, want: true},
		"a judge":                    {edit: judged, want: true},
		"all of it":                  {edit: slices.Concat(lane, stage, judged), want: true},
		"a lane, and another prompt": {edit: append(slices.Clone(lane), "prompt: ask.md", "prompt: Otherwise")},
		"a lane less": {edit: []string{"  b: {model: openai/gpt-4.1-mini, label: B}\n", "", "lanes: [a, b]",
			"lanes: [a]"}},
		"a lane that is compared":   {more: compares, edit: lane, want: true},
		"draws that are compared":   {more: compares, edit: repeats, want: true},
		"a judge of comparisons":    {more: compares, edit: judged, want: true},
		"a lane under a condition":  {more: when, edit: lane},
		"a judge under a condition": {more: when, edit: judged},
		"a stage under a condition": {more: when, edit: stage, want: true},
		"a judge at the end, under a condition": {more: when + end,
			edit: []string{"labels: [yes, no]}, judges: [j]}", "labels: [yes, no]}, judges: [j, b]}"}, want: true},
		"a new judge at the end, too": {more: when + end, edit: []string{"labels: [yes, no]}, judges: [j]}",
			"labels: [yes, no]}, judges: [j, n]}", "  j: {", "  n: {model: openai/gpt-5}\n  j: {"}, want: true},
		"a judge of both": {more: when + end,
			edit: append([]string{"labels: [yes, no]}, judges: [j]}", "labels: [yes, no]}, judges: [j, b]}"}, judged...)},
		"a judge at the end that a condition reads": {more: when + end +
			"  - {name: rest, ask: q, prompt: Rest, lanes: [a], when: 'any(finding(\"nice\", \"rate\"), .value > 0)'}\n",
			edit: []string{"labels: [yes, no]}, judges: [j]}", "labels: [yes, no]}, judges: [j, b]}"}},
		"fewer draws": {edit: []string{"lanes: [a, b]}", "lanes: [a, b], repeats: 1}"}},
		"a rubric that was built in": {more: "  - {name: flat, judge: answers, rubric: stance, judges: [j]}\n",
			edit: []string{"rubrics:", "rubrics:\n  stance: {prompt: Which?, labels: [yes, no]}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := edited + c.more
			for i := 0; i < len(c.edit); i += 2 {
				if !strings.Contains(text, c.edit[i]) {
					t.Fatalf("%q is not in the study", c.edit[i])
				}
				text = strings.Replace(text, c.edit[i], c.edit[i+1], 1)
			}
			was, is := readEdited(t, edited+c.more, "", ""), readEdited(t, text, "", "")
			if d := edit.Compare(was, is); d.Grows(was, is) != c.want {
				t.Errorf("grows: %t, want %t: %s", !c.want, c.want, d)
			}
		})
	}
}

// A byte that only an exact prompt sends is a change there, and none elsewhere.
func TestTheLastNewlineOfAnExactPromptCounts(t *testing.T) {
	t.Parallel()
	for wrap, want := range map[string]string{"on": "", "off": "prompt of stage right"} {
		text := "study: s\ninputs: {q: {items: [one]}}\nlanes: {a: {model: openai/gpt-4.1}, j: {model: openai/gpt-4.1}}\nstages:\n" +
			"  - {name: answers, ask: q, prompt: '{{ text }}', lanes: [a]}\n" +
			"  - {name: right, judge: answers, rubric: {prompt: judge.md, labels: [x, y]}, judges: [j], wrap: " + wrap + "}\n"
		read := func(prompt string) *study.Study {
			s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}, "judge.md": {Data: []byte(prompt)}}, "s.yaml",
				studyfile.Options{})
			if len(problems.Errors()) > 0 {
				t.Fatal(problems)
			}
			return s
		}
		if got := edit.Compare(read("{{ answer.text }}"), read("{{ answer.text }}\n")).Asks().String(); !strings.HasPrefix(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("wrap %s: %q, want %q", wrap, got, want)
		}
	}
}
