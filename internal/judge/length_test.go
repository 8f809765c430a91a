package judge_test

import (
	"encoding/json"
	"testing"

	"assay/internal/judge"
)

func TestTheLengthOfAVerdictFollowsItsForm(t *testing.T) {
	t.Parallel()
	own := func(schema string) judge.Rubric {
		return judge.Rubric{Form: judge.FormJSON, Prompts: []judge.Prompt{{Text: "Good?"}}, Label: "label", Schema: json.RawMessage(schema)}
	}
	bare := own("")
	bare.Schema, bare.Labels = nil, []judge.Label{{Name: "yes"}, {Name: "no"}}
	sure := bare
	sure.Confidence = "confidence"
	argued := sure
	argued.Explanation = "why"
	for i, c := range []struct {
		shorter, longer judge.Rubric
	}{
		{bare, sure}, {sure, argued},
		{own(`{"type":"object","properties":{"label":{"enum":["a","b"]}}}`),
			own(`{"type":"object","properties":{"label":{"enum":["a","b"]},"why":{"type":"string"}}}`)},
		{own(`{"type":"object","properties":{"why":{"type":"string"}}}`),
			own(`{"type":"object","properties":{"points":{"type":"array","items":{"type":"string"}}}}`)},
		{judge.Rubric{Form: judge.FormTag, Prompts: []judge.Prompt{{Text: "This line and nothing else."}}},
			judge.Rubric{Form: judge.FormTag, Prompts: []judge.Prompt{{Text: "Argue first."}}}},
	} {
		a, b := c.shorter.Length(), c.longer.Length()
		if a.Expected <= 0 || a.Low > a.Expected || b.Low > b.Expected || a.Expected >= b.Expected {
			t.Errorf("case %d: %+v is not shorter than %+v", i, a, b)
		}
	}
	unknown := judge.Length{Low: 12, Expected: 72} // the object with one field, and some words beside it
	for _, schema := range []string{`{"type":"object"}`, `{"type":"object","properties":[]}`} {
		if l := own(schema).Length(); l != unknown {
			t.Errorf("by the schema %s, which names no field, verdicts have %+v, want %+v", schema, l, unknown)
		}
	}
	if l := builtin(t, "contains").Length(); l != (judge.Length{}) {
		t.Errorf("a rule writes %+v", l)
	}
	for _, name := range []string{"compliance", "correct", "likert", "flip", "stance", "better"} {
		if l := builtin(t, name).Length(); l.Expected < 40 || l.Expected > 150 || l.Low < 10 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
