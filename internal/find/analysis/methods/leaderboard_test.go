package methods_test

import (
	"fmt"
	"math"
	"testing"

	"assay/internal/find/analysis"
)

// exact is McNemar's test from the definition: the chance of a split at least as uneven, of b+c fair coins.
func exact(b, c int) float64 {
	choose := func(n, k int) float64 {
		x := 1.0
		for i := range k {
			x = x * float64(n-i) / float64(i+1)
		}
		return x
	}
	p := 0.0
	for k := range b + c + 1 {
		if min(k, b+c-k) <= min(b, c) {
			p += choose(b+c, k) / math.Pow(2, float64(b+c))
		}
	}
	return min(1, p)
}

// rightAt reports whether item i is one of so many that are right, from an item on and round.
func rightAt(i, right, from, items int) bool { return ((i-from)%items+items)%items < right }

// answers returns the verdicts of lanes on items: the first so many of each lane are right, from an item on.
func answers(right, from []int, items int) []analysis.Row {
	var rows []analysis.Row
	for l := range right {
		for i := range items {
			label := "wrong"
			if rightAt(i, right[l], from[l], items) {
				label = "right"
			}
			rows = append(rows, said(fmt.Sprintf("lane%02d", l), fmt.Sprintf("q%02d", i), label))
		}
	}
	return rows
}

func TestEveryTwoLanesAreTestedByTheTestOfTheTable(t *testing.T) {
	t.Parallel()
	right, from, items := make([]int, 15), make([]int, 15), 24
	for l := range right {
		right[l], from[l] = 3+l, 5*l
	}
	r := report(t, correct(), []analysis.Spec{{}}, answers(right, from, items))
	if len(r.Leaderboards) != 1 || len(r.Leaderboards[0].Places) != 15 || len(r.Leaderboards[0].Tests) != 105 {
		t.Fatalf("%+v", r.Leaderboards)
	}
	s := r.Leaderboards[0]
	for _, c := range s.Tests {
		var only [2]int
		for i := range items {
			x, y := rightAt(i, right[c.First], from[c.First], items), rightAt(i, right[c.Second], from[c.Second], items)
			if x && !y {
				only[0]++
			}
			if y && !x {
				only[1]++
			}
		}
		near(t, "p", exact(only[0], only[1]), c.P.Value, 1e-12)
		near(t, "difference", float64(only[0]-only[1])/float64(items), c.Difference.Value, 1e-12)
		if c.Clusters != items {
			t.Errorf("%d clusters", c.Clusters)
		}
	}
	near(t, "value", float64(right[4])/float64(items), s.Places[4].Value.Value, 1e-12)
	if s.What != analysis.WhatRate || s.Unit != analysis.Share || s.Less || s.Clusters != items {
		t.Errorf("%+v", s)
	}
}

func TestAStageWhoseTablesRankNoLanesIsRankedAllTheSame(t *testing.T) {
	t.Parallel()
	rows := answers([]int{3, 9}, []int{0, 0}, 12)
	for i := range rows {
		rows[i].Template = fmt.Sprint(i % 3)
	}
	r := report(t, correct(), []analysis.Spec{{By: []string{"lane", "template"}, Primary: true}}, rows)
	if len(r.Leaderboards) != 1 || !r.Leaderboards[0].Primary || len(r.Leaderboards[0].Places) != 2 {
		t.Fatalf("%+v", r.Leaderboards)
	}
	near(t, "value", 0.25, r.Leaderboards[0].Places[0].Value.Value, 1e-12)
	for _, table := range r.Tables {
		if len(table.By) < 2 || table.By[0] != "lane" {
			t.Errorf("a table that was not asked for is shown: %s by %v", table.Title, table.By)
		}
	}
	var bouts []analysis.Row
	for i := range 12 {
		bouts = append(bouts, met("a", "b", fmt.Sprint(i), []string{"a", "a", "b"}[i%3]),
			met("b", "a", fmt.Sprint(i), []string{"b", "a", "a"}[i%3]))
	}
	r = report(t, arena(), []analysis.Spec{{Method: analysis.Elo}}, bouts)
	if len(r.Leaderboards) != 1 || r.Leaderboards[0].What != analysis.WhatStrength ||
		len(r.Tables) != 1 || r.Tables[0].Method != analysis.Elo {
		t.Fatalf("%d tables, %+v", len(r.Tables), r.Leaderboards)
	}
	near(t, "wins", 14.0/24, r.Leaderboards[0].Places[0].Share.Value, 0.2)
}

func TestStrengthsAreTestedByTheErrorsOfTheirDifferences(t *testing.T) {
	t.Parallel()
	for _, items := range []int{20, 60} { // resampled, and by formula
		var rows []analysis.Row
		for i := range items {
			for _, two := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "a"}} {
				label := "a"
				if (i*7+len(two[0]+two[1])+int(two[1][0]))%5 < 2 {
					label = "b"
				}
				rows = append(rows, met(two[0], two[1], fmt.Sprint(i), label),
					met(two[1], two[0], fmt.Sprint(i), map[string]string{"a": "b", "b": "a"}[label]))
			}
		}
		s := report(t, arena(), []analysis.Spec{{}}, rows).Leaderboards[0]
		if len(s.Tests) != 3 {
			t.Fatalf("%d items: %+v", items, s)
		}
		for _, c := range s.Tests {
			near(t, "difference", s.Places[c.First].Value.Value-s.Places[c.Second].Value.Value, c.Difference.Value, 1e-9)
			if without := c.Interval.Low > 0 || c.Interval.High < 0; without != (c.P.Value < 0.05) {
				t.Errorf("%d items: the interval %v and p %g disagree", items, c.Interval, c.P.Value)
			}
		}
	}
}

func TestFlipsAreRankedAgainstTheControlOnTheSameConversations(t *testing.T) {
	t.Parallel()
	stage := analysis.Stage{
		Name: "flips", Verb: analysis.Judged, Flips: true, Control: "control", Judges: []string{"judge"}, Low: num(0),
		High: num(2), Worst: num(2),
		Labels: []analysis.Label{{Name: "kept", Score: num(0)}, {Name: "soft", Score: num(1)}, {Name: "explicit", Score: num(2)}},
	}
	var rows []analysis.Row
	flips := map[string][2]int{"firm": {2, 1}, "weak": {8, 2}} // of 10 under each of two pressures, and when merely asked again
	for lane, n := range flips {
		for i := range 10 {
			for branch, k := range map[string]int{"doubt": n[0], "denial": n[0] - 1, "control": n[1]} {
				r := analysis.Row{Stage: "flips", Judge: "judge", Lane: lane, Item: fmt.Sprint(i), Turn: 2, Draw: 1, Branch: branch,
					State: "valid", Label: "kept", Score: num(0)}
				if i < k {
					r.Label, r.Score = "explicit", num(2)
				}
				rows = append(rows, r)
			}
		}
	}
	s := report(t, stage, analysis.Default(stage), rows).Leaderboards[0]
	if !s.Less || !s.Control || s.What != analysis.WhatExcess || s.Places[0].Name != "firm" {
		t.Fatalf("%+v", s)
	}
	near(t, "share", 15.0/20, s.Places[1].Share.Value, 1e-12)
	near(t, "control", 4.0/20, s.Places[1].Control.Value, 1e-12)
	near(t, "excess", 11.0/20, s.Places[1].Value.Value, 1e-12)
	// By item, weak minus firm: the mean of (pressed - control) of one minus that of the other, and its Student test.
	var d []float64
	at := func(lane string, i int) float64 {
		n, sum := flips[lane], 0.0
		for _, k := range []int{n[0], n[0] - 1} {
			if i < k {
				sum++
			}
			if i < n[1] {
				sum--
			}
		}
		return sum / 2
	}
	mean, squares := 0.0, 0.0
	for i := range 10 {
		d = append(d, at("firm", i)-at("weak", i))
		mean += d[i] / 10
	}
	for _, x := range d {
		squares += (x - mean) * (x - mean)
	}
	near(t, "difference", mean, s.Tests[0].Difference.Value, 1e-12)
	near(t, "error", math.Sqrt(squares/9/10), s.Tests[0].SE.Value, 1e-12)
}

func TestAJudgeOfTheFamilyOfALaneIsNamed(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Families = map[string]string{"judge": "openai", "lane00": "openai", "lane01": "google"}
	s := report(t, stage, []analysis.Spec{{}}, answers([]int{3, 4}, []int{0, 0}, 6)).Leaderboards[0]
	if len(s.Kin) != 1 || s.Kin[0] != "lane00" {
		t.Errorf("kin: %v", s.Kin)
	}
}
