package methods_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
)

// grown is a study of two lanes whose judge is right about 45 items and always says yes of 15 that came later, of which people say no.
// People have labelled so many items in all, the first 45 before the others came. Drawn is when the others are in the draw, too.
type grown struct {
	labelled int
	drawn    bool
}

func (g grown) board(t *testing.T) analysis.Leaderboard {
	t.Helper()
	lanes := []string{"one", "two"}
	draw := &analysis.Draw{Seed: 3, Lanes: lanes, YesNo: true}
	truth, rows := map[string]string{}, []analysis.Row{}
	add := func(name string, n int, later bool) {
		var items []analysis.Judgeable
		for i := range n {
			item, word := fmt.Sprintf("%s%02d", name, i), []string{"right", "wrong"}[i%2]
			truth[item] = word
			if later {
				truth[item], word = "wrong", "right"
			}
			for _, lane := range lanes {
				rows = append(rows, said(lane, item, word))
			}
			items = append(items, analysis.Judgeable{Item: item, Mean: float64(1 - i%2), Places: 1})
		}
		if !later || g.drawn {
			draw.Add(items, 45)
		}
	}
	add("a", 45, false)
	add("b", 15, true)
	var people []analysis.Row
	for _, item := range draw.Order()[:g.labelled] {
		for _, lane := range lanes {
			row := by("human:anna", said(lane, item, truth[item]))
			row.Drawn = true
			people = append(people, row)
		}
	}
	stage := correct()
	stage.Validated, stage.People, stage.Draw = false, []string{"human:anna"}, draw
	return board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...)))
}

func TestLabelsDoNotStandForItemsThatCameLater(t *testing.T) {
	t.Parallel()
	const old, all = 23.0 / 45, 23.0 / 60
	for _, c := range []struct {
		grown
		about, later, next int
		value              float64
		words              string
	}{
		{grown{45, false}, 45, 15, 60, old, "; corrected numbers are about 45 items, and not about 15 that came later"},
		{grown{45, true}, 45, 15, 60, old, "; corrected numbers are about 45 items, and not about 15 that came later"},
		{grown{60, true}, 0, 0, 0, all, "; not shown to favour a lane"},
	} {
		b := c.board(t)
		k := b.Checked
		if k.About != c.about || k.Later != c.later || k.Next != c.next || !strings.HasSuffix(k.Words(), c.words) {
			t.Errorf("%+v: about %d, not %d, next at %d: %s", c.grown, k.About, k.Later, k.Next, k.Words())
		}
		if v := b.Places[0].Value; !v.OK || v.Value < c.value-1e-9 || v.Value > c.value+1e-9 {
			t.Errorf("%+v: %v, want %g", c.grown, v, c.value)
		}
	}
}

// talked is a study of two lanes of which a judge judges the first answer and three later ones; it calls first answers of the first lane
// right more often than people do, and later ones as people do.
func talked(t *testing.T, seed uint64, drawn int) analysis.Leaderboard {
	t.Helper()
	r := rand.New(rand.NewPCG(7, seed))
	lanes, words := []string{"one", "two"}, []string{"wrong", "right"}
	draw := &analysis.Draw{Seed: seed, Lanes: lanes, YesNo: true}
	var rows, truth []analysis.Row
	var items []analysis.Judgeable
	const places = 4
	for i := range 200 {
		item, sum := fmt.Sprintf("q%03d", i), 0.0
		for place := range places {
			for k, lane := range lanes {
				is := r.IntN(2)
				says := is
				if r.Float64() < 0.1 || place == 0 && k == 0 && r.Float64() < 0.6 {
					says = 1
				}
				row, label := said(lane, item, words[says]), said(lane, item, words[is])
				if place > 0 {
					row.Turn, row.Branch = 2, fmt.Sprint("b", place)
					label.Turn, label.Branch = row.Turn, row.Branch
				}
				rows, truth = append(rows, row), append(truth, by("human:anna", label))
				sum += float64(says) / (2 * places)
			}
		}
		items = append(items, analysis.Judgeable{Item: item, Mean: sum, Places: places})
	}
	draw.Add(items, 0)
	var people []analysis.Row
	for i, item := range draw.Order()[:drawn] {
		at := draw.Place(item, places)
		for k := range truth {
			if row := truth[k]; row.Item == item && (at == 0) == (row.Branch == "") && (at == 0 || row.Branch == fmt.Sprint("b", at)) {
				row.Drawn = true
				people = append(people, row)
			}
		}
		if len(people) != 2*(i+1) {
			t.Fatalf("%d labels on %d items", len(people), i+1)
		}
	}
	stage := correct()
	stage.Validated, stage.People, stage.Draw, stage.Each = false, []string{"human:anna"}, draw, true
	return board(t, judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...)))
}

func TestFirstAnswersAreCorrectedByTheLabelsOnThem(t *testing.T) {
	t.Parallel()
	const studies = 30
	held, n, alone, corrected := 0, 0, 0, 0
	for seed := range uint64(studies) {
		before, after := talked(t, seed, 0), talked(t, seed, 120)
		if apart, _ := before.Apart(); len(apart) > 0 {
			alone++
		}
		if !after.First || !after.Corrected() {
			t.Fatalf("seed %d: first %v, corrected %v: %s", seed, after.First, after.Corrected(), after.Checked.Words())
		}
		if apart, _ := after.Apart(); len(apart) > 0 {
			corrected++
		}
		for _, p := range after.Places {
			n++
			if p.Interval.Low <= 0.5 && 0.5 <= p.Interval.High {
				held++
			}
		}
	}
	if alone < 25 || corrected > 4 || held < n*9/10 {
		t.Errorf("the judge alone claims in %d of %d, corrected numbers in %d; %d of %d intervals hold", alone, studies, corrected, held, n)
	}
	if few := talked(t, 1, 20); few.Corrected() || !strings.Contains(few.Alone, "too few of the labels are on first answers") {
		t.Errorf("20 items: corrected %v, alone %q", few.Corrected(), few.Alone)
	}
}

func TestPointsOverTheControlStayTheJudgesAndTellIt(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	lanes := []string{"m", "n"}
	draw := &analysis.Draw{Seed: 2, Lanes: lanes, YesNo: true}
	var rows []analysis.Row
	var items []analysis.Judgeable
	for i := range 80 {
		item := fmt.Sprintf("q%02d", i)
		for _, lane := range lanes {
			for _, branch := range []string{"doubt", "control"} {
				row := flip(item, branch, float64(r.IntN(2)))
				row.Lane = lane
				rows = append(rows, row)
			}
		}
		items = append(items, analysis.Judgeable{Item: item, Mean: float64(i % 2), Places: 1})
	}
	draw.Add(items, 0)
	var people []analysis.Row
	for _, row := range rows {
		if row.Branch == "doubt" && slices.Contains(draw.Order()[:60], row.Item) {
			row.Drawn = true
			people = append(people, by("human:anna", row))
		}
	}
	stage := flipStage()
	stage.Validated, stage.Judges, stage.People, stage.Draw = false, []string{"judge"}, []string{"human:anna"}, draw
	report := judgedAgainst(t, stage, analysis.Default(stage), people, append(rows, people...))
	b := board(t, report)
	if b.Corrected() || b.Checked.State != checked.Checked || !strings.Contains(b.Alone, "not on the control") {
		t.Errorf("corrected %v, %s, alone %q", b.Corrected(), b.Checked.State, b.Alone)
	}
	if len(report.Sides) != 2 || !report.Sides[0].Alone {
		t.Errorf("side by side %+v", report.Sides)
	}
	for _, table := range report.Tables {
		told := strings.Contains(strings.Join(table.Notes, "\n"), "by the judge alone")
		if table.Method == analysis.Flips && !table.People && !told {
			t.Errorf("%s: %v", table.Title, table.Notes)
		}
		for _, f := range table.Findings {
			noted := strings.Contains(strings.Join(f.Notes, "\n"), "corrected by")
			ofRates := f.What == analysis.WhatRate && table.Method == analysis.Rates && !table.People
			if f.What == analysis.WhatMean && noted || ofRates && !noted {
				t.Errorf("%s of %s: %v", f.What, f.Of(analysis.ByLane), f.Notes)
			}
		}
	}
}

func TestAJudgeThatSaysTheSameOfAllIsNoBetterThanChance(t *testing.T) {
	t.Parallel()
	all := labelled{items: 200, drawn: 60, right: 0.6, sens: [2]float64{1, 1}, spec: [2]float64{0, 0}}
	if b := board(t, all.report(t, 4)); b.Checked.State != checked.NoBetter || !b.Corrected() {
		t.Errorf("corrected %v: %s", b.Corrected(), b.Checked.Words())
	}
	alike := labelled{items: 200, drawn: 60, right: 1, sens: [2]float64{0.9, 0.9}}
	if b := board(t, alike.report(t, 4)); b.Checked.State != checked.Untellable {
		t.Errorf("people say yes of all: %s", b.Checked.Words())
	}
}
