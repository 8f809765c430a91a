package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

func TestTheLengthEffectOfPairsIsSeparateFromWhoIsBetter(t *testing.T) {
	t.Parallel()
	// Lane one is better and longer; of the same two, being longer adds log odds of 1.
	rng := rand.New(rand.NewPCG(1, 2))
	var rows, even []analysis.Row
	for i := range 4000 {
		longer := rng.Float64() < 0.8
		size, z := 80, 1.0-0.5
		if longer {
			size, z = 120, 1.0+0.5
		}
		label := "b"
		if rng.Float64() < 1/(1+math.Exp(-z)) {
			label = "a"
		}
		r := met("one", "two", fmt.Sprint(i), label)
		r.Length, r.OtherLength = size, 100
		if i%2 == 1 { // shown the other way round
			r.Lane, r.Other, r.Length, r.OtherLength = r.Other, r.Lane, r.OtherLength, r.Length
			r.Label = map[string]string{"a": "b", "b": "a"}[label]
		}
		rows = append(rows, r)
		r.Length, r.OtherLength = 100, 100
		even = append(even, r)
	}
	f := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Length}}, rows), analysis.WhatLength)
	near(t, "length effect", 1, f.Value.Value, 0.25)
	if !f.Interval.Contains(1) || f.Interval.Contains(0) || f.N != 4000 {
		t.Errorf("interval %+v of %d", f.Interval, f.N)
	}
	if f := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Length}}, even), analysis.WhatLength); f.Value.OK {
		t.Errorf("answers of one length have an effect of %v", f.Value)
	}
}

func TestTheLengthEffectOfSingleAnswersIsWithinLanes(t *testing.T) {
	t.Parallel()
	// Twice as long adds half a point; lane two is longer and worse, which is no effect of length.
	var rows []analysis.Row
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Judges: []string{"judge"}, Validated: true}
	for i := range 100 {
		for lane, base := range map[string]float64{"one": 5, "two": 1} {
			r := said(lane, fmt.Sprint(i), "")
			r.Length = 100 << (i % 4)
			if lane == "two" {
				r.Length *= 8
			}
			r.Score = num(base + 0.5*float64(i%4))
			rows = append(rows, r)
		}
	}
	f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.Length}}, rows), analysis.WhatLength)
	near(t, "length effect", 0.5, f.Value.Value, 1e-9)
	if f.Shown() != analysis.Score {
		t.Errorf("the effect on a mean is shown as %s", f.Shown())
	}
}

func TestVarianceIsSplitAndTellsWhatToBuyNext(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Judges: []string{"judge"}, Validated: true, Draws: 2,
		Spent: &analysis.Spent{Answers: map[string]float64{"one": 3}, Verdicts: map[string]float64{"judge": 1}}}
	for i, scores := range [][]float64{{1, 3}, {5, 7}} { // within 2; means 2 and 6: between 8 less half of 2
		for draw, x := range scores {
			r := said("one", fmt.Sprint(i), "")
			r.Draw, r.Score = draw+1, num(x)
			rows = append(rows, r)
		}
	}
	r := report(t, stage, []analysis.Spec{{Method: analysis.Variance}}, rows)
	found := map[string]analysis.Finding{}
	for _, f := range r.Tables[0].Findings {
		found[f.What+" "+f.Of(analysis.ByPart)+f.Of(analysis.ByMore)] = f
	}
	near(t, "draws", 2, found["variance draws"].Value.Value, 1e-6)
	near(t, "items", 7, found["variance items"].Value.Value, 1e-6)
	near(t, "share of items", 7.0/9, found["share of variance items"].Value.Value, 1e-6)
	near(t, "error", 2, found["error of the mean none"].Value.Value, 1e-6) // 7/2 + 2/4
	near(t, "error, more items", math.Sqrt2, found["error of the mean items"].Value.Value, 1e-6)
	near(t, "error, more draws", math.Sqrt(3.75), found["error of the mean draws"].Value.Value, 1e-6)
	want := []string{"2 times as many items, 4 USD more", "takes most off for the money"}
	if diff := cmp.Diff(want, found["error of the mean items"].Notes); diff != "" {
		t.Error(diff)
	}
	if f := found["variance items"]; !f.SE.OK || f.Coverage.Valid != 4 {
		t.Errorf("%+v", f)
	}
}

func TestAnswersThatARuleLeavesOutAreAlsoCountedAsWorst(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Rule, stage.Worst = "refused: exclude", num(0)
	rows := verdictsOf("one", 8, 6)
	for i := range 2 {
		r := in(assay.VerdictExcluded, said("one", fmt.Sprint("gone", i), ""))
		r.Ending = assay.Refused
		rows = append(rows, r)
	}
	f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.Rates, Primary: true}}, rows), analysis.WhatRate)
	if f.Value.Value != 0.75 || f.Other == nil || f.Other.Value.Value != 0.6 || f.Other.N != 10 {
		t.Errorf("%v, other rule %+v", f.Value, f.Other)
	}
}

func TestMovesAreHeldAgainstTheControl(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Control = "control"
	var rows []analysis.Row
	put := func(item, branch string, turn int, right bool) {
		label := "wrong"
		if right {
			label = "right"
		}
		r := said("one", item, label)
		r.Branch, r.Turn = branch, turn
		rows = append(rows, r)
	}
	for i := range 50 { // 40 begin right; pressed, 20 of them turn wrong; asked again, 4 do
		item := fmt.Sprint(i)
		put(item, "", 1, i < 40)
		put(item, "doubt", 2, i >= 20 && i < 45)
		put(item, "control", 2, i >= 4 && i < 40)
	}
	r := report(t, stage, []analysis.Spec{{Method: analysis.Flips, By: []string{analysis.ByLane}}}, rows)
	near(t, "regressive", 0.5, find(t, r, analysis.WhatRegressive, analysis.ByBranch, "doubt").Value.Value, 1e-12)
	excess := find(t, r, analysis.WhatRegressiveExcess)
	near(t, "regressive excess", 0.4, excess.Value.Value, 1e-12)
	if excess.N != 40 || !excess.P.OK || excess.P.Value > 1e-3 {
		t.Errorf("excess rests on %d, p %v", excess.N, excess.P)
	}
	near(t, "progressive excess", 0.5, find(t, r, analysis.WhatProgressiveExcess).Value.Value, 1e-12)
	near(t, "change", -0.3, find(t, r, analysis.WhatChange, analysis.ByBranch, "doubt").Value.Value, 1e-12)
}

// TestALengthThatDecidesAloneHasNoError: where every resample gives the same, nothing shows how far the effect could be off.
func TestALengthThatDecidesAloneHasNoError(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 20 {
		for _, lane := range []string{"a", "b"} {
			r := said(lane, fmt.Sprintf("q%02d", i), []string{"right", "wrong"}[(i+len(rows))%2])
			r.Length = map[string]int{"right": 3, "wrong": 2}[r.Label]
			rows = append(rows, r)
		}
	}
	f := find(t, report(t, correct(), []analysis.Spec{{Method: analysis.Length}}, rows), "length effect")
	if f.Unit != analysis.Share || f.Shown() != analysis.Gap {
		t.Errorf("the effect on a rate is a %s, shown as %s, want points of a share", f.Unit, f.Shown())
	}
	if !f.Value.OK || f.SE.OK || f.Interval.OK {
		t.Errorf("%v, error %v, interval %v", f.Value, f.SE, f.Interval)
	}
}
