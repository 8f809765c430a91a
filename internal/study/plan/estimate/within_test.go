package estimate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/study/plan"
	"assay/internal/study/plan/check"
	"assay/internal/study/plan/estimate"
	"assay/internal/study/studyfile"
)

// texts are 8 items of topic cats, 5 of dogs and one of owls.
func texts() string {
	var b strings.Builder
	b.WriteString("id,text,topic\n")
	for i := range 14 {
		topic := "cats"
		switch {
		case i == 13:
			topic = "owls"
		case i >= 8:
			topic = "dogs"
		}
		fmt.Fprintf(&b, "i%d,text %d,%s\n", i, i, topic)
	}
	return b.String()
}

const withins = "study: s\ninputs: {q: {file: q.csv%s}}\nlanes: {j: {model: openai/gpt-4.1-2025-04-14, max_tokens: 60}}\n" +
	"stages: [{name: arena, compare: q, rubric: better, judges: [j], pairs: %s}]\n"

func TestPairsWithinGroupsArePlanned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input, pairs, text string
		want               int64
		problem            string
	}{
		{pairs: "{within: topic}", want: 28 + 10, problem: "1 group of topic with one item: owls"},
		{input: ", where: 'topic != \"owls\"'", pairs: "{within: topic, sample: 50%}", want: 19,
			problem: "ranks 13 items in 2 groups of topic by 19 pairs: ranks will be rough in cats, dogs (about 26 pairs would do)"},
		{pairs: "{within: topic, sample: 6}", want: 6,
			problem: "cannot rank all items of 2 groups of topic: in cats, dogs, 6 pairs leave items that never meet the others"},
		{pairs: "{within: topic, per_item: 2, order: both}", want: 2 * (8 + 4), problem: "ranks will be rough"},
		{pairs: "{within: topic, reverse: 1}", want: 2 * 38},
		{pairs: "{within: topic}", text: "id,text,topic\na,x,cats\nb,y,\nc,z,cats\n", want: -1, problem: `q.csv:3: stage arena compares within topic, and item "b" has no value of it (give it one, or leave such items out with ` + "`where`)"},
	} {
		if c.text == "" {
			c.text = texts()
		}
		p, problems := estimate.Make(t.Context(),
			desk(t, fmt.Sprintf(withins, c.input, c.pairs), fstest.MapFS{"q.csv": {Data: []byte(c.text)}}), plan.Options{})
		if !strings.Contains(problems.Error(), c.problem) || (c.want < 0) != (len(problems.Errors()) > 0) {
			t.Errorf("%s: got %v, want %s", c.pairs, problems, c.problem)
		}
		if c.want < 0 {
			continue
		}
		if n := p.Parts[0].Requests; n != c.want {
			t.Errorf("%s: %d requests, want %d", c.pairs, n, c.want)
		}
		if !strings.Contains(strings.Join(p.Notes, "\n"), "items of different groups are never ranked against each other") {
			t.Errorf("%s: %v", c.pairs, p.Notes)
		}
	}
	for pairs, want := range map[string]string{
		"{within: topik}": `input q has no field "topik" (did you mean topic?)`,
		"{within: judge}": `within: findings have a field "judge" of their own (rename the column)`,
	} {
		got := check.Study(desk(t, fmt.Sprintf(withins, "", pairs), fstest.MapFS{"q.csv": {Data: []byte(texts())}}), func(string) bool {
			return true
		})
		if !strings.Contains(got.Error(), want) {
			t.Errorf("%s: got %v, want %s", pairs, got, want)
		}
	}
}

func TestWithinIsForItemsThatAreDrawn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		fmt.Sprintf(withins, "", "{within: topic, file: p.csv}"): "a list of pairs says itself what meets",
		"study: s\ninputs: {q: {items: [one]}}\nlanes: {a: {model: openai/gpt-4.1}, j: {model: openai/gpt-4.1}}\nstages:\n" +
			"  - {name: answers, ask: q, prompt: '{{ text }}'}\n  - {name: arena, compare: answers, rubric: better, judges: [j], pairs: " +
			"{within: topic}}\n": "lanes meet on the same item anyway",
	} {
		_, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}, "p.csv": {Data: []byte("a,b\nx,y\n")}}, "s.yaml",
			studyfile.Options{})
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
}
