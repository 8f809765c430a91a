package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
)

// severally is a study of two lanes that two judges judge: one is right in 85%, one favours the first lane. People have labelled 60 items.
// It returns what corrects each judge and their mean, gathered by hand.
func severally(t *testing.T, jury string, specs ...analysis.Spec) (*analysis.Report, map[string]*checked.Corrected) {
	t.Helper()
	const items, drawn = 300, 60
	r := rand.New(rand.NewPCG(5, 9))
	draw := &analysis.Draw{Seed: 4, Lanes: []string{"one", "two"}, YesNo: true}
	label := map[bool]string{true: "right", false: "wrong"}
	samples := map[string]*checked.Sample{}
	for _, name := range []string{"even", "odd", analysis.MeanName} {
		samples[name] = checked.NewSample(2)
	}
	given := map[string][2]map[string]float64{}
	truth := map[string][2]bool{}
	var rows, people []analysis.Row
	var all []analysis.Judgeable
	for i := range items {
		item, mean := fmt.Sprintf("q%03d", i), 0.0
		var is [2]bool
		var of [2]map[string]float64
		for k, lane := range draw.Lanes {
			is[k] = r.Float64() < 0.6
			even, odd := is[k] == (r.Float64() < 0.85), is[k] && r.Float64() < 0.95 || r.Float64() < []float64{0.4, 0.1}[k]
			of[k] = map[string]float64{"even": number(even), "odd": number(odd), analysis.MeanName: (number(even) + number(odd)) / 2}
			for name, x := range of[k] {
				samples[name].Judged(i, k, x)
			}
			mean += of[k][analysis.MeanName] / 2
			rows = append(rows, by("even", said(lane, item, label[even])), by("odd", said(lane, item, label[odd])))
		}
		truth[item], given[item] = is, of
		all = append(all, analysis.Judgeable{Item: item, Mean: mean, Places: 1})
	}
	draw.Add(all, 0)
	labelled := draw.Order()[:drawn]
	weights := draw.Weights(labelled)
	labels := map[string][]checked.Label{}
	for i, item := range labelled {
		for k, lane := range draw.Lanes {
			row := by("human:anna", said(lane, item, label[truth[item][k]]))
			row.Drawn = true
			people = append(people, row)
			for name, x := range given[item][k] {
				var place int
				fmt.Sscanf(item, "q%d", &place)
				labels[name] = append(labels[name], checked.Label{Item: i, Cluster: place, Lane: k, Verdict: x,
					Value: number(truth[item][k]), Weight: weights[item]})
			}
		}
	}
	want := map[string]*checked.Corrected{}
	for name, s := range samples {
		want[name] = s.With(labels[name]).Correct(checked.Options{Scale: checked.YesNo(), Level: 0.965})
	}
	stage := correct()
	stage.Validated, stage.Judges, stage.People, stage.Draw, stage.Jury = false, []string{"even", "odd"}, []string{"human:anna"}, draw, jury
	if specs == nil {
		specs = analysis.Default(stage)
	}
	return judgedAgainst(t, stage, specs, people, append(rows, people...)), want
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func TestTheMeanOfSeveralJudgesIsCorrectedByItsOwnLabels(t *testing.T) {
	t.Parallel()
	report, want := severally(t, "")
	b := board(t, report)
	if !b.Corrected() || !b.Validated || b.Checked.State == checked.Unchecked {
		t.Fatalf("%+v", b.Checked)
	}
	for _, p := range b.Places {
		k := map[string]int{"one": 0, "two": 1}[p.Name]
		v := want[analysis.MeanName].Values[k]
		if math.Abs(p.Value.Value-v.Value.Value) > 1e-12 || math.Abs(p.Interval.Low-v.Interval.Low) > 1e-12 ||
			math.Abs(p.Judge.Value-v.Judge.Value) > 1e-12 {
			t.Errorf("%s: %v %v (alone %v), want %v %v (%v)", p.Name, p.Value, p.Interval, p.Judge, v.Value, v.Interval, v.Judge)
		}
	}
	each := map[string]checked.State{}
	for _, e := range b.Checked.Each {
		each[e.Judge] = e.Checked.State
	}
	if len(each) != 2 || each["even"] != checked.Checked || each["odd"] != checked.FavoursLanes {
		t.Errorf("%v", each)
	}
	const end = "; even alone: checked, off by "
	if words := b.Checked.Words(); !strings.HasPrefix(words, "mean of 2 judges checked") || !strings.Contains(words, end) {
		t.Errorf("%s", words)
	}
}

func TestEachOfSeveralJudgesIsCorrectedByItsOwnLabels(t *testing.T) {
	t.Parallel()
	report, want := severally(t, "", analysis.Spec{Stage: "correct", Method: analysis.Rates, By: []string{analysis.ByJudge}},
		analysis.Spec{Stage: "correct", Method: analysis.Validity},
		analysis.Spec{Stage: "correct", Method: analysis.Ranking, By: []string{analysis.ByJudge}})
	seen := 0
	for _, table := range report.Tables {
		for _, f := range table.Findings {
			c, lane := want[f.Of(analysis.ByJudge)], map[string]int{"one": 0, "two": 1}[f.Of(analysis.ByLane)]
			if c == nil || f.What != analysis.WhatTrueRate && table.Method != analysis.Ranking {
				continue
			}
			seen++
			if v := c.Values[lane]; math.Abs(f.Value.Value-v.Value.Value) > 1e-12 || math.Abs(f.Interval.High-v.Interval.High) > 1e-12 {
				t.Errorf("%s, %v: %v %v, want %v %v", table.Title, f.By, f.Value, f.Interval, v.Value, v.Interval)
			}
		}
	}
	if seen != 10 { // two judges and their mean in one table, two judges in the other, two lanes each
		t.Errorf("%d corrected values", seen)
	}
}

func TestAJuryThatHasToAgreeIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	report, _ := severally(t, analysis.JuryUnanimous)
	c := board(t, report).Checked
	if c.Decides() || c.State != checked.Unchecked || !strings.HasPrefix(c.Words(), "judge unchecked: a jury that decides only where all") {
		t.Errorf("%+v: %s", c, c.Words())
	}
}

func TestLabelsOnALaneThatWasNotJudgedAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	label := map[bool]string{true: "right", false: "wrong"}
	var rows, people []analysis.Row
	for i := range 200 {
		item := fmt.Sprintf("q%03d", i)
		for _, lane := range []string{"one", "two"} {
			is := r.Float64() < 0.6
			if lane == "one" {
				rows = append(rows, said(lane, item, label[is == (r.Float64() < 0.9)]))
			}
			if i%4 == 0 {
				row := by("human:anna", said(lane, item, label[is]))
				row.Probability = 0.25
				people = append(people, row)
			}
		}
	}
	stage := correct()
	stage.Validated, stage.People = false, []string{"human:anna"}
	b := board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...)))
	if c := b.Checked; c.State != checked.Checked || c.Items != 50 || c.Labels != 50 || !b.Corrected() || !b.Places[0].Judge.OK {
		t.Errorf("%s: %+v", b.Checked.Words(), b.Places)
	}
	one, two := b.Checked.Corrected.Values[0], b.Checked.Corrected.Values[1]
	if b.Checked.LabelsOf(0) != 50 || !one.Value.OK || two.Value.OK || two.Value.Why != "no verdicts" {
		t.Errorf("%d labels: %+v, %+v", b.Checked.LabelsOf(0), one, two)
	}
}
