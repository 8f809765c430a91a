package methods_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// asked is a study of two lanes and a judge that is right in 85%, whose draw people answer.
type asked struct {
	items, drawn int
	say          func(place int, row *analysis.Row) // changes what a person says of the item at a place of the draw
}

func (a asked) report(t *testing.T) *analysis.Report {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 11))
	draw := &analysis.Draw{Seed: 3, Lanes: []string{"one", "two"}, YesNo: true}
	var rows, people []analysis.Row
	var items []analysis.Judgeable
	truth := map[string][2]string{}
	label := map[bool]string{true: "right", false: "wrong"}
	for i := range a.items {
		item, mean := fmt.Sprintf("q%03d", i), 0.0
		var is [2]string
		for k, lane := range draw.Lanes {
			right := r.Float64() < 0.6
			judged := right == (r.Float64() < 0.85)
			if is[k] = label[right]; judged {
				mean += 0.5
			}
			rows = append(rows, said(lane, item, label[judged]))
		}
		truth[item], items = is, append(items, analysis.Judgeable{Item: item, Mean: mean, Places: 1})
	}
	draw.Add(items, 0)
	for place, item := range draw.Order()[:a.drawn] {
		for k, lane := range draw.Lanes {
			row := by("human:anna", said(lane, item, truth[item][k]))
			row.Drawn = true
			if a.say != nil {
				a.say(place, &row)
			}
			people = append(people, row)
		}
	}
	stage := correct()
	stage.Validated, stage.People, stage.Draw = false, []string{"human:anna"}, draw
	return judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))
}

func TestLabelsFromBeforeAPromptChangedDoNotTestIt(t *testing.T) {
	t.Parallel()
	before := func(n int) func(int, *analysis.Row) {
		return func(place int, row *analysis.Row) { row.Earlier = place < n }
	}
	all := board(t, asked{items: 200, drawn: 60}.report(t)).Checked
	none := board(t, asked{200, 30, before(30)}.report(t)).Checked
	some := board(t, asked{200, 60, before(30)}.report(t)).Checked
	if all.Items != 60 || all.State != checked.Checked {
		t.Fatalf("%+v", all)
	}
	const says = "judge being checked: 0 of 40 labels; its prompt was changed after 60 labels, which do not count"
	if none.State != checked.BeingChecked || none.Items != 0 || none.Corrected != nil || none.Words() != says {
		t.Errorf("%+v: %s", none, none.Words())
	}
	if some.State != checked.Checked || some.Items != 30 || some.Labels != 60 || some.Earlier != 60 {
		t.Errorf("%+v", some)
	}
	if wide, narrow := some.Corrected.Values[0].SE.Value, all.Corrected.Values[0].SE.Value; wide <= narrow {
		t.Errorf("half of the labels know it within %v, all of them within %v", wide, narrow)
	}
}

func TestManyItemsThatNobodyCouldTellHaveBounds(t *testing.T) {
	t.Parallel()
	every := func(n int) asked {
		return asked{200, 60, func(place int, row *analysis.Row) {
			if place%n == 0 && row.Lane == "one" {
				row.State, row.Label = "abstained", ""
			}
		}}
	}
	few := board(t, every(30).report(t)).Checked
	if few.LeftOut != 2 || few.Incomplete() || few.Bounds != nil || strings.Contains(few.Words(), "incomplete") {
		t.Errorf("%d left out: %s", few.LeftOut, few.Words())
	}
	r := every(5).report(t)
	many := board(t, r).Checked
	if many.LeftOut != 12 || !many.Incomplete() || len(many.Bounds) != 2 {
		t.Fatalf("%d left out: %v", many.LeftOut, many.Bounds)
	}
	if !strings.Contains(many.Words(),
		"; labels incomplete: 12 of 60 items left out, as a person could not tell (whatever they are: one ") {
		t.Error(many.Words())
	}
	width := func(i stats.Interval) float64 { return i.High - i.Low }
	if one, two := many.Bounds[0], many.Bounds[1]; !one.Contains(many.Corrected.Values[0].Value.Value) ||
		width(one) < 0.1 || width(two) > 0.05 { // a fifth of the labels on the first lane is missing, of the second none
		t.Errorf("%v, %v", one, two)
	}
	if f := find(t, r, analysis.WhatTrueRate, analysis.ByLane, "one"); f.Bounds != many.Bounds[0] {
		t.Errorf("%v in the table", f.Bounds)
	}
}

func TestASmallStudyIsCheckedByAllOfItsItems(t *testing.T) {
	t.Parallel()
	c := board(t, asked{items: 12, drawn: 11}.report(t)).Checked
	if c.State != checked.BeingChecked || c.Progress() != "22 of 24 labels" {
		t.Errorf("%s: %s", c.State, c.Words())
	}
	if c = board(t, asked{items: 12, drawn: 12}.report(t)).Checked; c.State == checked.BeingChecked || !c.Decides() {
		t.Errorf("%s: %s", c.State, c.Words())
	}
	c = board(t, asked{items: 8, drawn: 8}.report(t)).Checked
	if !strings.HasPrefix(c.Words(), "judge cannot be checked: it takes labels in 10 clusters, and there are 8 items") {
		t.Error(c.Words())
	}
}

func TestCorrectedDifferencesStandInTheTable(t *testing.T) {
	t.Parallel()
	r := asked{items: 200, drawn: 60}.report(t)
	b := board(t, r)
	f, d := find(t, r, analysis.WhatTrueGap, analysis.ByLane, "one", analysis.ByAgainst, "two"), b.Tests[0]
	if f.Value != d.Difference || f.Interval != d.Interval || f.P != d.P || f.Clusters != 60 {
		t.Errorf("%+v in the table, %+v on the leaderboard", f, d)
	}
	rate := find(t, r, analysis.WhatRate, analysis.ByLane, "one", analysis.ByJudge, "")
	v := b.Checked.Corrected.Values[0]
	want := fmt.Sprintf("the judge alone; corrected by 120 labels of people: %s (%s to %s)", analysis.Share.Show(v.Value.Value),
		analysis.Share.Show(v.Interval.Low), analysis.Share.Show(v.Interval.High))
	if !strings.Contains(strings.Join(rate.Notes, "; "), want) {
		t.Errorf("%q, want %q", rate.Notes, want)
	}
}

func TestChosenGoldIsShownAndChecksNothing(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.Gold = false, true
	rows := verdictsOf("one", 100, 50)
	var gold []analysis.Row
	for i := range 60 {
		label := "wrong"
		if i < 45 {
			label = "right"
		}
		gold = append(gold, by(analysis.GoldJudge, said("one", fmt.Sprint("q", i), label)))
	}
	r := judgedAgainst(t, stage, analysis.Default(stage), gold, rows)
	b := board(t, r)
	if b.Validated || b.Checked == nil || !b.Checked.Chosen || b.Checked.State != checked.Unchecked || b.Checked.Given != 60 {
		t.Fatalf("%+v", b.Checked)
	}
	const says = "judge unchecked: 60 labels were chosen, not drawn, and correct nothing; it agrees in 91.7% (81.9% to 96.4%)"
	if words := b.Checked.Words(); words != says {
		t.Error(words)
	}
}

// TestAFileThatDeclaresASampleWhichItIsNotCorrectsNothing: the same labels correct where they are drawn, and not where a person labelled
// what the judge calls right.
func TestAFileThatDeclaresASampleWhichItIsNotCorrectsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes func(r *rand.Rand, right int) bool
		want  checked.State
	}{
		"drawn":  {func(r *rand.Rand, _ int) bool { return r.Float64() < 0.3 }, checked.Checked},
		"chosen": {func(r *rand.Rand, right int) bool { return r.Float64() < []float64{0.02, 0.2, 0.6}[right] }, checked.Unchecked},
	} {
		r := rand.New(rand.NewPCG(12, 34))
		label := map[bool]string{true: "right", false: "wrong"}
		var rows, people []analysis.Row
		for i := range 300 {
			item, judged, is := fmt.Sprintf("q%03d", i), 0, [2]bool{}
			for k, lane := range []string{"one", "two"} {
				is[k] = r.Float64() < 0.5
				says := is[k] == (r.Float64() < 0.85)
				if says {
					judged++
				}
				rows = append(rows, said(lane, item, label[says]))
			}
			if !c.takes(r, judged) {
				continue
			}
			for k, lane := range []string{"one", "two"} {
				row := by("human:anna", said(lane, item, label[is[k]]))
				row.Probability = 0.3
				people = append(people, row)
			}
		}
		stage := correct()
		stage.Validated, stage.People = false, []string{"human:anna"}
		b := board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...)))
		const why = "judge unchecked: the file declares a sample of the answers, and its labels are unlike them: the judge's mean is "
		if refused := strings.HasPrefix(b.Checked.Words(), why); b.Checked.State != c.want || refused != (name == "chosen") ||
			b.Corrected() == refused {
			t.Errorf("%s: %s", name, b.Checked.Words())
		}
	}
}
