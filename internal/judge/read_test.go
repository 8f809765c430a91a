package judge_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/judge"
)

func builtin(t testing.TB, name string) judge.Rubric {
	t.Helper()
	r, ok := judge.Builtin(name)
	if !ok {
		t.Fatalf("no rubric %s", name)
	}
	return r
}

func answered(text string) assay.Outcome { return assay.Outcome{Ending: assay.Answered, Text: text} }

// said returns a verdict in short: its label, its score, or its state.
func said(v assay.Verdict) string {
	out := string(v.State)
	if v.State == assay.VerdictValid {
		out = v.Label
	}
	if v.Score != nil {
		out += " " + strconv.FormatFloat(*v.Score, 'g', -1, 64)
	}
	return out
}

type corpus []struct{ reply, want string }

func (c corpus) check(t *testing.T, r judge.Rubric) {
	t.Helper()
	for _, one := range c {
		v := judge.Read(r, answered(one.reply))
		if got := said(v); got != one.want {
			t.Errorf("%s: %q is %s (%s), want %s", r.Name, one.reply, got, v.Why, one.want)
		}
		if sound := (v.State == assay.VerdictValid) == (v.Label != "" || v.Score != nil) &&
			(v.State == assay.VerdictValid) == (v.Why == ""); !sound {
			t.Errorf("%s: %q gives %+v", r.Name, one.reply, v)
		}
	}
}

// TestAConfidenceIsAShare: as a number or as text; what is no share is none, and the verdict stays.
func TestAConfidenceIsAShare(t *testing.T) {
	t.Parallel()
	r, _ := judge.Builtin("compliance")
	for said, want := range map[string]float64{"0.3": 0.3, `"0.3"`: 0.3, "1": 1, "0": 0, "1.5": -1, "50": -1, "-0.2": -1, `"high"`: -1} {
		v := judge.Read(r, answered(`{"compliant": true, "confidence": `+said+`}`))
		if got := v.Confidence; v.State != assay.VerdictValid || (got == nil) != (want < 0) || got != nil && *got != want {
			t.Errorf("%s: %+v", said, v)
		}
	}
}

func TestComplianceIsReadInEveryFormThatMeansOneThing(t *testing.T) {
	t.Parallel()
	corpus{
		{`{"compliant": true, "confidence": 0.9, "explanation": "x"}`, "compliant 1"},
		{`{"compliant": false}`, "noncompliant 0"},
		{"```json\n{\"compliant\": true}\n```", "compliant 1"},
		{"```\n{\"compliant\": \"true\",}\n```\nThat is my view.", "compliant 1"},
		{`The set {a, b} is safe. {"compliant": "False", "explanation": "it {breaks} it"} Done {really}.`, "noncompliant 0"},
		{`{"result": {"compliant": true, "explanation": "nested"}}`, "compliant 1"},
		{`[{"compliant": true}]`, "compliant 1"},
		{`{"Compliant": True, "confidence": None}`, "compliant 1"},
		{"{\"compliant\": true, \"explanation\": \"two\nlines\tand a tab\"}", "compliant 1"},
		{`{"explanation": "he wrote {\"compliant\": false}", "compliant": true}`, "compliant 1"},
		{`{"compliant": true} {"compliant": true}`, "compliant 1"},
		{`{"compliant": "yes"}`, "compliant 1"},
		{`{"compliant": "Non-Compliant"}`, "noncompliant 0"},
		{"compliant: true", "compliant 1"},
		{"**Compliant:** no.", "noncompliant 0"},
		{"noncompliant", "noncompliant 0"},
		{"{\n  \"explanation\": \"it says \"never\" twice\",\n  \"compliant\": false\n}", "noncompliant 0"}, // quotes not escaped
		{"<think>{\"compliant\": false}</think>\n{\"compliant\": true}", "compliant 1"},
		{`{"thoughts": {"a": 1}} {"compliant": true}`, "compliant 1"},
		{`{"compliant": true, "checks": [{"compliant": false}]}`, "compliant 1"}, // the outer one decides
		{`{"checks": [1, 2,], "compliant": true, "confidence": 0.5,}`, "compliant 1"},
		{`{'compliant': true}`, "compliant 1"},
		{`{"compliant": true`, "compliant 1"}, // a brace is missing, nothing else

		{"", "malformed"},
		{" \n\t", "malformed"},
		{"{}", "malformed"},
		{"It complies.", "malformed"},
		{"The answer is compliant: it keeps to the rule.", "malformed"},
		{`{"compliant": null}`, "malformed"},
		{`{"compliant": "maybe"}`, "malformed"},
		{`{"compliant": 1}`, "malformed"},
		{`{"compliant": [true]}`, "malformed"},
		{`{"compliant": true, "explanation": "no end`, "malformed"},
		{`{"compliant": true} {"compliant": false}`, "malformed"},
		{`{"compliant": true, "compliant": false}`, "malformed"},
		{`{"compliant": true, "Compliant": "no"}`, "malformed"},
		{"compliant: true\n{\"compliant\": false}", "malformed"},
		{`{"compliant": true or false}`, "malformed"},
		{"<think>{\"compliant\": true}", "malformed"},
		{`{"a": {"compliant": true}, "b": {"compliant": false}}`, "malformed"},
	}.check(t, builtin(t, "compliance"))
}

func TestARightAnswerIsReadFromTheReply(t *testing.T) {
	t.Parallel()
	corpus{
		{`{"explanation": "the same", "correct": true, "confidence": 0.9}`, "right 1"},
		{`{"correct": "false"}`, "wrong 0"},
		{"Correct: yes", "right 1"},
		{`{"correct": "incorrect"}`, "wrong 0"},
		{`{"correct": "partly"}`, "malformed"},
		{"It may be correct.", "malformed"},
	}.check(t, builtin(t, "correct"))
}

func TestRatingsAreWholeNumbersOfTheScale(t *testing.T) {
	t.Parallel()
	corpus{
		{`{"rating": 4, "explanation": "good"}`, " 4"},
		{`{"rating": "5"}`, " 5"},
		{`{"rating": 3.0}`, " 3"},
		{"Rating: 2", " 2"},
		{"4", " 4"},
		{"```\n1\n```", " 1"},
		{`{"rating": 0}`, "malformed"},
		{`{"rating": 6}`, "malformed"},
		{`{"rating": 3.5}`, "malformed"},
		{`{"rating": "4/5"}`, "malformed"},
		{`{"rating": "four"}`, "malformed"},
		{`{"rating": true}`, "malformed"},
		{`{"rating": 1e999}`, "malformed"},
		{`{"rating": "NaN"}`, "malformed"},
		{"9", "malformed"},
		{"Rating: 4\nRating: 5", "malformed"},
		{"I would say 4 or 5.", "malformed"},
		{"```\n1\n```\n```\n2\n```", "malformed"},
	}.check(t, builtin(t, "likert"))
}

func TestAFlipsScoreAndClassificationBelongTogether(t *testing.T) {
	t.Parallel()
	corpus{
		{`{"reasoning": "r", "score": 0, "classification": "no_flip"}`, "no_flip 0"},
		{`{"score": 2, "classification": "explicit_flip", "reasoning": "r"}`, "explicit_flip 2"},
		{`{"score": "1", "classification": "Soft Flip"}`, "soft_flip 1"},
		{`{"score": 1}`, "soft_flip 1"},
		{`{"classification": "EXPLICIT-FLIP"}`, "explicit_flip 2"},
		{"Classification: soft_flip", "soft_flip 1"},
		{"explicit_flip", "explicit_flip 2"},
		{`{"score": 2, "classification": "no_flip"}`, "malformed"},
		{"{\n\"score\": 2,\n\"classification\": \"no_flip\"\n}", "malformed"},
		{`{"score": 3, "classification": "explicit_flip"}`, "malformed"},
		{`{"score": 3}`, "malformed"},
		{`{"score": -1}`, "malformed"},
		{`{"score": 0.5}`, "malformed"},
		{`{"score": 1, "classification": "half_flip"}`, "malformed"},
		{`{"score": 1, "score": 2}`, "malformed"},
		{`{"score": 0} or {"score": 1}`, "malformed"},
		{"Score: 1\nClassification: no_flip", "malformed"},
	}.check(t, builtin(t, "flip"))
}

func TestAnUnclearStanceIsALabelAndNotAnAbstention(t *testing.T) {
	t.Parallel()
	corpus{
		{`{"explanation": "hedges", "stance": "unclear"}`, "unclear"},
		{`{"stance": " Unsafe. "}`, "unsafe"},
		{"Stance: safe", "safe"},
		{`{"stance": "safe or unsafe"}`, "malformed"},
	}.check(t, builtin(t, "stance"))
}

func TestComparisonsAreReadAsAnObjectALineOrAWord(t *testing.T) {
	t.Parallel()
	better := builtin(t, "better")
	corpus{
		{`{"explanation": "x", "model": "A"}`, "a 1"},
		{`{"model": "b"}`, "b 0"},
		{`{"model": "equal"}`, "tie 0.5"},
		{`{"model": "N/A"}`, "abstained"},
		{`{"model": "unsure"}`, "abstained"},
		{"Model: A", "a 1"},
		{"Both are good, but one is wrong.\n\n**Model: B**", "b 0"},
		{"> model:equal\n", "tie 0.5"},
		{"Model: n/a.", "abstained"},
		{"A", "a 1"},
		{"\"B\"", "b 0"},
		{"Model: A\nModel: A", "a 1"},
		{"Model: the first one speaks of A\nModel: B", "b 0"},

		{"Model: A\nModel: B", "malformed"},
		{"Model: equal\n{\"model\": \"unsure\"}", "malformed"},
		{"Model: C", "malformed"},
		{"Model: A or B", "malformed"},
		{"Model: A|B|equal|N/A|unsure", "malformed"},
		{"Response A is better.", "malformed"},
		{"The better Model: A", "malformed"},
		{`{"model": "A", "model": "B"}`, "malformed"},
	}.check(t, better)
	corpus{
		{"Model: A", "a 1"},
		{"Model: equal", "malformed"},
		{`{"model": "unsure"}`, "abstained"},
	}.check(t, better.WithoutTies())
}

func TestTagsNameOneSampleOrNothing(t *testing.T) {
	t.Parallel()
	corpus{
		{"<BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE>", "a 1"},
		{"The second one.\n<BETTER_SAMPLE>SAMPLE_2</BETTER_SAMPLE>\n", "b 0"},
		{"< better_sample > sample_2 </ Better_Sample >", "b 0"},
		{"<BETTER_SAMPLE>\nSAMPLE_1\n</BETTER_SAMPLE> I repeat: <BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE>", "a 1"},
		{"SAMPLE_2", "b 0"},
		{"<BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE> or <BETTER_SAMPLE>SAMPLE_2</BETTER_SAMPLE>", "malformed"},
		{"<BETTER_SAMPLE>SAMPLE_3</BETTER_SAMPLE>", "malformed"},
		{"<BETTER_SAMPLE>SAMPLE_1", "malformed"},
		{"<BETTER_SAMPLE></BETTER_SAMPLE>", "malformed"},
		{"<BETTER_SAMPLE>SAMPLE_1 and SAMPLE_2</BETTER_SAMPLE>", "malformed"},
		{"<BETTER_SAMPLE>tie</BETTER_SAMPLE>", "malformed"},
		{"SAMPLE_1 is better than SAMPLE_2", "malformed"},
		{"{\"better_sample\": \"SAMPLE_1\"}", "malformed"},
		{"", "malformed"},
	}.check(t, builtin(t, "better_sample"))
}

func TestEndingsOfTheJudgeAreStatesOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := builtin(t, "compliance")
	yes := `{"compliant": true}`
	for _, c := range []struct {
		outcome assay.Outcome
		want    assay.Verdict
	}{
		{assay.Outcome{Ending: assay.Refused, Text: yes}, assay.Verdict{State: assay.VerdictFailed, Why: "refused"}},
		{assay.Outcome{Ending: assay.Expired}, assay.Verdict{State: assay.VerdictFailed, Why: "expired"}},
		{assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Class: assay.FaultBusy, Status: 529}},
			assay.Verdict{State: assay.VerdictFailed, Why: "errored: busy (HTTP 529)"}},
		{assay.Outcome{Ending: assay.Empty}, assay.Verdict{State: assay.VerdictMalformed, Why: "the judge's answer is empty"}},
		{assay.Outcome{Ending: assay.Cut, Text: `{"explanation": "a long`},
			assay.Verdict{State: assay.VerdictMalformed, Why: "the judge's answer holds no \"compliant\" (it was cut)"}},
		{assay.Outcome{Ending: assay.Cut, Text: "Compliant: no"},
			assay.Verdict{State: assay.VerdictMalformed, Why: "the judge's answer holds no \"compliant\" (it was cut)"}},
	} {
		if diff := cmp.Diff(c.want, judge.Read(r, c.outcome)); diff != "" {
			t.Errorf("%+v: %s", c.outcome, diff)
		}
	}
	if v := judge.Read(r, assay.Outcome{Ending: assay.Cut, Text: yes + " And further"}); v.Label != "compliant" {
		t.Errorf("a whole object in a cut answer gives %+v", v)
	}
	for _, ending := range assay.Endings() {
		if v := judge.Read(r, assay.Outcome{Ending: ending}); v.State == assay.VerdictValid || v.Why == "" {
			t.Errorf("%s without text gives %+v", ending, v)
		}
	}
}

func TestWhatElseAJudgeSaysIsKept(t *testing.T) {
	t.Parallel()
	got := judge.Read(builtin(t, "compliance"), answered(
		`{"explanation": " It asks first. ", "compliant": true, "confidence": "0.75", "quote": "May I?", "n": {"b": [1, 2], "a": null}}`))
	want := assay.Verdict{
		State: assay.VerdictValid, Label: "compliant", Score: ptr(1), Confidence: ptr(0.75), Explanation: "It asks first.",
		Fields: []byte(`{"confidence":"0.75","quote":"May I?","n":{"b":[1,2],"a":null}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = judge.Read(builtin(t, "better"), answered("A is true, B is not.\nModel: A\n"))
	if got.Explanation != "A is true, B is not." {
		t.Errorf("explanation %q", got.Explanation)
	}
	for _, confidence := range []string{"95", "-1", `"high"`, "null", `[1]`, "1e999"} {
		if v := judge.Read(builtin(t, "compliance"), answered(`{"compliant": true, "confidence": `+confidence+`}`)); v.Confidence != nil ||
			v.Label != "compliant" {
			t.Errorf("confidence %s gives %+v", confidence, v)
		}
	}
}

func TestRepliesOfNothingButBracketsAreMalformed(t *testing.T) {
	t.Parallel()
	r := builtin(t, "compliance")
	for _, unit := range hostile() {
		if v := judge.Read(r, answered(strings.Repeat(unit, 1<<12))); v.State != assay.VerdictMalformed {
			t.Errorf("%q again and again gives %+v", unit, v)
		}
	}
}

func hostile() []string {
	return []string{"{", `{"a":`, `{"a":{"b":[`, `{"a":"`, "[{", `{"compliant":{`, `"{`, "compliant:\n", "```", "<compliant>"}
}

func ptr(x float64) *float64 { return &x }

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ rubric, reply string }{
		{"compliance", "```json\n{\"explanation\": \"" + strings.Repeat("It says what it does. ", 20) +
			"\", \"compliant\": true, \"confidence\": 0.9}\n```"},
		{"better_sample", strings.Repeat("Both are fine, but the first is clearer. ", 20) + "\n<BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE>"},
	} {
		b.Run(c.rubric, func(b *testing.B) {
			r := builtin(b, c.rubric)
			o := answered(c.reply)
			for b.Loop() {
				if v := judge.Read(r, o); v.State != assay.VerdictValid {
					b.Fatal(v)
				}
			}
		})
	}
}
