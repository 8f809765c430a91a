package judge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/judge"
)

var asks = []judge.Prompt{{Text: "{{ answer.text }}"}}

func TestOwnRubricsAreReadByTheirLabelsOrTheirSchema(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"reason":{"type":"string"},"grade":{"type":"string","enum":["pass","fail","unsure"]},"points":{"type":"integer","minimum":0,"maximum":10}}}`
	labels := []judge.Label{{Name: "right", Score: ptr(1)}, {Name: "wrong", Score: ptr(0)}}
	for _, c := range []struct {
		own    judge.Own
		answer string // the schema to send
		corpus corpus
	}{
		{
			judge.Own{Name: "labels", Prompts: asks, Labels: labels},
			`{"type":"object","properties":{"label":{"type":"string","enum":["right","wrong"]}},"required":["label"],"additionalProperties":false}`,
			corpus{{`{"label": "RIGHT", "explanation": "x"}`, "right 1"}, {"Label: wrong", "wrong 0"},
				{`{"label": "partly"}`, "malformed"}},
		},
		{
			judge.Own{Name: "schema", Prompts: asks, Schema: []byte(schema), Label: "grade", Score: "points"},
			schema,
			corpus{
				{`{"reason": "r", "grade": "pass", "points": 9}`, "pass 9"}, {`{"grade": "fail"}`, "fail"},
				{`{"grade": "unsure", "points": 3}`, "abstained"}, {`{"grade": "great", "points": 9}`, "malformed"},
				{`{"grade": "pass", "points": 11}`, "malformed"}, {`{"grade": "pass", "points": 1.5}`, "malformed"},
				{`{"points": 4}`, "malformed"},
			},
		},
		{
			judge.Own{Name: "score", Prompts: asks, Schema: []byte(`{"properties":{"score":{"type":"number"}}}`)},
			`{"properties":{"score":{"type":"number"}}}`,
			corpus{{`{"score": -2.5}`, " -2.5"}, {"0.5", " 0.5"}, {`{"score": "x"}`, "malformed"}},
		},
		{
			judge.Own{Name: "free", Prompts: asks, Schema: []byte(`{"properties":{"label":{"type":"string"}}}`)},
			`{"properties":{"label":{"type":"string"}}}`,
			corpus{{`{"label": " Anything "}`, "Anything"}, {`{"label": ""}`, "malformed"}, {"Label: in prose", "malformed"},
				{`{"label": "x"} {"label": "y"}`, "malformed"}},
		},
		{
			judge.Own{Name: "numbers", Prompts: asks, Labels: []judge.Label{{Name: "1", Score: ptr(1)}, {Name: "2", Score: ptr(2)}}},
			`{"type":"object","properties":{"label":{"type":"string","enum":["1","2"]}},"required":["label"],"additionalProperties":false}`,
			corpus{{`{"label": 2}`, "2 2"}, {`{"label": "1"}`, "1 1"}, {"2", "2 2"}},
		},
		{
			judge.Own{Name: "pairs", Kind: judge.Pairs, Prompts: asks},
			`{"type":"object","properties":{"label":{"type":"string","enum":["A","B","equal","N/A","unsure"]}},"required":["label"],"additionalProperties":false}`,
			corpus{{`{"label": "A"}`, "a 1"}, {"Label: equal", "tie 0.5"}, {"unsure", "abstained"}},
		},
		{
			judge.Own{Name: "sides", Kind: judge.Pairs, Prompts: asks, Labels: []judge.Label{{Name: "first", Score: ptr(1)},
				{Name: "second", Score: ptr(-1)}, {Name: "draw", Score: ptr(0)}, {Name: "n/a", Score: ptr(0)}}},
			`{"type":"object","properties":{"label":{"type":"string","enum":["first","second","draw","n/a"]}},"required":["label"],"additionalProperties":false}`,
			corpus{{`{"label": "second"}`, "b 0"}, {`{"label": "first"}`, "a 1"}, {`{"label": "draw"}`, "tie 0.5"},
				{`{"label": "n/a"}`, "abstained"}},
		},
	} {
		r, err := judge.New(c.own)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.answer, string(r.Answer())); diff != "" {
			t.Errorf("%s: %s", r.Name, diff)
		}
		c.corpus.check(t, r)
	}
	if labels[0].Abstain || labels[0].Word != "" {
		t.Error("the study's labels were changed")
	}
}

func TestOwnRubricsThatSayNothingAreRefused(t *testing.T) {
	t.Parallel()
	name := func(names ...string) (labels []judge.Label) {
		for _, n := range names {
			labels = append(labels, judge.Label{Name: n})
		}
		return labels
	}
	for want, own := range map[string]judge.Own{
		"nothing says what a verdict is":             {Prompts: asks},
		"read the answer schema":                     {Prompts: asks, Schema: []byte("{")},
		"cannot be told apart":                       {Prompts: asks, Labels: name("not ok", "not_ok")},
		"has no letters":                             {Prompts: asks, Labels: name("right", "--")},
		"the labels of a comparison are A and B":     {Kind: judge.Pairs, Prompts: asks, Labels: name("A", "B", "great")},
		`label "first": the labels of a comparison`:  {Kind: judge.Pairs, Prompts: asks, Labels: name("A", "B", "first")},
		"the labels [a tie] leave no way to say A o": {Kind: judge.Pairs, Prompts: asks, Labels: name("A", "tie")},
	} {
		own.Name = "mine"
		if _, err := judge.New(own); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "rubric mine: ") {
			t.Errorf("%+v: %v, want %s", own, err, want)
		}
	}
}

func TestARuleGivesLabelsOfItsRubricAlone(t *testing.T) {
	t.Parallel()
	two, none := 2.0, 0.0
	r, err := judge.New(judge.Own{Name: "own", Kind: judge.Answers, Rule: judge.Contains("yes"),
		Labels: []judge.Label{{Name: "Right", Score: &two}, {Name: "no", Score: &none}}})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Rule("yes, sir", ""); v.State != assay.VerdictValid || v.Label != "Right" || *v.Score != 2 {
		t.Errorf("%+v", v)
	}
	if v := r.Rule("perhaps", ""); v.State != assay.VerdictMalformed || v.Label != "" {
		t.Errorf("a label that the rubric does not have: %+v", v)
	}
}

func TestProgramsSpeakInLines(t *testing.T) {
	t.Parallel()
	key := assay.Coordinates{Stage: "s", Item: "1"}.Key()
	item := &assay.Item{ID: "1", Fields: map[string]any{"text": "q <&>", "n": 1.5}, Expect: "yes"}
	line, err := judge.Subject{Item: item, Answer: "a\nb", Message: "q"}.Line([]byte("before\n"), key)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + `{"id":"` + key.String() +
		`","item":{"id":"1","fields":{"n":1.5,"text":"q <&>"},"expect":"yes"},"answer":"a\nb","said":"q"}` + "\n"
	if diff := cmp.Diff(want, string(line)); diff != "" {
		t.Error(diff)
	}
	line, err = judge.Showing{A: "", B: "y", Trait: judge.Trait{Name: "length"}}.Line(nil, key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"id":"`+key.String()+`","a":"","b":"y","trait":{"name":"length","description":""}}`+"\n",
		string(line)); diff != "" {
		t.Error(diff)
	}
	if _, err := (judge.Subject{Item: &assay.Item{Fields: map[string]any{"f": func() {}}}}).Line(nil, key); err == nil {
		t.Error("a field that is no data was written")
	}
}

func TestWhatAProgramWritesIsReadStrictly(t *testing.T) {
	t.Parallel()
	key := assay.Key{3}
	labelled, err := judge.New(judge.Own{Name: "program",
		Labels: []judge.Label{{Name: "right", Score: ptr(1)}, {Name: "wrong", Score: ptr(0)}}})
	if err != nil {
		t.Fatal(err)
	}
	free, err := judge.New(judge.Own{Name: "program"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rubric     judge.Rubric
		rest, want string
	}{
		{labelled, `"label":"right"`, "right 1"},
		{labelled, `"label":"right","score":1`, "right 1"},
		{labelled, `"score":0`, "wrong 0"},
		{labelled, `"label":"right","score":0`, "malformed"},
		{labelled, `"label":"maybe"`, "malformed"},
		{labelled, `"label":["right"]`, "malformed"},
		{labelled, `"score":"1"`, "malformed"},
		{labelled, `"x":1`, "malformed"},
		{labelled, `"abstain":"too short"`, "abstained"},
		{labelled, `"error":"crashed","label":"right"`, "failed"},
		{free, `"label":"anything"`, "anything"},
		{free, `"label":true`, "true"},
		{free, `"label":7`, "7"},
		{free, `"score":-3.5`, " -3.5"},
		{free, `"label":"x","score":2`, "x 2"},
		{free, `"label":""`, "malformed"},
	} {
		k, v, err := judge.ReadLine(c.rubric, []byte(`{"id":"`+key.String()+`",`+c.rest+`}`))
		if err != nil || k != key || said(v) != c.want {
			t.Errorf("%s: %s (%s), %v, want %s", c.rest, said(v), v.Why, err, c.want)
		}
	}
	if _, v, _ := judge.ReadLine(labelled, []byte(`{"id":"`+key.String()+`","score":"1"}`)); v.Why != "score wants a number, got string" {
		t.Errorf("a score that is no number: %s", v.Why)
	}
	_, v, err := judge.ReadLine(free,
		[]byte(`{"id":"`+key.String()+`","score":1,"confidence":0.5,"explanation":"e","fields":{"b":1,"a":[2]}}`))
	want := assay.Verdict{State: assay.VerdictValid, Score: ptr(1), Confidence: ptr(0.5), Explanation: "e",
		Fields: []byte(`{"a":[2],"b":1}`)}
	if diff := cmp.Diff(want, v); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, line := range []string{"", "Traceback:", "{}", `{"id":"nope","label":"right"}`, `{"id":7}`, `[1]`} {
		if _, _, err := judge.ReadLine(free, []byte(line)); err == nil {
			t.Errorf("%q belongs to a subject", line)
		}
	}
}

func TestConversationsReadFromTopToBottom(t *testing.T) {
	t.Parallel()
	got := judge.Conversation([]assay.Message{{Role: assay.RoleUser, Text: "Is it?"}, {Role: assay.RoleAssistant, Text: "No."},
		{Role: assay.RoleUser, Text: "Sure?"}})
	if diff := cmp.Diff("User: Is it?\n\nAssistant: No.\n\nUser: Sure?", got); diff != "" {
		t.Error(diff)
	}
}

func TestAStatementWithoutATextIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields map[string]any
		field  string
		empty  bool
	}{
		{map[string]any{"statement": "be kind"}, "statement", false},
		{map[string]any{"statement": ""}, "statement", true},
		{map[string]any{"statement": map[string]any{"text": "be kind"}}, "statement", false},
		{map[string]any{"statement": map[string]any{"id": "7"}}, "statement", true},
		{map[string]any{"other": "x"}, "", false},
	} {
		if field, empty := judge.EmptyStatement(c.fields); field != c.field || empty != c.empty {
			t.Errorf("%v: %q, %t", c.fields, field, empty)
		}
	}
}
