package methods_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// labelled is a study of two lanes that people find as good as each other, of which the judge calls more right in the first, by so much.
// People have labelled so many items as they were drawn.
type labelled struct {
	items, drawn int
	right        float64 // of either lane
	sens, spec   [2]float64
	specs        []analysis.Spec // none: the usual ones
	sure         *float64        // of each verdict
	weighed      bool            // scores are means by how likely labels were
	spent        *analysis.Spent // nil: not known
}

func (l labelled) report(t *testing.T, seed uint64) *analysis.Report {
	t.Helper()
	r := rand.New(rand.NewPCG(34, seed))
	label := func(right bool) string {
		if right {
			return "right"
		}
		return "wrong"
	}
	lanes := []string{"one", "two"}
	draw := &analysis.Draw{Seed: seed, Lanes: lanes, YesNo: true}
	truth := map[string][2]bool{}
	var rows []analysis.Row
	var items []analysis.Judgeable
	for i := range l.items {
		item, sum := fmt.Sprintf("q%03d", i), 0.0
		var is [2]bool
		for k, lane := range lanes {
			is[k] = r.Float64() < l.right
			yes := is[k] && r.Float64() < l.sens[k] || !is[k] && r.Float64() >= l.spec[k]
			if yes {
				sum += 0.5
			}
			row := said(lane, item, label(yes))
			row.Confidence = l.sure
			if l.weighed {
				row.Score = num(0.2 + 0.6**row.Score)
			}
			row.Fields = map[string]string{"topic": fmt.Sprint(i % 2)}
			rows = append(rows, row)
		}
		truth[item] = is
		items = append(items, analysis.Judgeable{Item: item, Mean: sum, Places: 1})
	}
	draw.Add(items, 0)
	var people []analysis.Row
	for _, item := range draw.Order()[:l.drawn] {
		for k, lane := range lanes {
			row := by("human:anna", said(lane, item, label(truth[item][k])))
			row.Drawn = true
			people = append(people, row)
		}
	}
	stage := correct()
	stage.Validated, stage.People, stage.Draw, stage.Spent, stage.Weighed = false, []string{"human:anna"}, draw, l.spent, l.weighed
	specs := l.specs
	if specs == nil {
		specs = analysis.Default(stage)
	}
	return judgedAgainst(t, stage, specs, people, append(rows, people...))
}

// board returns the leaderboard of lanes.
func board(t *testing.T, r *analysis.Report) analysis.Leaderboard {
	t.Helper()
	for _, b := range r.Leaderboards {
		if b.Field == analysis.ByLane {
			return b
		}
	}
	t.Fatal("no leaderboard")
	return analysis.Leaderboard{}
}

func TestAJudgeThatFavoursALaneClaimsNothingOnceItWasChecked(t *testing.T) {
	t.Parallel()
	favours := labelled{items: 400, drawn: 60, right: 0.7, sens: [2]float64{0.98, 0.85}, spec: [2]float64{0.6, 0.85}}
	const studies = 100
	alone, corrected, named := 0, 0, 0
	for seed := range uint64(studies) {
		for _, drawn := range []int{0, favours.drawn} {
			study := favours
			study.drawn = drawn
			b := board(t, study.report(t, seed))
			apart, _ := b.Apart()
			switch {
			case drawn == 0 && len(apart) > 0:
				alone++
			case drawn > 0 && len(apart) > 0:
				corrected++
			}
			if drawn > 0 && b.Checked.State == checked.FavoursLanes {
				named++
			}
		}
	}
	if alone < 90 || corrected > 10 || named < 80 {
		t.Errorf("of %d studies the judge alone claims a difference in %d, the corrected numbers in %d; that it favours is named in %d",
			studies, alone, corrected, named)
	}
}

func TestAJudgesStateFollowsFromDrawnLabels(t *testing.T) {
	t.Parallel()
	good, coin := [2]float64{0.9, 0.9}, [2]float64{0.5, 0.5}
	for name, c := range map[string]struct {
		study labelled
		state checked.State
		words string
	}{
		"no label": {labelled{200, 0, 0.6, good, good, nil, nil, false, nil}, checked.Unchecked, "judge unchecked"},
		"two labels": {labelled{200, 1, 0.6, coin, coin, nil, nil, false, nil}, checked.BeingChecked,
			"judge being checked: 2 of 40 labels"},
		"six labels": {labelled{200, 3, 0.6, coin, coin, nil, nil, false, nil}, checked.BeingChecked,
			"judge being checked: 6 of 40 labels, agrees in "},
		"a coin": {labelled{200, 60, 0.6, coin, coin, nil, nil, false, nil}, checked.NoBetter,
			"judge not shown to be better than chance: wrong in "},
		"a good one": {labelled{200, 60, 0.6, good, good, nil, nil, false, nil}, checked.Checked, "judge checked: wrong in "},
	} {
		b := board(t, c.study.report(t, 5))
		if b.Checked == nil || b.Checked.State != c.state || !strings.HasPrefix(b.Checked.Words(), c.words) {
			t.Errorf("%s: %+v: %s", name, b.Checked, b.Checked.Words())
		}
		if strings.Contains(b.Checked.Words(), "(100.0% to 100.0%)") {
			t.Errorf("%s: certain by no interval: %s", name, b.Checked.Words())
		}
		if b.Validated != (c.state == checked.NoBetter || c.state == checked.Checked) {
			t.Errorf("%s: validated %v", name, b.Validated)
		}
	}
}

func TestCorrectedValuesStandBesideTheJudges(t *testing.T) {
	t.Parallel()
	r := labelled{400, 60, 0.7, [2]float64{0.98, 0.85}, [2]float64{0.6, 0.85}, nil, nil, false, nil}.report(t, 1)
	b := board(t, r)
	for _, p := range b.Places {
		f := find(t, r, analysis.WhatTrueRate, analysis.ByLane, p.Name)
		if f.Value != p.Value || f.Interval != p.Interval {
			t.Errorf("%s: %v in the table, %v on the leaderboard", p.Name, f.Value, p.Value)
		}
		judge := find(t, r, analysis.WhatRate, analysis.ByLane, p.Name, analysis.ByJudge, "")
		if p.Judge != judge.Value || p.Judge == p.Value {
			t.Errorf("%s: the judge alone says %v, kept is %v", p.Name, judge.Value, p.Judge)
		}
	}
	d := b.Tests[0]
	if first, second := b.Places[d.First].Value.Value, b.Places[d.Second].Value.Value; d.Difference.Value != first-second {
		t.Errorf("a difference of %v between %v and %v", d.Difference, first, second)
	}
}

func TestLabelsThatPeopleChoseCorrectNothing(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Validated, stage.People = false, []string{"human:anna"}
	rows := verdictsOf("one", 100, 60)
	var people []analysis.Row
	for i := range 40 {
		people = append(people, by("human:anna", said("one", fmt.Sprint("q", i), "wrong")))
	}
	r := judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))
	for _, table := range r.Tables {
		for _, f := range table.Findings {
			if f.What == analysis.WhatTrueRate {
				t.Errorf("corrected: %+v", f)
			}
		}
	}
}

func TestOnlyCorrectedNumbersCarryATierWhereTheJudgeFavoursALane(t *testing.T) {
	t.Parallel()
	study := labelled{items: 400, drawn: 60, right: 0.7, sens: [2]float64{0.98, 0.85}, spec: [2]float64{0.6, 0.85},
		specs: []analysis.Spec{{Method: analysis.Rates, Primary: true}, {Method: analysis.Ranking}, {Method: analysis.Validity},
			{Method: analysis.JudgeBias}, {Method: analysis.Ranking, By: []string{"topic"}}}}
	r := study.report(t, 1)
	b := board(t, r)
	if b.Checked.State != checked.FavoursLanes || len(b.Checked.OnLanes) != 2 || !b.Checked.Alike.OK {
		t.Fatalf("%+v", b.Checked)
	}
	for _, table := range r.Tables {
		for _, l := range table.Leaderboards {
			if apart, tested := l.Apart(); len(apart) > 0 || (len(l.By) > 0 && !table.People) == tested {
				t.Errorf("%s by %v: apart %v, tested %v", table.Title, l.By, apart, tested)
			}
		}
		for _, f := range table.Findings {
			switch {
			case f.What == analysis.WhatDifference && !table.People && (f.P.OK || f.Holm.OK):
				t.Errorf("a difference by the judge alone is claimed: %+v", f)
			case table.Method == analysis.Ranking && len(f.By) == 1 && f.Value.Value == b.Places[0].Judge.Value:
				t.Errorf("a place by the judge alone: %+v", f)
			}
		}
	}
	// wrong: .7*.02+.3*.4 and .15; more than people: .3*.4-.7*.02 and .3*.15-.7*.15
	for i, want := range []struct{ wrong, bias float64 }{{0.134, 0.106}, {0.15, -0.06}} {
		e := b.Checked.OnLanes[i]
		if e.Labels != 60 || !e.ErrorInterval.Contains(want.wrong) || !e.BiasInterval.Contains(want.bias) || !e.FavourInterval.OK {
			t.Errorf("lane %d: %+v", i, e)
		}
	}
	found := map[string]int{}
	for _, table := range r.Tables {
		for _, f := range table.Findings {
			found[f.What]++
		}
	}
	if found[analysis.WhatWrong] != 2 || found[analysis.WhatBias] != 2 || found[analysis.WhatFavours] != 2 {
		t.Errorf("%v", found)
	}
}

// TestWhatOnePersonDecidesReplacesLabelsThatDiffer: two people differ on every answer, and a third says what the judge says.
func TestWhatOnePersonDecidesReplacesLabelsThatDiffer(t *testing.T) {
	t.Parallel()
	for _, decided := range []bool{false, true} {
		draw := &analysis.Draw{Seed: 3, Lanes: []string{"one", "two"}, YesNo: true}
		var rows, people []analysis.Row
		var items []analysis.Judgeable
		words := []string{"right", "wrong"}
		for i := range 60 {
			item := fmt.Sprintf("q%02d", i)
			items = append(items, analysis.Judgeable{Item: item, Mean: float64(i % 2), Places: 1})
			for _, lane := range draw.Lanes {
				rows = append(rows, said(lane, item, words[i%2]))
				for k, name := range []string{"human:anna", "human:zoe", "human:carol"} {
					row := by(name, said(lane, item, words[(i+k)%2]))
					if row.Drawn = true; name == "human:carol" {
						row.Drawn, row.Adjudicated = false, true
					}
					if decided || !row.Adjudicated {
						people = append(people, row)
					}
				}
			}
		}
		draw.Add(items, 0)
		stage := correct()
		stage.Validated, stage.People, stage.Draw = false, []string{"human:anna", "human:zoe", "human:carol"}, draw
		c := board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))).Checked
		want := 0.5
		if decided {
			want = 0
		}
		if c == nil || c.Error.Value != want || c.Labels != 120 {
			t.Errorf("decided %v: %+v, want an error of %g on 120 labels", decided, c, want)
		}
	}
}

// TestAJuryIsTheJudgeThatIsChecked: what two judges decide together is wrong in one lane, and labels of people correct it.
func TestAJuryIsTheJudgeThatIsChecked(t *testing.T) {
	t.Parallel()
	draw := &analysis.Draw{Seed: 3, Lanes: []string{"one", "two"}, YesNo: true}
	var rows, people []analysis.Row
	var items []analysis.Judgeable
	words := []string{"right", "wrong"}
	for i := range 60 {
		item := fmt.Sprintf("q%02d", i)
		items = append(items, analysis.Judgeable{Item: item, Mean: float64(i % 2), Places: 1})
		for _, lane := range draw.Lanes {
			is := words[i%2]
			for _, judge := range []string{"mini", "nano", analysis.JuryName} {
				row := by(judge, said(lane, item, is))
				if judge == analysis.JuryName {
					if row.Decided = true; lane == "two" && i%4 == 0 {
						row.Label = "wrong"
					}
				}
				rows = append(rows, row)
			}
			label := by("human:anna", said(lane, item, is))
			label.Drawn = true
			people = append(people, label)
		}
	}
	draw.Add(items, 0)
	stage := correct()
	stage.Validated, stage.People, stage.Draw = false, []string{"human:anna"}, draw
	stage.Judges, stage.Jury, stage.Decided = []string{"mini", "nano"}, "majority", true
	b := board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...)))
	if b.Checked == nil || b.Checked.Error.Value != 0.125 || b.Checked.Labels != 120 {
		t.Fatalf("%+v, want the jury's error of 12.5%% on 120 labels", b.Checked)
	}
	for _, p := range b.Places {
		if p.Value.Value != 0.5 || p.Name == "two" && p.Judge.Value != 0.25 {
			t.Errorf("%s: %+v, the jury alone %+v; want 0.5, and 0.25 of two", p.Name, p.Value, p.Judge)
		}
	}
}

// TestScoresWithoutLabelsAreCorrected: the judge gives every answer one more than people, of numbers without names.
func TestScoresWithoutLabelsAreCorrected(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 1))
	draw := &analysis.Draw{Seed: 3, Lanes: []string{"one", "two"}}
	var rows, people []analysis.Row
	var items []analysis.Judgeable
	sum := map[string]float64{}
	truth := map[string][2]float64{}
	score := func(lane, item string, x float64) analysis.Row {
		row := said(lane, item, "")
		row.Score = &x
		return row
	}
	for i := range 200 {
		item := fmt.Sprintf("q%03d", i)
		own := [2]float64{float64(1 + r.IntN(4)), float64(1 + r.IntN(4))}
		truth[item] = own
		for k, lane := range draw.Lanes {
			rows = append(rows, score(lane, item, own[k]+1))
			sum[lane] += own[k] / 200
		}
		items = append(items, analysis.Judgeable{Item: item, Mean: (own[0] + own[1]) / 2, Places: 1})
	}
	draw.Add(items, 0)
	for _, item := range draw.Order()[:60] {
		for k, lane := range draw.Lanes {
			row := by("human:anna", score(lane, item, truth[item][k]))
			row.Drawn = true
			people = append(people, row)
		}
	}
	stage := correct()
	stage.Labels, stage.Low, stage.High, stage.Whole = nil, num(1), num(5), true
	stage.Validated, stage.People, stage.Draw = false, []string{"human:anna"}, draw
	report := judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))
	b := board(t, report)
	if b.Checked == nil || b.Checked.State != checked.Checked || b.Checked.Error.Value != 1 || b.Checked.Bias.Value != 1 {
		t.Fatalf("%+v", b.Checked)
	}
	for _, p := range b.Places {
		f := find(t, report, analysis.WhatTrueRate, analysis.ByLane, p.Name)
		near(t, p.Name, sum[p.Name], p.Value.Value, 1e-9) // what people say is the judge's word less one
		near(t, "the judge of "+p.Name, sum[p.Name]+1, p.Judge.Value, 1e-9)
		if f.Value != p.Value || f.Unit != analysis.Score {
			t.Errorf("%s: %+v in the table", p.Name, f)
		}
	}
}

// TestALabelHasItsPriceInVerdicts: 800 judged answers cost $8, so that a label is worth a cent for each verdict.
func TestALabelHasItsPriceInVerdicts(t *testing.T) {
	t.Parallel()
	right := [2]float64{0.85, 0.85}
	for price, spent := range map[string]*analysis.Spent{
		"": nil, " ($": {Answers: map[string]float64{"one": 2, "two": 2}, Verdicts: map[string]float64{"judge": 4}},
	} {
		r := labelled{items: 400, drawn: 60, right: 0.7, sens: right, spec: right, spent: spent}.report(t, 1)
		i := slices.IndexFunc(r.Tables, func(t analysis.Table) bool { return t.Method == analysis.Validity })
		k := slices.IndexFunc(r.Tables[i].Notes, func(n string) bool { return strings.HasPrefix(n, "judge: one label is worth ") })
		if k < 0 {
			t.Fatalf("%q", r.Tables[i].Notes)
		}
		note := r.Tables[i].Notes[k]
		verdicts, dollars := 0, 0.0
		_, err := fmt.Sscanf(note, "judge: one label is worth %d more verdicts ($%f)", &verdicts, &dollars)
		if (err == nil) != (price != "") {
			t.Errorf("%s: %v", note, err)
		}
		if price != "" && (dollars < 0.0099*float64(verdicts) || dollars > 0.0101*float64(verdicts)+0.01) {
			t.Errorf("%s: want a cent for each verdict", note)
		}
	}
}

// TestLabelsCorrectTheLeaderboardWhateverIsAnalysed has a study declare analyses without the validity of its judge.
func TestLabelsCorrectTheLeaderboardWhateverIsAnalysed(t *testing.T) {
	t.Parallel()
	study := labelled{items: 400, drawn: 60, right: 0.7, sens: [2]float64{0.98, 0.85}, spec: [2]float64{0.6, 0.85},
		specs: []analysis.Spec{{Method: analysis.Rates},
			{Method: analysis.NoWorse, Primary: true, Settings: analysis.Settings{Margin: 1, Against: "two"}}}}
	r := study.report(t, 1)
	if b := board(t, r); b.Checked == nil || b.Checked.State != checked.FavoursLanes || !b.Corrected() {
		t.Fatalf("%+v", b.Checked)
	}
	for _, table := range r.Tables {
		for _, f := range table.Findings {
			if f.Margin != nil && !table.People && (f.Margin.Standing != stats.CannotTell || f.Interval.OK || f.P.OK) {
				t.Errorf("no worse by a judge that favours it: %+v, %v", f.Margin, f.Interval)
			}
		}
		if table.Method == analysis.Validity && !table.People {
			t.Errorf("%s was not asked for", table.Title)
		}
	}
}
