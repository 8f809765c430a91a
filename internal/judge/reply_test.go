package judge_test

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/judge"
)

func own(t *testing.T, o judge.Own) judge.Rubric {
	t.Helper()
	r, err := judge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestADeclaredReplyIsReadInItsFormAlone(t *testing.T) {
	t.Parallel()
	r := own(t, judge.Own{
		Name: "fine", Kind: judge.Answers, Prompts: []judge.Prompt{{Text: "x"}},
		Labels: []judge.Label{{Name: "yes", Score: new(1.0)}, {Name: "no", Score: new(0.0)}},
	})
	corpus{
		{"It is fine.\nyes", "yes 1"},
		{"It is fine.\n\n**Yes.**\n", "yes 1"},
		{"no\nOn reflection:\nVerdict: yes", "yes 1"},
		{"So [[no]]", "no 0"},
		{"Therefore the verdict is [[No]].\n", "no 0"},
		{"Yes. It is fine.", "malformed"},
		{"yes\nThat is my verdict.", "malformed"},
		{"I cannot say no to that", "malformed"},
		{"not yes but [[no]] or [[yes]]", "malformed"},
		{"<label>yes</label>", "malformed"},
		{"There is no verdict: none", "malformed"},
	}.check(t, r.Replying(judge.Reply{Form: judge.FormLine}))
	corpus{
		{"Well.\n<VERDICT> Yes </VERDICT> I think.", "yes 1"},
		{"<verdict>no</verdict>", "no 0"},
		{"<VERDICT>maybe</VERDICT>", "malformed"},
		{"<VERDICT>yes</VERDICT><VERDICT>no</VERDICT>", "malformed"},
		{"<label>yes</label>", "malformed"},
		{"no", "malformed"},
		{`{"VERDICT": "yes"}`, "malformed"},
	}.check(t, r.Replying(judge.Reply{Form: judge.FormTag, Field: "VERDICT"}))
	corpus{
		{`Sure. {"ruling": "No", "why": "x"}`, "no 0"},
		{`{"label": "yes"}`, "malformed"},
		{"ruling: yes", "malformed"},
		{"yes", "malformed"},
	}.check(t, r.Replying(judge.Reply{Form: judge.FormJSON, Field: "ruling"}))
}

func TestADeclaredReplyOfAScoreIsANumber(t *testing.T) {
	t.Parallel()
	r := own(t, judge.Own{Name: "points", Kind: judge.Answers, Prompts: []judge.Prompt{{Text: "x"}}, Score: "points"})
	corpus{{"Good.\n<MARK>7.5</MARK>", " 7.5"}, {"<MARK>seven</MARK>", "malformed"}, {"7", "malformed"}}.
		check(t, r.Replying(judge.Reply{Form: judge.FormTag, Field: "MARK"}))
	corpus{{"Good.\nScore: 7", " 7"}, {"Good.\n7 of 10", "malformed"}}.check(t, r.Replying(judge.Reply{Form: judge.FormLine}))
}

// A reply that cannot be read is never a tie and never the worse label, whatever form is declared.
func TestWhatCannotBeReadIsNoVerdict(t *testing.T) {
	t.Parallel()
	better := builtin(t, "better")
	for _, form := range []judge.Form{judge.FormLine, judge.FormTag, judge.FormJSON} {
		r := better.Replying(judge.Reply{Form: form})
		for _, reply := range []string{"", "Both are good.", "It is a close call between the two", "A and B", "tie or A?", "I refuse.",
			"A is better than B", "{}", "<model></model>", "[[A]] [[B]]"} {
			if v := judge.Read(r, answered(reply)); v.State != assay.VerdictMalformed || v.Label != "" || v.Score != nil || v.Why == "" {
				t.Errorf("%s: %q is %+v", form, reply, v)
			}
		}
	}
	cut := judge.Read(better.Replying(judge.Reply{Form: judge.FormLine}), assay.Outcome{Ending: assay.Cut, Text: "Verdict: A"})
	if cut.State != assay.VerdictMalformed || !strings.Contains(cut.Why, "cut") {
		t.Errorf("the last line of a reply that was cut is not known, and it is %+v", cut)
	}
}

func TestABareSubjectIsShownWithoutFences(t *testing.T) {
	t.Parallel()
	s := judge.Subject{Answer: "an answer", Asked: "a question", Bare: true}.Values()
	if got := s.Names["answer"].(map[string]any)["text"]; got != "an answer" {
		t.Errorf("the answer is shown as %q", got)
	}
	p := judge.Showing{A: "one", B: "two", Message: "three", Bare: true}.Values()
	if a, said := p.Names["a"].(map[string]any)["text"], p.Names["said"]; a != "one" || said != "three" {
		t.Errorf("a pair is shown as %q and %q", a, said)
	}
	r := builtin(t, "compliance")
	if r.Bare = true; r.Answer() != nil {
		t.Error("a bare rubric asks for a form that its prompt does not")
	}
}
