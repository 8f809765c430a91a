package judge_test

import (
	"math"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/judge"
)

// weighed returns a rubric that reads probabilities, of some labels with scores.
func weighed(t *testing.T, labels ...judge.Label) judge.Rubric {
	t.Helper()
	r, err := judge.New(judge.Own{Name: "sure", Kind: judge.Answers, Prompts: []judge.Prompt{{Text: "{{ answer.text }}"}}, Labels: labels,
		Score: judge.ScoreLogprobs})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func labelled(name string, score float64) judge.Label { return judge.Label{Name: name, Score: &score} }

// tokens returns likely tokens: a token, then its probability, and so on.
func tokens(pairs ...any) (out []assay.Likely) {
	for i := 0; i < len(pairs); i += 2 {
		p, _ := pairs[i+1].(float64)
		token, _ := pairs[i].(string)
		out = append(out, assay.Likely{Token: token, Logprob: math.Log(p)})
	}
	return out
}

func TestAScoreIsTheMeanOfTheLabelsByHowLikelyEachWas(t *testing.T) {
	t.Parallel()
	yesNo := weighed(t, labelled("yes", 1), labelled("no", 0))
	points := weighed(t, labelled("1", 1), labelled("2", 2), labelled("3", 3), judge.Label{Name: "unsure"})
	words := weighed(t, labelled("correct", 1), labelled("incorrect", 0), labelled("corrupt", -1))
	names := weighed(t, judge.Label{Name: "red"}, judge.Label{Name: "blue"})
	for name, c := range map[string]struct {
		rubric judge.Rubric
		text   string
		likely []assay.Likely
		want   string
		why    string
	}{
		"two labels":                    {yesNo, "yes", tokens("yes", 0.75, "no", 0.25), "yes 0.75", "yes 75.0%, no 25.0%, other"},
		"spellings are one":             {yesNo, "Yes.", tokens("Yes", 0.5, " yes", 0.25, "NO", 0.25), "yes 0.75", ""},
		"others are told apart":         {yesNo, "yes", tokens("yes", 0.6, "no", 0.2, "or", 0.1), "yes 0.75", "other tokens 20.0%"},
		"a chosen one that is unlikely": {yesNo, "no", tokens("yes", 0.75, "no", 0.25), "yes 0.75", ""},
		"points":                        {points, "2", tokens("2", 0.5, "3", 0.25, "1", 0.125, "un", 0.125), "2 2.142857", "unsure 12.5%"},
		"the judge declines":            {points, "unsure", tokens("uns", 0.75, "2", 0.25), "abstained", ""},
		"a beginning":                   {words, "incorrect", tokens("in", 0.75, "correct", 0.25), "incorrect 0.25", ""},
		"of two labels":                 {words, "correct", tokens("cor", 0.25, "correct", 0.75), "correct 1", "other tokens 25.0%"},
		"labels alone":                  {names, "red", tokens("red", 0.75, "blue", 0.25), "red", ""},
		"a letter is no word":           {words, "incorrect", tokens("I", 0.5, "inc", 0.5), "incorrect 0", "other tokens 50.0%"},

		"no probabilities": {yesNo, "yes", nil, "malformed", "without log probabilities"},
		"less than half": {yesNo, "yes", tokens("yes", 0.4, "The", 0.6), "malformed",
			"labels have 0.4 of the first token's probability"},
		"more than all":        {yesNo, "yes", tokens("yes", 0.9, "no", 0.9), "malformed", "add up to 1.8"},
		"another word":         {yesNo, "yesterday", tokens("yes", 0.9), "malformed", "begins with no label"},
		"prose":                {yesNo, "The answer is yes", tokens("yes", 0.9), "malformed", "begins with no label"},
		"nothing":              {yesNo, " ", tokens("yes", 0.9), "malformed", "is empty"},
		"thoughts before it":   {yesNo, "<think>no</think>\nyes", tokens("<think>", 1.), "malformed", "labels have 0 of"},
		"a tie is not made up": {yesNo, "maybe", tokens("maybe", 1.), "malformed", "begins with no label"},
	} {
		v := judge.Read(c.rubric, assay.Outcome{Ending: assay.Answered, Text: c.text, Likely: c.likely})
		if got := said(v); got != c.want || !strings.Contains(v.Why+v.Explanation, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, v.Why+v.Explanation, c.want, c.why)
		}
		if (v.State == assay.VerdictValid) != strings.Contains(string(v.Fields), `"probabilities":{`) {
			if v.State != assay.VerdictAbstained {
				t.Errorf("%s: %s keeps %s", name, v.State, v.Fields)
			}
		}
	}
	cut := judge.Read(words, assay.Outcome{Ending: assay.Cut, Text: "incor", Likely: tokens("incor", 1.)})
	if got := said(cut); got != "incorrect 0" {
		t.Errorf("cut within the label: %s", got)
	}
	if refused := judge.Read(yesNo, assay.Outcome{Ending: assay.Refused, Likely: tokens("yes", 1.)}); refused.State != assay.VerdictFailed {
		t.Errorf("a judge that refused: %s", said(refused))
	}
}

func TestWhatCannotBeReadFromTheFirstTokenIsRefused(t *testing.T) {
	t.Parallel()
	prompts := []judge.Prompt{{Text: "{{ answer.text }}"}}
	two := []judge.Label{labelled("yes", 1), labelled("no", 0)}
	for want, own := range map[string]judge.Own{
		"a comparison gives a side":    {Kind: judge.Pairs, Prompts: prompts},
		"needs a model that judges":    {Kind: judge.Answers, Labels: two},
		"begins with a bracket":        {Kind: judge.Answers, Prompts: prompts, Labels: two, Schema: []byte(`{"type":"object"}`)},
		"needs two labels or more":     {Kind: judge.Answers, Prompts: prompts, Labels: two[:1]},
		`"1" and "10" begin alike`:     {Kind: judge.Answers, Prompts: prompts, Labels: []judge.Label{labelled("1", 1), labelled("10", 10)}},
		`"no" and "not_sure" begin al`: {Kind: judge.Answers, Prompts: prompts, Labels: append(two[1:2:2], labelled("not_sure", 0))},
	} {
		own.Score = judge.ScoreLogprobs
		if _, err := judge.New(own); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
