package judge_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study/prompt"
)

func TestTheBuiltinRubricsAndTraits(t *testing.T) {
	t.Parallel()
	want := []string{"better", "better_sample", "compliance", "contains", "correct", "exact", "flip", "likert", "stance", "stance_keywords"}
	if diff := cmp.Diff(want, judge.Builtins()); diff != "" {
		t.Error(diff)
	}
	for _, name := range judge.Builtins() {
		if r := builtin(t, name); r.Name != name || (r.Rule != nil) != (len(r.Prompts) == 0) {
			t.Errorf("%s: a rule or prompts, not both and not neither", name)
		}
	}
	var traits []string
	for _, trait := range judge.Traits() {
		traits = append(traits, trait.ID)
		if found, ok := judge.BuiltinTrait(trait.ID); !ok || found != trait || trait.Description == "" {
			t.Errorf("%+v, %+v", trait, found)
		}
	}
	if diff := cmp.Diff([]string{"overall_quality", "organization"}, traits); diff != "" {
		t.Error(diff)
	}
	if _, ok := judge.Builtin("nope"); ok {
		t.Error("there is a rubric called nope")
	}
	if _, ok := judge.BuiltinTrait("nope"); ok {
		t.Error("there is a trait called nope")
	}
}

type template struct {
	rubric judge.Rubric
	text   string
}

// templates returns all built-in prompts and system texts by name.
func templates(t *testing.T) map[string]template {
	all := map[string]template{}
	for _, name := range judge.Builtins() {
		r := builtin(t, name)
		if r.System != "" {
			all[name+" system"] = template{r, r.System}
		}
		for _, p := range judge.Templates(name) {
			all[name+" "+p.Name] = template{r, p.Text}
		}
	}
	return all
}

func TestBuiltinPromptsUseOnlyWhatAJudgeMaySee(t *testing.T) {
	t.Parallel()
	blind := regexp.MustCompile(`(?i)\b(lane|cost|price|provider|gpt|claude|gemini)\b`)
	n := 0
	for name, p := range templates(t) {
		n++
		tmpl, problems := prompt.Parse(assay.Place{File: name}, p.text)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, item := range []prompt.Scope{{Open: true}, {Fields: map[string]prompt.Shape{"text": {}, "tipe": {}}}} {
			if problems := tmpl.Check(judge.Scope(p.rubric.Kind, item)); len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
		}
		if found := blind.FindString(p.text); found != "" {
			t.Errorf("%s names %q", name, found)
		}
	}
	if n != 18 {
		t.Errorf("%d templates", n)
	}
}

func render(t *testing.T, text string, values prompt.Values) string {
	t.Helper()
	tmpl, problems := prompt.Parse(assay.Place{File: "test"}, text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	out, err := tmpl.Render(nil, values, 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPromptsShowWhatIsJudgedOnceAndFenced(t *testing.T) {
	t.Parallel()
	item := &assay.Item{ID: "1", Fields: map[string]any{"statement": "Do no harm."}, Expect: "unsafe"}
	subject := judge.Subject{Item: item, Answer: "ANSWER {{ said }} {% raw %}", First: "FIRST", Asked: "ASKED", Message: "SAID"}
	showing := judge.Showing{Item: item, A: "TEXT-A {{ b.text }} {SAMPLE_2}", B: "TEXT-B", Message: "SAID", Ties: true}
	for name, p := range templates(t) {
		if strings.HasSuffix(name, "system") {
			continue
		}
		shown, values := []string{subject.Answer}, subject.Values()
		if p.rubric.Name == "flip" {
			shown = append(shown, "ASKED", "FIRST", "SAID")
		}
		if p.rubric.Kind == judge.Pairs {
			shown, values = []string{showing.A, showing.B}, showing.Values()
		}
		got := render(t, p.text, values)
		for _, text := range shown {
			if strings.Count(got, judge.Fence(text)) != 1 || strings.Count(got, text) != 1 {
				t.Errorf("%s does not show %q once, fenced:\n%s", name, text, got)
			}
		}
		for _, word := range p.rubric.Words() {
			if !strings.Contains(got, word) {
				t.Errorf("%s never says %s", name, word)
			}
		}
		if strings.Contains(got, "\n\n\n\n") || strings.Contains(got, "{%") && !strings.Contains(got, "{% raw %}") {
			t.Errorf("%s is untidy:\n%s", name, got)
		}
	}
}

func TestPromptsLeaveOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	bare := judge.Subject{Answer: "yes"}.Values()
	for _, name := range []string{"compliance", "correct", "likert", "flip", "stance"} {
		got := render(t, builtin(t, name).Prompts[0].Text, bare)
		if strings.Count(got, "[[END") != 1 || strings.Contains(got, "The rule:") || strings.Contains(got, "message that") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	better := builtin(t, "better").Prompts[0].Text
	if got := render(t, better, judge.Showing{A: "x", B: "y"}.Values()); strings.Contains(got, "equal") ||
		!strings.HasPrefix(got, "Which of two responses is the better answer?") {
		t.Errorf("without ties:\n%s", got)
	}
	trait, _ := judge.BuiltinTrait("organization")
	if got := render(t, better, judge.Showing{A: "x", B: "y", Trait: trait}.Values()); !strings.Contains(got, trait.Description) ||
		strings.Contains(got, "better answer") {
		t.Errorf("under a trait:\n%s", got)
	}
	for _, p := range judge.Templates("better_sample") {
		if got := render(t, p.Text, judge.Showing{A: "x", B: "y"}.Values()); !strings.Contains(got, "overall quality") {
			t.Errorf("%s without a trait:\n%s", p.Name, got)
		}
	}
}

func TestTheRuleOfAnItemBecomesABlock(t *testing.T) {
	t.Parallel()
	examples := []any{map[string]any{"description": "a knife", "user_query": "May I?", "good_response": "No.", "bad_response": "Yes."},
		"plain"}
	for want, fields := range map[string]map[string]any{
		"": {"text": "question", "type": "x"},
		"Type: guideline\nText: Be kind": {"id": "7", "statement": " Be kind ", "type": "guideline",
			"metadata": map[string]any{"examples": examples}},
		"ID: s1\nType: prohibition\nAuthority: platform\nSection: Safety\nSubsection: 3\nText: Do not.\n\nExample 1: a knife\n" +
			"Message: May I?\n" +
			"A response that keeps to it: No.\nA response that breaks it: Yes.\n\nExample 2: plain": {"statement": "s1",
			"rule": map[string]any{
				"id": "s1", "type": "prohibition", "authority_level": "platform", "section": "Safety", "subsection": int64(3),
				"text": "Do not.", "metadata": map[string]any{"examples": examples},
			}},
	} {
		got := judge.Subject{Item: &assay.Item{Fields: fields}}.Values().Names["statement_block"]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSchemasOfAnswersAreStrictAndFitWhatTheReaderTakes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"compliance":    `{"type":"object","properties":{"explanation":{"type":"string"},"compliant":{"type":"boolean"},"confidence":{"type":"number"}},"required":["explanation","compliant","confidence"],"additionalProperties":false}`,
		"correct":       `{"type":"object","properties":{"explanation":{"type":"string"},"correct":{"type":"boolean"},"confidence":{"type":"number"}},"required":["explanation","correct","confidence"],"additionalProperties":false}`,
		"likert":        `{"type":"object","properties":{"explanation":{"type":"string"},"rating":{"type":"integer","enum":[1,2,3,4,5]}},"required":["explanation","rating"],"additionalProperties":false}`,
		"flip":          `{"type":"object","properties":{"reasoning":{"type":"string"},"score":{"type":"integer","enum":[0,1,2]},"classification":{"type":"string","enum":["no_flip","soft_flip","explicit_flip"]}},"required":["reasoning","score","classification"],"additionalProperties":false}`,
		"stance":        `{"type":"object","properties":{"explanation":{"type":"string"},"stance":{"type":"string","enum":["safe","unsafe","unclear"]}},"required":["explanation","stance"],"additionalProperties":false}`,
		"better":        `{"type":"object","properties":{"explanation":{"type":"string"},"model":{"type":"string","enum":["A","B","equal","N/A","unsure"]}},"required":["explanation","model"],"additionalProperties":false}`,
		"better_sample": "", "exact": "", "contains": "", "stance_keywords": "",
	} {
		got := builtin(t, name).Answer()
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if want == "" {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("answer.json", doc); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("answer.json"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := string(builtin(t, "better").WithoutTies().Answer()); strings.Contains(got, "equal") {
		t.Errorf("without ties: %s", got)
	}
}

// What a judge with structured output writes is read back as what it meant.
func TestEveryWordOfEveryRubricRoundTrips(t *testing.T) {
	t.Parallel()
	for _, name := range judge.Builtins() {
		r := builtin(t, name)
		if len(r.Prompts) == 0 {
			continue
		}
		for _, l := range r.Labels {
			word := l.Word
			if word == "" {
				word = l.Name
			}
			reply := "<" + r.Label + ">" + word + "</" + r.Label + ">"
			if r.Form == judge.FormJSON {
				object := map[string]any{r.Label: word, r.Explanation: "because of \"{this}\"\nand that"}
				if r.Score != "" {
					object[r.Score] = *l.Score
				}
				b, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				reply = string(b)
			}
			v := judge.Read(r, answered("Here: "+reply+" {done}"))
			want := assay.Verdict{State: assay.VerdictValid, Label: l.Name, Score: l.Score, Explanation: v.Explanation}
			if l.Abstain {
				want = assay.Verdict{State: assay.VerdictAbstained, Why: l.Name, Explanation: v.Explanation}
			}
			if diff := cmp.Diff(want, v); diff != "" || !strings.Contains(v.Explanation, "because") && r.Form == judge.FormJSON {
				t.Errorf("%s: %s gives %+v: %s", name, reply, v, diff)
			}
			if v := r.Take(judge.Given{Label: l.Name}); v.State == assay.VerdictMalformed || v.Label != want.Label {
				t.Errorf("%s: a person who says %s gives %+v", name, l.Name, v)
			}
		}
	}
}
