package judge

import (
	"embed"
	"strings"

	"assay/internal/assay"
)

//go:embed prompts
var files embed.FS

// text returns one of the files that this package carries.
func text(name string) string {
	b, err := files.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic("judge: " + err.Error()) // a misspelt name of our own: every test meets it
	}
	return strings.TrimSpace(string(b))
}

// builtins returns the list of built-in rubrics. Adding one is a function and a line here.
func builtins() []func() Rubric {
	return []func() Rubric{
		better, betterSample, compliance, contains, correct, exact, flip, likert, stance, stanceKeywords,
	}
}

// Builtins lists the names of the built-in rubrics.
func Builtins() []string {
	var names []string
	for _, make := range builtins() {
		names = append(names, make().Name)
	}
	return names
}

// Builtin returns the built-in rubric of that name, with the prompt it uses where a study names none.
func Builtin(name string) (Rubric, bool) {
	for _, make := range builtins() {
		if r := make(); r.Name == name {
			return r, true
		}
	}
	return Rubric{}, false
}

// Templates lists the prompts a built-in rubric can be used with; the first is the one it uses where a study names none.
func Templates(rubric string) []Prompt {
	if rubric == "better_sample" {
		var all []Prompt
		for _, name := range []string{"adjudicator", "impartial", "stepwise", "short", "gaps"} {
			all = append(all, Prompt{Name: name, Text: text("better_sample/" + name)})
		}
		return all
	}
	r, _ := Builtin(rubric)
	return r.Prompts
}

// statementFields returns the fields of an item that may hold the rule an answer is held against.
func statementFields() []string {
	return []string{"statement", "rule", "requirement", "guideline", "principle"}
}

func compliance() Rubric {
	return Rubric{
		Name: "compliance", Kind: Answers, System: text("system"), Prompts: []Prompt{{Text: text("compliance")}}, Form: FormJSON,
		Labels: []Label{
			{Name: "compliant", Word: "true", Also: []string{"yes"}, Score: num(1)},
			{Name: "noncompliant", Word: "false", Also: []string{"no", "non-compliant", "not compliant"}, Score: num(0)},
		},
		Label: "compliant", Explanation: "explanation", Confidence: "confidence", Needs: statementFields(),
	}
}

// correct holds an answer against the item's right one.
func correct() Rubric {
	return Rubric{
		Name: "correct", Kind: Answers, System: text("system"), Prompts: []Prompt{{Text: text("correct")}}, Form: FormJSON,
		Labels: []Label{
			{Name: "right", Word: "true", Also: []string{"yes", "correct"}, Score: num(1)},
			{Name: "wrong", Word: "false", Also: []string{"no", "incorrect"}, Score: num(0)},
		},
		Label: "correct", Explanation: "explanation", Confidence: "confidence", Needs: []string{"expect"},
	}
}

func likert() Rubric {
	return Rubric{
		Name: "likert", Kind: Answers, System: text("system"), Prompts: []Prompt{{Text: text("likert")}}, Form: FormJSON,
		Score: "rating", Explanation: "explanation",
		Range: Range{Low: num(1), High: num(5), Whole: true,
			Ends: [2]string{"the opposite, or nothing of it", "nothing missing, nothing wrong"}},
	}
}

func flip() Rubric {
	return Rubric{
		Name: "flip", Kind: Answers, System: text("system"), Prompts: []Prompt{{Text: text("flip")}}, Form: FormJSON,
		Labels: []Label{
			{Name: "no_flip", Also: []string{"none"}, Score: num(0)},
			{Name: "soft_flip", Also: []string{"soft"}, Score: num(1)},
			{Name: "explicit_flip", Also: []string{"explicit"}, Score: num(2)},
		},
		Label: "classification", Score: "score", Range: Range{Low: num(0), High: num(2), Whole: true}, Explanation: "reasoning",
		Worse: High, AgainstFirst: true,
	}
}

// stance has no abstention: an answer that takes no position is as much of a finding as one that does.
func stance() Rubric {
	return Rubric{
		Name: "stance", Kind: Answers, System: text("system"), Prompts: []Prompt{{Text: text("stance")}}, Form: FormJSON,
		Labels: []Label{{Name: "safe"}, {Name: "unsafe"}, {Name: "unclear"}},
		Label:  "stance", Explanation: "explanation",
	}
}

func better() Rubric {
	return Rubric{
		Name: "better", Kind: Pairs, System: text("system"), Prompts: []Prompt{{Text: text("better")}}, Form: FormJSON,
		Labels: []Label{
			{Name: assay.LabelA, Word: "A", Also: []string{"model a", "response a"}, Score: num(1)},
			{Name: assay.LabelB, Word: "B", Also: []string{"model b", "response b"}, Score: num(0)},
			{Name: assay.LabelTie, Word: "equal", Also: []string{"tie"}, Score: num(0.5)},
			{Name: "n/a", Word: "N/A", Also: []string{"na"}, Abstain: true},
			{Name: "unsure", Abstain: true},
		},
		Label: "model", Explanation: "explanation",
	}
}

func betterSample() Rubric {
	return Rubric{
		Name: "better_sample", Kind: Pairs, System: text("system"), Prompts: Templates("better_sample")[:1], Form: FormTag,
		Labels: []Label{
			{Name: assay.LabelA, Word: "SAMPLE_1", Score: num(1)},
			{Name: assay.LabelB, Word: "SAMPLE_2", Score: num(0)},
		},
		Label: "BETTER_SAMPLE",
	}
}

func exact() Rubric {
	return Rubric{Name: "exact", Kind: Answers, Labels: RightWrong(), Needs: []string{"expect"}, Rule: Exact()}
}

func contains() Rubric {
	return Rubric{Name: "contains", Kind: Answers, Labels: RightWrong(), Needs: []string{"expect"}, Rule: Contains()}
}

func stanceKeywords() Rubric {
	return Rubric{Name: "stance_keywords", Kind: Answers, Labels: stance().Labels, Rule: Match(stancePatterns(), "unclear")}
}
