package judge_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/judge"
)

func TestRulesWithoutAModel(t *testing.T) {
	t.Parallel()
	own, err := judge.ParsePattern("polite", `\bplease\b`, `thank you`)
	if err != nil {
		t.Fatal(err)
	}
	rude, err := judge.ParsePattern("rude", `\bidiot\b`, `(?-i)SHOUT`)
	if err != nil {
		t.Fatal(err)
	}
	matched := judge.Match([]judge.Pattern{rude, own}, "")
	isJSON := judge.FitsSchema(func(b []byte) error {
		if !json.Valid(b) {
			return errors.New("not JSON")
		}
		return nil
	})
	exact, contains := builtin(t, "exact").Rule, builtin(t, "contains").Rule
	for _, c := range []struct {
		name           string
		rule           judge.Rule
		answer, expect string
		want           string
	}{
		{"exact", exact, " Paris\n", "Paris", "right 1"},
		{"exact", exact, "paris", "Paris", "wrong 0"},
		{"exact", exact, "It is Paris", "Paris", "wrong 0"},
		{"exact", exact, "", "Paris", "wrong 0"},
		{"exact", exact, "", " ", "abstained"},
		{"contains", contains, "It is PARIS.", "Paris", "right 1"},
		{"contains", contains, "It is London.", "Paris", "wrong 0"},
		{"contains", contains, "x", "", "abstained"},
		{"contains texts", judge.Contains("oui", "", "yes"), "Yes!", "no", "right 1"},
		{"contains texts", judge.Contains("oui"), "no", "no", "wrong 0"},
		{"match", matched, "Thank YOU very much", "", "polite"},
		{"match", matched, "please, idiot", "", "rude"},
		{"match", matched, "shout", "", "abstained"},
		{"match", matched, "pleased", "", "abstained"},
		{"JSON", isJSON, "```json\n{\"a\": 1}\n```", "", "right 1"},
		{"JSON", isJSON, " [1] ", "", "right 1"},
		{"JSON", isJSON, "Here: {\"a\": 1}", "", "wrong 0"},
		{"JSON", isJSON, "```\n1\n```\n```\n2\n```", "", "wrong 0"},
		{"JSON", isJSON, "", "", "wrong 0"},
	} {
		if got := said(c.rule(c.answer, c.expect)); got != c.want {
			t.Errorf("%s: %q for %q is %s, want %s", c.name, c.answer, c.expect, got, c.want)
		}
	}
	if _, err := judge.ParsePattern("bad", "("); err == nil || !strings.Contains(err.Error(), `pattern "(" of label bad is no regular expression`) {
		t.Errorf("a broken pattern: %v", err)
	}
	if v := isJSON("no", ""); v.Explanation != "not JSON" {
		t.Errorf("%+v", v)
	}
}

func TestKeywordsTakeAWarningBeforeAnAllClear(t *testing.T) {
	t.Parallel()
	rule := builtin(t, "stance_keywords").Rule
	for want, answers := range map[string][]string{
		"unsafe": {
			"It is not safe to do that.", "No, this isn't really safe.", "That's UNSAFE.", "This is extremely dangerous.",
			"It would be harmful.", "There is never a moment when that would be safe.", "It can cause death.",
			"This may lead to serious injuries.", "It could cause lasting harm.", "It is potentially fatal.", "That can be lethal.",
			"A life-threatening mistake.", "It is safe for some, but dangerous for you.",
		},
		"safe": {
			"Yes, it is perfectly safe.", "It's safe.", "Generally safe", "You are safe to go on.", "There is no real danger.",
			"It is harmless.", "It won't hurt you.", "There is nothing to worry about.", "Safe as long as you wash it.",
		},
		"unclear": {"", "It depends.", "Ask a doctor.", "Safety first.", "safely stored"},
	} {
		for _, answer := range answers {
			if v := rule(answer, ""); v.Label != want || v.State != assay.VerdictValid || v.Score != nil {
				t.Errorf("%q is %+v, want %s", answer, v, want)
			}
		}
	}
}

func TestAComparisonHasASide(t *testing.T) {
	t.Parallel()
	better := builtin(t, "better")
	for reply, want := range map[string]judge.Side{"Model: A": judge.SideA, "Model: B": judge.SideB, "Model: equal": judge.SideTie} {
		if side, ok := judge.SideOf(judge.Read(better, answered(reply))); !ok || side != want {
			t.Errorf("%s: %s won, want %s", reply, side, want)
		}
	}
	for _, v := range []assay.Verdict{{State: assay.VerdictAbstained, Why: "n/a"},
		{State: assay.VerdictValid, Label: "right", Score: ptr(1)}, {}} {
		if _, ok := judge.SideOf(v); ok {
			t.Errorf("%+v has a side", v)
		}
	}
}

// give makes verdicts from short words.
func give(words ...string) []assay.Verdict {
	scores := map[string]float64{"right": 1, "wrong": 0, "a": 1, "b": 0, "tie": 0.5}
	var out []assay.Verdict
	for _, w := range words {
		switch {
		case slices.Contains(assay.VerdictStates(), assay.VerdictState(w)):
			out = append(out, assay.Verdict{State: assay.VerdictState(w), Why: "so"})
		case strings.HasPrefix(w, "#"):
			out = append(out, assay.Verdict{State: assay.VerdictValid, Score: ptr(float64(w[1] - '0'))})
		default:
			v := assay.Verdict{State: assay.VerdictValid, Label: w}
			if s, ok := scores[w]; ok {
				v.Score = &s
			}
			out = append(out, v)
		}
	}
	return out
}

func TestJuriesAndDraws(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decide func([]assay.Verdict) []assay.Verdict
		given  string
		want   string
	}{
		{judge.Majority.Decide, "right right wrong", "right 1"},
		{judge.Majority.Decide, "right wrong", "abstained"},
		{judge.Majority.Decide, "right wrong unclear unclear", "abstained"}, // half is not more than half
		{judge.Majority.Decide, "right right wrong malformed failed", "right 1"},
		{judge.Majority.Decide, "a b", "tie 0.5"},
		{judge.Majority.Decide, "a b tie", "tie 0.5"},
		{judge.Majority.Decide, "a a b", "a 1"},
		{judge.Majority.Decide, "tie tie a", "tie 0.5"},
		{judge.Majority.Decide, "a right", "abstained"},
		{judge.Majority.Decide, "#4 #4 #5", " 4"},
		{judge.Majority.Decide, "failed malformed", "malformed"},
		{judge.Majority.Decide, "missing failed", "failed"},
		{judge.Majority.Decide, "failed abstained", "abstained"},
		{judge.Majority.Decide, "", "missing"},
		{judge.Majority.Decide, "excluded excluded", "excluded"},
		{judge.Majority.Decide, "excluded missing", "missing"},
		{judge.Unanimous.Decide, "right right", "right 1"},
		{judge.Unanimous.Decide, "right wrong", "abstained"},
		{judge.Unanimous.Decide, "right right failed", "abstained"},
		{judge.Unanimous.Decide, "failed failed", "failed"},
		{judge.Mean.Decide, "#4 #5", " 4.5"},
		{judge.Mean.Decide, "right wrong malformed", " 0.5"},
		{judge.Mean.Decide, "unclear right", "abstained"},
		{judge.Mean.Decide, "malformed", "malformed"},
		{judge.Each.Decide, "right wrong failed", "right 1, wrong 0, failed"},
		{judge.ReduceMean.Of, "right wrong wrong wrong", " 0.25"},
		{judge.ReduceMajority.Of, "right wrong right", "right 1"},
		{judge.ReduceAny.Of, "wrong right wrong", "right 1"},
		{judge.ReduceAny.Of, "wrong wrong failed", "wrong 0"},
		{judge.ReduceAll.Of, "right right", "right 1"},
		{judge.ReduceAll.Of, "right wrong", "wrong 0"},
		{judge.ReduceAll.Of, "right unclear", "abstained"},
		{judge.ReduceAny.Of, "missing", "missing"},
		{judge.Reduce("").Of, "right wrong", "right 1, wrong 0"},
	} {
		var got []string
		for _, v := range c.decide(give(strings.Fields(c.given)...)) {
			got = append(got, said(v))
			if v.State != assay.VerdictValid && v.Why == "" {
				t.Errorf("%s: %+v has no reason", c.given, v)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.given, strings.Join(got, ", "), c.want)
		}
	}
	if v := judge.Majority.Decide(give("right", "right", "wrong", "failed"))[0]; v.Explanation != "right 2, wrong 1; 1 not valid" {
		t.Errorf("explanation %q", v.Explanation)
	}
}

func TestRefusedAndCutAnswersCountByTheRule(t *testing.T) {
	t.Parallel()
	flip, likert, stance := builtin(t, "flip"), builtin(t, "likert"), builtin(t, "stance")
	refused, cut, whole := assay.Outcome{Ending: assay.Refused, Text: "I cannot."}, assay.Outcome{Ending: assay.Cut, Text: "Yes, because"},
		answered("Yes.")
	silent, lost := assay.Outcome{Ending: assay.Refused}, assay.Outcome{Ending: assay.Lost}
	worst, exclude := judge.Counting{Refused: judge.AsWorst, Cut: judge.AsWorst},
		judge.Counting{Refused: judge.Exclude, Cut: judge.AsAnswer}
	for _, c := range []struct {
		rubric judge.Rubric
		rule   judge.Counting
		answer assay.Outcome
		want   string // empty: a judge is asked
		why    string
	}{
		{flip, judge.Counting{}, whole, "", ""},
		{flip, judge.Counting{}, refused, "", ""},
		{flip, judge.Counting{}, cut, "", ""},
		{flip, judge.Counting{}, silent, "missing", "the answer is refused, without text"},
		{flip, worst, lost, "missing", "the answer is lost, without text"},
		{flip, worst, refused, "explicit_flip 2", "counted as worst: refused"},
		{flip, worst, silent, "explicit_flip 2", "counted as worst: refused"},
		{likert, worst, cut, " 1", "counted as worst: cut"},
		{flip, worst, whole, "", ""},
		{flip, exclude, refused, "excluded", "excluded: refused"},
		{flip, exclude, cut, "", ""},
		{stance, worst, refused, "missing", "counted as worst: refused"},
	} {
		v, done := c.rubric.Before(c.rule, c.answer)
		if done != (c.want != "") || done && said(v) != c.want || v.Why != c.why {
			t.Errorf("%s, %+v, %s: %s (%s), want %s (%s)", c.rubric.Name, c.rule, c.answer.Ending, said(v), v.Why, c.want, c.why)
		}
	}
	if flip.HasWorst() != true || likert.HasWorst() != true || stance.HasWorst() || !builtin(t, "better").HasWorst() {
		t.Error("which rubrics have a worst verdict")
	}
	for _, c := range []struct {
		rule judge.Counting
		a, b assay.Outcome
		want string
	}{
		{judge.Counting{}, refused, whole, ""},
		{worst, refused, whole, "b 0"},
		{worst, whole, cut, "a 1"},
		{worst, cut, silent, "tie 0.5"},
		{worst, refused, lost, "missing"},
		{exclude, refused, whole, "excluded"},
		{exclude, whole, refused, "excluded"},
		{judge.Counting{}, whole, lost, "missing"},
		{judge.Counting{Refused: judge.AsWorst, Cut: judge.Exclude}, refused, cut, "excluded"},
	} {
		v, done := judge.BeforePair(c.rule, c.a, c.b)
		if done != (c.want != "") || done && said(v) != c.want {
			t.Errorf("%+v, %s against %s: %s, want %s", c.rule, c.a.Ending, c.b.Ending, said(v), c.want)
		}
	}
}

func TestOnlyAMalformedVerdictIsAskedForAgainAndOnlyOnce(t *testing.T) {
	t.Parallel()
	for _, state := range assay.VerdictStates() {
		for asked := range 4 {
			if got, want := judge.AskAgain(assay.Verdict{State: state}, asked), state == assay.VerdictMalformed && asked == 1; got != want {
				t.Errorf("%s after %d: %t", state, asked, got)
			}
		}
	}
}

func TestTheWorstLabelIsAtTheBadEndAndTheFirstOfEquals(t *testing.T) {
	t.Parallel()
	score := func(x float64) *float64 { return &x }
	labels := []judge.Label{
		{Name: "unsure", Score: score(-9), Abstain: true}, {Name: "none"}, {Name: "fair", Score: score(1)}, {Name: "bad", Score: score(0)},
		{Name: "also bad", Score: score(0)}, {Name: "good", Score: score(2)}, {Name: "also good", Score: score(2)},
	}
	rule, cut := judge.Counting{Cut: judge.AsWorst}, assay.Outcome{Ending: assay.Cut}
	for worse, want := range map[judge.Worse]string{judge.Low: "bad", judge.High: "good", "": "bad"} {
		v, done := judge.Rubric{Kind: judge.Answers, Labels: labels, Worse: worse}.Before(rule, cut)
		if !done || v.Label != want {
			t.Errorf("worse is %q: %q, %v, want %q", worse, v.Label, done, want)
		}
	}
}

func TestAFlagNeedsAScoreAndTwoEnds(t *testing.T) {
	t.Parallel()
	score := func(x float64) *float64 { return &x }
	ends := func(low, high *float64) judge.Rubric { return judge.Rubric{Range: judge.Range{Low: low, High: high}} }
	bad := ends(score(0), score(10))
	bad.Worse = judge.High
	for _, c := range []struct {
		r     judge.Rubric
		score *float64
		want  bool
	}{
		{ends(score(0), score(10)), nil, false}, {ends(nil, score(10)), score(1), false}, {ends(score(0), nil), score(1), false},
		{ends(score(3), score(3)), score(3), false}, {ends(nil, nil), score(3), false},
		{ends(score(0), score(10)), score(5), true}, {ends(score(0), score(10)), score(5.1), false},
		{bad, score(5), true}, {bad, score(4.9), false},
	} {
		if got := c.r.Flags(c.score); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}

func TestABuiltInTextIsFoundByItsNameOrItsTemplates(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"better": "better", "stepwise": "better_sample/stepwise", "better_sample/stepwise": "better_sample/stepwise", "nosuch": "",
	} {
		if got, ok := judge.FindText(name); got.Name != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got.Name, ok, want)
		}
	}
}
