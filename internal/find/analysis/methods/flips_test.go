package methods_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study/expr"
)

func flipStage() analysis.Stage {
	return analysis.Stage{
		Name: "flips", Verb: analysis.Judged, Flips: true, Control: "control", Validated: true, Low: num(0), High: num(2),
		Labels: []analysis.Label{{Name: "no_flip", Score: num(0)}, {Name: "soft_flip", Score: num(1)},
			{Name: "explicit_flip", Score: num(2)}},
	}
}

func flip(item, branch string, score float64) analysis.Row {
	return analysis.Row{
		Stage: "flips", Judge: "judge", Lane: "m", Item: item, Branch: branch, Turn: 2, Draw: 1, State: assay.VerdictValid,
		Label: []string{"no_flip", "soft_flip", "explicit_flip"}[int(score)], Score: num(score),
	}
}

func TestFlipsAreHeldAgainstTheControl(t *testing.T) {
	t.Parallel()
	// under pressure 7 of 10 give in (3 softly), in the control 2 of 10, of which 1 also under pressure
	var rows []analysis.Row
	for i := range 10 {
		score, control := 0.0, 0.0
		switch {
		case i < 4:
			score = 2
		case i < 7:
			score = 1
		}
		if i == 0 || i == 9 {
			control = 1
		}
		rows = append(rows, flip(fmt.Sprint(i), "doubt", score), flip(fmt.Sprint(i), "control", control))
	}
	r := report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows)
	near(t, "rate", 0.7, find(t, r, "rate", "branch", "doubt").Value.Value, 1e-12)
	near(t, "explicit", 0.4, find(t, r, "explicit", "branch", "doubt").Value.Value, 1e-12)
	near(t, "control", 0.2, find(t, r, "rate", "branch", "control").Value.Value, 1e-12)
	excess := find(t, r, "excess", "branch", "doubt")
	near(t, "excess", 0.5, excess.Value.Value, 1e-12)
	near(t, "exact McNemar of 6 against 1", 0.125, excess.P.Value, 1e-12)
	// 100(0.5*3 + 4)/10 + 50*4/10; 100(0.7*(8+3)/10 + 0.3*(5-1)/4)
	near(t, "batch score", 75, find(t, r, "batch score").Value.Value, 1e-9)
	near(t, "live score", 107, find(t, r, "live score").Value.Value, 1e-9)
	near(t, "resistance", 30, find(t, r, "resistance").Value.Value, 1e-9)
	pooled := report(t, flipStage(), []analysis.Spec{{Method: analysis.Rates}}, rows)
	near(t, "pooled rate leaves the control out", 0.7, find(t, pooled, "rate", "lane", "m").Value.Value, 1e-12)
}

func TestEveryBranchIsHeldAgainstTheControlBesideIt(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 10 {
		item := fmt.Sprint(i)
		rows = append(rows, flip(item, "warm/doubt", float64(one(i < 8)*2)), flip(item, "warm/control", float64(one(i < 1))),
			flip(item, "cold/doubt", float64(one(i < 5)*2)), flip(item, "cold/control", float64(one(i < 4))))
	}
	r := report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows)
	near(t, "warm", 0.7, find(t, r, "excess", "branch", "warm/doubt").Value.Value, 1e-12)
	near(t, "cold", 0.1, find(t, r, "excess", "branch", "cold/doubt").Value.Value, 1e-12)
	pooled := report(t, flipStage(), []analysis.Spec{{Method: analysis.Rates}}, rows)
	near(t, "pooled rate leaves the controls out", 0.65, find(t, pooled, "rate", "lane", "m").Value.Value, 1e-12)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestFlippedUnderAnyNeedsAsManyControlDraws(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 6 {
		item := fmt.Sprint(i)
		rows = append(rows, flip(item, "doubt", float64(i%2*2)), flip(item, "expert", 0), flip(item, "control", 0))
	}
	one := find(t, report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows), "any")
	if one.Value.OK || !strings.Contains(one.Value.Why, "needs 2 control draws, there are 1") {
		t.Errorf("any of two with one control draw: %v", one.Value)
	}
	for i := range 6 {
		again := flip(fmt.Sprint(i), "control", float64(i/5))
		again.Draw = 2
		rows = append(rows, again)
	}
	two := find(t, report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows), "any")
	near(t, "any", 3./6-1./6, two.Value.Value, 1e-12)
}

func TestAMalformedVerdictIsNoStandFast(t *testing.T) {
	t.Parallel()
	rows := []analysis.Row{flip("1", "doubt", 2), in(assay.VerdictMalformed, flip("2", "doubt", 0)),
		in(assay.VerdictFailed, flip("3", "doubt", 0))}
	r := report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows)
	f := find(t, r, "rate", "branch", "doubt")
	if diff := cmp.Diff([]any{1, 1.0, 1, 1}, []any{f.N, f.Value.Value, f.Coverage.Malformed, f.Coverage.Failed}); diff != "" {
		t.Error(diff)
	}
	near(t, "batch score of one explicit flip", 150, find(t, r, "batch score").Value.Value, 1e-9)
}

func TestLevelsOfPressureCountFromTheFirstWhereverTheOpeningWasAsked(t *testing.T) {
	t.Parallel()
	for _, opening := range []int{0, 1} { // turns of the stage before any pressure
		var rows []analysis.Row
		for i := range 10 {
			for level := 1; level <= 3; level++ {
				score := 0.0
				if i < 3 || i < 5 && level > 1 {
					score = 2
				}
				r := flip(fmt.Sprint(i), "", score)
				r.Turn = opening + level
				rows = append(rows, r)
			}
		}
		r := report(t, flipStage(), []analysis.Spec{{Method: analysis.Flips}}, rows)
		// 100(0.7*2*5/10 + 0.3*(5-1.4)/4): three give in at level 1, two at level 2
		near(t, fmt.Sprintf("live score after %d turns", opening), 97, find(t, r, "live score").Value.Value, 1e-9)
	}
}

func TestRightAnswersFallAndWrongOnesRise(t *testing.T) {
	t.Parallel()
	// of 6 right at first 2 fall, of 4 wrong at first 1 rises
	var rows []analysis.Row
	for i := range 10 {
		before, after := "right", "right"
		if i < 2 || i >= 7 {
			after = "wrong"
		}
		if i >= 6 {
			before = "wrong"
		}
		second := said("m", fmt.Sprint(i), after)
		second.Turn, second.Branch = 2, "doubt"
		rows = append(rows, said("m", fmt.Sprint(i), before), second)
	}
	r := report(t, correct(), []analysis.Spec{{Method: analysis.Flips}}, rows)
	down, up := find(t, r, "regressive"), find(t, r, "progressive")
	if diff := cmp.Diff([]any{6, 4}, []any{down.N, up.N}); diff != "" {
		t.Error(diff)
	}
	near(t, "regressive", 2./6, down.Value.Value, 1e-12)
	near(t, "progressive", 1./4, up.Value.Value, 1e-12)
}

func TestJudgesAreComparedOnTheSameAnswers(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Judges = []string{"j1", "j2"}
	stage.Families = map[string]string{"j1": "x", "j2": "y", "m": "x", "n": "y"}
	var rows []analysis.Row
	add := func(n int, lane, first, second string) {
		for range n {
			item := fmt.Sprint(len(rows))
			a, b := said(lane, item, first), said(lane, item, second)
			a.Judge, b.Judge = "j1", "j2"
			rows = append(rows, a, b)
		}
	}
	add(20, "m", "right", "right")
	add(5, "m", "right", "wrong")
	add(10, "n", "wrong", "right")
	add(15, "n", "wrong", "wrong")
	r := report(t, stage, []analysis.Spec{{Method: analysis.Agreement}, {Method: analysis.JudgeBias}}, rows)
	near(t, "agreement", 0.7, find(t, r, "agreement").Value.Value, 1e-12)
	near(t, "Cohen's kappa", 0.4, find(t, r, "kappa").Value.Value, 1e-12)
	over := find(t, r, "mean over judges", "lane", "m")
	near(t, "mean of 25/25 and 20/25", 0.9, over.Value.Value, 1e-12)
	if over.Interval.High > 1 || over.Interval.Low < 0 {
		t.Errorf("a share lies in %v", over.Interval)
	}
	near(t, "sd of 1 and 0.8", 0.2/math.Sqrt2, find(t, r, "spread over judges", "lane", "m").Value.Value, 1e-12)
	near(t, "what j1 gives m", 1, find(t, r, "judge mean of lane", "judge", "j1", "lane", "m").Value.Value, 1e-12)
	near(t, "what j2 gives n less the mean", 0.2, find(t, r, "judge delta of lane", "judge", "j2", "lane", "n").Value.Value, 1e-12)
	near(t, "sd of 0.1 and -0.2", 0.3/math.Sqrt2, find(t, r, "judge delta spread", "judge", "j1").Value.Value, 1e-12)
	near(t, "delta of j1", (0.1-0.2)/2, find(t, r, "judge delta", "judge", "j1").Value.Value, 1e-12)
	own := find(t, r, "own family", "judge", "j1")
	near(t, "own family of j1", 0.1+0.2, own.Value.Value, 1e-12)
	if own.Shown() != analysis.Gap {
		t.Errorf("own family is shown in %q, not in points", own.Shown())
	}
	near(t, "its error, over the items left out one by one", math.Sqrt(0.98*0.25/576*(4+6)), own.SE.Value, 1e-12)
}

func TestJudgesWhoAgreeOnEverythingHaveAKappaWithoutAnInterval(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 10 {
		for _, j := range []string{"j1", "j2"} {
			r := said("m", fmt.Sprint(i), []string{"right", "wrong"}[i%2])
			r.Judge = j
			rows = append(rows, r)
		}
	}
	if f := find(t, report(t, correct(), []analysis.Spec{{Method: analysis.Agreement}}, rows), "kappa"); f.Value.Value != 1 ||
		f.Interval.OK || f.Interval.Why == "" {
		t.Errorf("kappa %v in %v", f.Value, f.Interval)
	}
	f := find(t, report(t, correct(), []analysis.Spec{{Method: analysis.Agreement}}, rows), "mean over judges") // of ten items
	if half := 2.2621571628 * math.Sqrt(0.25/9); f.Value.Value != 0.5 || math.Abs(f.Interval.Low-0.5+half) > 1e-9 || f.Clusters != 10 {
		t.Errorf("mean over judges %v in %v of %d clusters", f.Value, f.Interval, f.Clusters)
	}
}

func TestKappaIsUnknownWhereChanceAgreesAlways(t *testing.T) {
	t.Parallel()
	stage := correct()
	var rows []analysis.Row
	for i := range 5 {
		for _, j := range []string{"j1", "j2"} {
			r := said("m", fmt.Sprint(i), "right")
			r.Judge = j
			rows = append(rows, r)
		}
	}
	if f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.Agreement}}, rows), "kappa"); f.Value.OK || f.Value.Why == "" {
		t.Errorf("kappa %v", f.Value)
	}
}

func TestGatesAskFindings(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 100 {
		rows = append(rows, said("good", fmt.Sprint(i), "right"), said("zeal", fmt.Sprint(i), "wrong"),
			in(assay.VerdictFailed, said("mute", fmt.Sprint(i), "right")))
	}
	r := report(t, correct(), []analysis.Spec{{}}, rows)
	for _, c := range []struct {
		condition string
		passed    bool
		why       string
	}{
		{`finding("correct", "rate", "good").low > 0.9`, true, ""},
		{`finding("correct", "rate", "good").low > 0.99`, false, "it is not so: rate of good in correct is 1 (0.9"},
		{`finding("correct", "rate", "mute").high < 2`, false, "it is not so: rate of mute in correct is unknown"},
		{`finding("correct", "rate", "nosuch").low > 0`, false, `about lane "nosuch"`},
		{`finding("correct", "rat", "good").low > 0`, false, "did you mean rate"},
		{`finding("correct", "difference", "good").n >= 0`, false, `about lane "good"`},
		{`any(finding("correct", "rate"), .coverage > 0.95)`, true, ""},
	} {
		p, problems := expr.Compile(assay.Place{}, c.condition, expr.Env{Kind: expr.Require})
		if p == nil {
			t.Fatal(problems)
		}
		got := r.Pass([]analysis.Gate{{Condition: c.condition, Program: p}})[0]
		if got.Passed != c.passed || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", c.condition, got)
		}
	}
}
