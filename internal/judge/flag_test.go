package judge

import "testing"

// A score is flagged at the middle of a rubric or nearer to its bad end; the ends are those of its range and of its labels.
func TestScoresNearTheBadEndAreFlagged(t *testing.T) {
	t.Parallel()
	p := func(x float64) *float64 { return &x }
	labels := []Label{{Name: "half", Score: p(0.5)}, {Name: "good", Score: p(1)}, {Name: "bad", Score: p(0)},
		{Name: "no answer", Score: p(-9), Abstain: true}, {Name: "other"}}
	ranged := Range{Low: p(1), High: p(5)}
	for name, c := range map[string]struct {
		r     Rubric
		score *float64
		want  bool
	}{
		"at the middle of labels":   {Rubric{Labels: labels}, p(0.5), true},
		"above it":                  {Rubric{Labels: labels}, p(0.6), false},
		"a high score is bad":       {Rubric{Labels: labels, Worse: High}, p(0.5), true},
		"a low one is not, then":    {Rubric{Labels: labels, Worse: High}, p(0.4), false},
		"at the middle of a range":  {Rubric{Range: ranged}, p(3), true},
		"above the middle":          {Rubric{Range: ranged}, p(3.1), false},
		"labels widen a range":      {Rubric{Range: Range{Low: p(0), High: p(1)}, Labels: []Label{{Name: "x", Score: p(9)}}}, p(4), true},
		"labels of one score":       {Rubric{Labels: labels[:1]}, p(0.5), false},
		"no score":                  {Rubric{Range: ranged}, nil, false},
		"a rubric without any ends": {Rubric{}, p(0), false},
	} {
		if got := c.r.Flags(c.score); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
