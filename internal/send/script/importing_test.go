package script_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestAnswersMadeElsewhereAreJudgedComparedAndContinued(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := strings.Repeat("long ", 20_000) // more than a row holds
	run := r.runFiles(fstest.MapFS{
		"s.yaml": {Data: []byte(`study: s
inputs: {q: {items: [{id: "1", text: 2+2, answer: "4"}, {id: "2", text: 3+3, answer: "6"}], expect: {field: answer}}}
canary: false
lane_defaults: {max_tokens: 200}
lanes:
  gpt: {model: openai/gpt-4.1-2025-04-14, temperature: 0}
  j: {model: openai/gpt-4.1-mini-2025-04-14, temperature: 0}
stages:
  - {name: old, import: {file: answers.csv, of: q, cost_usd: price}, prompt: "What is {{ text }}?"}
  - {name: right, judge: old, rubric: contains}
  - {name: arena, compare: old, rubric: better, judges: [j], pairs: all}
  - {name: sure, continue: old, turns: [Are you sure?], lanes: [gpt]}
`)},
		"answers.csv": {Data: []byte("item,lane,text,price\n1,gpt,It is 4,0.001\n2,gpt,5,0.001\n1,other,4,\n2,other," + long + ",\n")},
	})
	got := r.verdicts(run)
	if got["right valid"] != 4 || got["arena valid"]+got["arena malformed"]+got["arena abstained"] != 2 {
		t.Errorf("verdicts %v, want 4 by the rule and 2 comparisons", got)
	}
	texts := map[string]string{}
	said := 0
	for talk, err := range r.planner.Conversations(t.Context(), run, "old") {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range talk.Exchanges {
			texts[talk.Item.ID+" "+e.At.Lane] = e.Answer.Outcome.Text
			if strings.HasPrefix(e.Message, "What is ") {
				said++
			}
		}
	}
	if texts["1 gpt"] != "It is 4" || texts["2 other"] != strings.TrimSpace(long) && texts["2 other"] != long || said != 4 {
		t.Errorf("%d answers to the question, %d bytes of the long one", said, len(texts["2 other"]))
	}
	for a, err := range r.ledger.Reader.Answers(t.Context(), run.No, "sure", "") {
		if err != nil {
			t.Fatal(err)
		}
		built, err := r.planner.Build(t.Context(), run, store.Live, []assay.Coordinates{a.At})
		if err != nil {
			t.Fatal(err)
		}
		if m := built[0].Request.Prompt.Messages; len(m) != 3 || m[1].Text != texts[a.At.Item+" gpt"] {
			t.Errorf("the conversation on item %s does not follow the imported answer: %+v", a.At.Item, m)
		}
	}
}
