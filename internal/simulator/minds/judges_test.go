package minds

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/simulator/dice"
	"assay/internal/study/prompt"
)

// judged returns a rubric's request as a lane sends it.
func judged(t testing.TB, r judge.Rubric, text string, values prompt.Values, structured bool) *Question {
	t.Helper()
	tmpl, problems := prompt.Parse(assay.Place{File: "test"}, text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	out, err := tmpl.Render(nil, values, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := &Question{Model: "judge", System: r.System, Messages: []assay.Message{{Role: assay.RoleUser, Text: string(out)}}}
	if structured {
		q.Schema = r.Answer()
	}
	q.Draw = dice.Hash(1, string(out))
	return q
}

func rubric(t testing.TB, name string) judge.Rubric {
	t.Helper()
	r, ok := judge.Builtin(name)
	if !ok {
		t.Fatalf("no rubric %s", name)
	}
	return r
}

func written(quality int) string { return "Some words. " + coded(CodeWord(quality)) + " And more." }

// exhibit returns what the rubrics are shown in the n-th request.
func exhibit(kind judge.Kind, n int) prompt.Values {
	if kind == judge.Pairs {
		return judge.Showing{A: written(n % 100), B: written(n * 7 % 100), Message: fmt.Sprintf("Is it %d?", n), Ties: true}.Values()
	}
	later := "No, that is not safe. My last word on it is " + giveMark(n%3) + ". " + written(n%100)
	return judge.Subject{Answer: later, First: written(50), Asked: "Is it?", Message: fmt.Sprintf("Are you sure, %d?", n)}.Values()
}

func fits(t *testing.T, schema json.RawMessage, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("answer")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestJudgesReplyInTheFormOfEveryRubric(t *testing.T) {
	t.Parallel()
	for _, name := range judge.Builtins() {
		r := rubric(t, name)
		for _, p := range judge.Templates(name) {
			for _, structured := range []bool{true, false} {
				labels := map[string]int{}
				for n := range 60 {
					q := judged(t, r, p.Text, exhibit(r.Kind, n), structured)
					a := Writer{}.Respond(q)
					v := judge.Read(r, assay.Outcome{Ending: assay.Answered, Text: a.Text})
					if v.State != assay.VerdictValid {
						t.Fatalf("%s %s, structured %t: %+v\n%s", name, p.Name, structured, v, a.Text)
					}
					if q.Schema != nil {
						if err := fits(t, q.Schema, a.Text); err != nil {
							t.Errorf("%s: %s: %v", name, a.Text, err)
						}
					}
					labels[fmt.Sprint(v.Label, v.Score != nil && v.Label == "" && *v.Score > 2)]++
				}
				if len(labels) < 2 && name != "stance" {
					t.Errorf("%s %s, structured %t: always %v", name, p.Name, structured, labels)
				}
			}
		}
	}
}

func TestJudgesThatFailGiveNoVerdict(t *testing.T) {
	t.Parallel()
	for _, name := range judge.Builtins() {
		r := rubric(t, name)
		for _, p := range judge.Templates(name) {
			for n := range 20 {
				q := judged(t, r, p.Text, exhibit(r.Kind, n), true)
				a := Writer{Judges: &Judges{Malformed: 1}}.Respond(q)
				if v := judge.Read(r, assay.Outcome{Ending: assay.Answered, Text: a.Text}); v.State != assay.VerdictMalformed || a.Refused {
					t.Errorf("%s: %q is %+v", name, a.Text, v)
				}
				if a = (Writer{Judges: &Judges{Refusals: 1}}).Respond(q); !a.Refused {
					t.Errorf("%s: %q is no refusal", name, a.Text)
				}
			}
		}
	}
}

// verdicts counts labels over many comparisons of two qualities.
func verdicts(t *testing.T, j Judges, a, b, n int) map[string]float64 {
	t.Helper()
	r := rubric(t, "better")
	share := map[string]float64{}
	for i := range n {
		values := judge.Showing{A: written(a), B: written(b), Message: fmt.Sprintf("Question %d?", i), Ties: true}.Values()
		v := judge.Read(r, assay.Outcome{Ending: assay.Answered,
			Text: Writer{Judges: &j}.Respond(judged(t, r, r.Prompts[0].Text, values, true)).Text})
		share[v.Label] += 1 / float64(n)
	}
	return share
}

func near(t *testing.T, what string, want, got, margin float64) {
	t.Helper()
	if math.Abs(want-got) > margin {
		t.Errorf("%s: %.3f, want %.3f", what, got, want)
	}
}

func TestJudgesFollowTheirSettings(t *testing.T) {
	t.Parallel()
	odds := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	const n = 700
	near(t, "better by one noise", odds(1), verdicts(t, Judges{Noise: 10}, 60, 50, n)["a"], 0.06)
	near(t, "worse by one noise", odds(-1), verdicts(t, Judges{Noise: 10}, 50, 60, n)["a"], 0.06)
	near(t, "position bias among equals", odds(0.8), verdicts(t, Judges{Noise: 10, PositionBias: 0.8}, 50, 50, n)["a"], 0.06)
	near(t, "ties among equals", 0.3, verdicts(t, Judges{Noise: 10, Ties: 0.3}, 50, 50, n)["tie"], 0.06)
	if far := verdicts(t, Judges{Noise: 10, Ties: 0.3}, 90, 10, n)["tie"]; far > 0.1 {
		t.Errorf("ties far apart: %.3f", far)
	}
	if d := cmp.Diff(map[string]float64{"b": 1}, rounded(verdicts(t, Judges{}, 50, 51, 50))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	near(t, "malformed", 0.25, verdicts(t, Judges{Malformed: 0.25}, 50, 60, n)[""], 0.06)
}

func rounded(m map[string]float64) map[string]float64 {
	for k, v := range m {
		m[k] = math.Round(v*1000) / 1000
	}
	return m
}

func TestScoresRiseWithQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rubric judge.Own
		prompt string
	}{
		{"labels, best first", judge.Own{Labels: []judge.Label{{Name: "right"}, {Name: "wrong"}}},
			`{"label": "right"} or {"label": "wrong"}`},
		{"labels, worst first", judge.Own{Labels: []judge.Label{{Name: "incorrect"}, {Name: "unsure"}, {Name: "correct"}}},
			`{"label": "incorrect|unsure|correct"}`},
		{"a score", judge.Own{Score: "points",
			Schema: json.RawMessage(`{"type":"object","properties":{"points":{"type":"integer","minimum":-3,"maximum":3}}}`)},
			`{"points": -3, -2, -1, 0, 1, 2 or 3}`},
	} {
		own := c.rubric
		own.Name, own.Kind, own.Prompts = c.name, judge.Answers,
			[]judge.Prompt{{Text: "Look at\n{{ answer.text }}\nReply with " + c.prompt}}
		r, err := judge.New(own)
		if err != nil {
			t.Fatal(err)
		}
		for _, structured := range []bool{true, false} {
			for quality, want := range map[int]string{2: "wrong incorrect -3", 97: "right correct 3"} {
				q := judged(t, r, r.Prompts[0].Text, judge.Subject{Answer: written(quality)}.Values(), structured)
				text := Writer{Judges: &Judges{}}.Respond(q).Text
				v := judge.Read(r, assay.Outcome{Ending: assay.Answered, Text: text})
				said := v.Label
				if v.Score != nil {
					said = fmt.Sprint(*v.Score)
				}
				if !strings.Contains(" "+want+" ", " "+said+" ") {
					t.Errorf("%s, structured %t, quality %d: %s gives %+v", c.name, structured, quality, text, v)
				}
			}
		}
	}
}

func TestJudgesReadLinesAndWholeConversations(t *testing.T) {
	t.Parallel()
	text := "A: 1\n" + judge.Fence("[[DATA x: y]]\n"+written(90)+"\n[[END x]] Model: A|Z") + "\n" +
		judge.Fence("User: a\n\nAssistant: "+written(95)+"\n\nAssistant: "+written(10)) +
		"\nBoth answer\n" + judge.Fence("Is it?") + "\nThe final line is Model: A|B|equal|N/A|unsure"
	q := &Question{Messages: []assay.Message{{Role: assay.RoleUser, Text: text}}, Draw: 3}
	got := Writer{Judges: &Judges{}}.Respond(q).Text
	if !strings.HasSuffix(got, "\nModel: A") {
		t.Errorf("the first is better, but the judge says %q", got)
	}
	q.Messages[0].Text = strings.ReplaceAll(text, "The final line is Model: A|B|equal|N/A|unsure", "Tell me a story.")
	if _, coded := ReadCodeWord(Writer{}.Respond(q).Text); !coded {
		t.Error("no verdict was asked for, and one was given")
	}
}

func TestAJudgeWhoseWordsAreWeighedFindsThemHoweverTheyAreListed(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"Reply 0, 1, 2 or 3 and nothing else.":                                  "0 1 2 3",
		"Is this answer good or bad? Reply with \"yes\" or \"no\".":             "yes no",
		"Reply with a yes or a no.":                                             "yes no",
		"Rate it from 1 (poor) to 5 (great). Only the number.":                  "1 2 3 4 5",
		"Score it between 1 and 3; 1 is wrong or empty.":                        "1 2 3",
		"Score 0-2: 0 wrong or beside the point, 2 right. Write one digit.":     "0 1 2",
		"Grade: A, B, C, or D":                                                  "A B C D",
		"Is it correct? (yes/no)":                                               "yes no",
		"Give one of **good**|**fair**|**poor** as your answer, and stop there": "good fair poor",
		"Answer -1 to 1":      "-1 0 1",
		"How good is it?":     "",
		"Rate it from 5 to 1": "",
	} {
		f, ok := readForm(&Question{Weigh: true}, asked)
		if ok != (want != "") || ok && (strings.Join(f.options, " ") != want || !f.alone) {
			t.Errorf("%q: %v, %+v, want %s", asked, ok, f, want)
		}
		for _, other := range []string{`Say {"score": 0, 1 or 2}`, "End with Model: A|B"} { // any other form comes first
			if f, ok := readForm(&Question{Weigh: true, System: other}, asked); !ok || f.alone {
				t.Errorf("%q, and the system says %s: %v, %+v", asked, other, ok, f)
			}
		}
		if _, ok := readForm(&Question{}, asked); ok {
			t.Errorf("%q: a form, and words are not weighed", asked)
		}
	}
}

func TestJudgesKnowAnswersOfModelsWithoutFences(t *testing.T) {
	t.Parallel()
	ask := func(text string) string {
		q := &Question{Messages: []assay.Message{{Role: assay.RoleUser, Text: text}}, Draw: 3}
		return Writer{Judges: &Judges{}}.Respond(q).Text
	}
	for form, want := range map[string]string{"Model: A|B": "\nModel: B", "<W>A</W> or <W>B</W>": "\n<W>B</W>"} {
		if got := ask("One: " + written(10) + "\nTwo: " + written(90) + "\nSay " + form); !strings.HasSuffix(got, want) {
			t.Errorf("the second is better, but the judge says %q", got)
		}
	}
	if _, coded := ReadCodeWord(ask("One: something\nTwo: something else\nSay Model: A|B")); !coded {
		t.Error("no answer of a model was shown, and a verdict was given")
	}
}

func TestTextsFromElsewhereHaveAnOrderToo(t *testing.T) {
	t.Parallel()
	r := rubric(t, "better_sample")
	wins := map[string]int{}
	for i := range 40 {
		pair := [2]string{"An essay about bees.", "Another one, about ants."}
		values := judge.Showing{A: pair[i%2], B: pair[1-i%2]}.Values()
		v := judge.Read(r, assay.Outcome{Ending: assay.Answered,
			Text: Writer{Judges: &Judges{}}.Respond(judged(t, r, r.Prompts[0].Text, values, true)).Text})
		side, _ := judge.SideOf(v)
		wins[map[judge.Side]string{judge.SideA: pair[i%2], judge.SideB: pair[1-i%2]}[side]]++
	}
	if len(wins) != 1 {
		t.Errorf("judges without error differ: %v", wins)
	}
}
