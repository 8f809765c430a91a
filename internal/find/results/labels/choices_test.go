package labels

import (
	"strings"
	"testing"

	"assay/internal/judge"
)

// A scale has its digits as keys and words at both ends, whichever of them is the good one; names are keys in turn.
func TestScalesHaveWordsAtBothEnds(t *testing.T) {
	t.Parallel()
	num := func(x float64) *float64 { return &x }
	likert, _ := judge.Builtin("likert")
	flip, _ := judge.Builtin("flip")
	digits := []judge.Label{{Name: "2", Score: num(2)}, {Name: "0", Score: num(0)}, {Name: "1", Score: num(1)}}
	turned := []judge.Label{{Name: "1", Score: num(1)}, {Name: "2", Score: num(0)}}
	for name, c := range map[string]struct {
		rubric judge.Rubric
		want   string
	}{
		"likert":               {likert, "1 the opposite, or nothing of it|2|3|4|5 nothing missing, nothing wrong"},
		"numbers":              {judge.Rubric{Labels: digits}, "0 worst|1|2 best"},
		"low is good":          {judge.Rubric{Labels: digits, Worse: judge.High}, "0 best|1|2 worst"},
		"first is good":        {judge.Rubric{Labels: turned}, "1 best|2 worst"},
		"digits that no score": {judge.Rubric{Labels: []judge.Label{{Name: "7"}, {Name: "8"}}}, "1 7|2 8"},
		"names":                {flip, "1 no_flip|2 soft_flip|3 explicit_flip"},
	} {
		var got []string
		for _, choice := range choicesOf(c.rubric) {
			if !choice.Quiet {
				got = append(got, strings.TrimSpace(choice.Key+" "+choice.Text))
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, "|"), c.want)
		}
	}
}
