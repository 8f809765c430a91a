package estimate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/assay"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

func TestWhatHasNoTextIsNotShownToAJudge(t *testing.T) {
	t.Parallel()
	const compared = `study: s
inputs: {samples: {file: e.csv, id: student%s}}
lane_defaults: {max_tokens: 100}
lanes: {j: {model: openai/gpt-4.1-2025-04-14}}
stages: [{name: pairs, compare: samples, rubric: better_sample, trait: overall_quality, pairs: all, judges: [j]%s}]
`
	const judged = `study: s
inputs:
  spec: {file: spec.jsonl}
  asked: {file: asked.jsonl, join: {with: spec, match: about = id, as: statement}}
lane_defaults: {max_tokens: 100}
lanes: {a: {model: openai/gpt-4.1-2025-04-14}, j: {model: openai/gpt-4.1-mini-2025-04-14}}
stages:
  - {name: answers, ask: asked, prompt: "{{ text }}", lanes: [a]}
  - {name: kept, judge: answers, rubric: compliance, judges: [j]}
`
	fill := func(input, stage string) string {
		return strings.Replace(strings.Replace(compared, "%s", input, 1), "%s", stage, 1)
	}
	essays := func(header, second string) fstest.MapFS {
		return fstest.MapFS{"e.csv": {Data: []byte("student," + header + "\nann,Hello there\nbob," + second + "\n")}}
	}
	spec := func(text string) fstest.MapFS {
		return fstest.MapFS{"spec.jsonl": {Data: []byte(`{"id":"s1","type":"rule"` + text + `}` + "\n")},
			"asked.jsonl": {Data: []byte(`{"id":"q","about":"s1","text":"Hi"}` + "\n")}}
	}
	ruleless := strings.Replace(judged, ", join: {with: spec, match: about = id, as: statement}", "", 1)
	for name, tt := range map[string]struct {
		study string
		files fstest.MapFS
		want  string // of the problem; empty: none
		hint  string
	}{
		"no field text": {fill("", ""), essays("essay", "Good day"),
			"compares the field `text` of the items of input samples, and item \"ann\" has none", "text: essay"},
		"the field is named":        {fill(", text: essay", ""), essays("essay", "Good day"), "", ""},
		"an empty text":             {fill("", ""), essays("text", " "), `item "bob" has an empty text`, "leave such items out"},
		"an empty text is left out": {fill("", `, where: 'trim(text) != ""'`), essays("text", " "), "", ""},
		"people compared": {strings.Replace(fill("", ""), "judges: [j]", `judges: ["human:ann"]`, 1),
			essays("text", " "), "", ""},
		"a statement without text": {judged, spec(""), `the statement of item "q" has no text`, "a field text"},
		"a statement of blanks":    {judged, spec(`,"text":" "`), `the statement of item "q" has no text`, "a field text"},
		"a statement that is null": {judged, spec(`,"text":null`), `the statement of item "q" has no text`, "a field text"},
		"no statement": {ruleless, spec(""),
			`stage kept holds answers against a rule, and item "q" has none`, "join the specification"},
		"no statement, for people":   {strings.Replace(ruleless, "judges: [j]", `judges: ["human:ann"]`, 1), spec(""), "", ""},
		"a statement that has words": {judged, spec(`,"text":"Be kind."`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := estimate.Make(t.Context(), desk(t, tt.study, tt.files), plan.Options{})
			wrong := problems.Errors()
			if tt.want == "" {
				if len(wrong) > 0 {
					t.Error(wrong)
				}
				return
			}
			if len(wrong) != 1 || !strings.Contains(wrong[0].What, tt.want) || !strings.Contains(wrong[0].Hint, tt.hint) ||
				wrong[0].Place.File == "" {
				t.Errorf("%v", wrong)
			}
		})
	}
}

func TestAnItemWithoutTextIsNeverSpelledOut(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, "", " \n", []any{"a"}, map[string]any{"a": 1}} {
		if text, err := plan.ComparedText(assay.Item{ID: "x", Fields: map[string]any{"text": v}}); err == nil {
			t.Errorf("%v is shown as %q", v, text)
		}
	}
	if text, err := plan.ComparedText(assay.Item{ID: "x", Fields: map[string]any{"text": int64(7)}}); err != nil || text != "7" {
		t.Error(text, err)
	}
}
