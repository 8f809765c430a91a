package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/internal/find/analysis"
)

// game returns a verdict by which the first of two lanes wins on an item.
type game struct{ judge, item, won, lost string }

// eloErrors are standard errors of ratings from all samples of three items that there are, each alike likely, each
// played along many orders.
func eloErrors(games []game) map[string]float64 {
	by := map[string][]game{}
	for _, g := range games {
		by[g.item] = append(by[g.item], g)
	}
	items := []string{"1", "2", "3"}
	dice := rand.New(rand.NewPCG(7, 9))
	sum, squares, n := map[string]float64{}, map[string]float64{}, 0.0
	for i := range 27 {
		var played []game
		for _, k := range []int{i % 3, i / 3 % 3, i / 9} {
			played = append(played, by[items[k]]...)
		}
		mean := map[string]float64{}
		const orders = 1500
		for range orders {
			points := map[string]float64{"a": 1500, "b": 1500, "c": 1500}
			for _, k := range dice.Perm(len(played)) {
				g := played[k]
				gain := 32 * (1 - 1/(1+math.Pow(10, (points[g.lost]-points[g.won])/400)))
				points[g.won] += gain
				points[g.lost] -= gain
			}
			for lane, p := range points {
				mean[lane] += p / orders
			}
		}
		n++
		for lane, p := range mean {
			sum[lane] += p
			squares[lane] += p * p
		}
	}
	out := map[string]float64{}
	for lane := range sum {
		out[lane] = math.Sqrt(squares[lane]/n - sum[lane]*sum[lane]/n/n)
	}
	return out
}

// TestErrorsOfRatingsAreThoseOfItems holds the errors of Elo ratings against all samples of the items: verdicts on one
// item are correlated.
func TestErrorsOfRatingsAreThoseOfItems(t *testing.T) {
	t.Parallel()
	games := []game{
		{"x", "1", "a", "b"}, {"x", "1", "a", "b"}, {"x", "1", "b", "c"}, {"x", "2", "b", "a"}, {"x", "2", "b", "a"}, {"x", "2", "c", "b"},
		{"x", "3", "a", "b"}, {"x", "3", "a", "c"},
		{"y", "1", "a", "b"}, {"y", "1", "c", "b"}, {"y", "2", "a", "b"}, {"y", "2", "a", "c"}, {"y", "3", "b", "a"}, {"y", "3", "c", "b"},
		{"y", "3", "c", "b"},
	}
	stage := arena()
	stage.Judges = []string{"x", "y"}
	var rows []analysis.Row
	for i, g := range games {
		r := met(g.won, g.lost, g.item, "a")
		r.Judge, r.Draw = g.judge, i+1
		rows = append(rows, r)
	}
	all := report(t, stage, []analysis.Spec{{Method: analysis.Elo}}, rows)
	each := report(t, stage, []analysis.Spec{{Method: analysis.Elo, By: []string{"judge"}}}, rows)
	check := func(name string, f analysis.Finding, want float64) {
		t.Helper()
		if !f.SE.OK || math.Abs(f.SE.Value/want-1) > 0.15 {
			t.Errorf("%s: the error is %v, of all samples %.2f", name, f.SE, want)
		}
		// Student's t with two degrees of freedom.
		if half := 4.302653 * f.SE.Value; !f.Interval.OK || math.Abs(f.Interval.High-f.Value.Value-half) > 1e-3 ||
			math.Abs(f.Value.Value-f.Interval.Low-half) > 1e-3 {
			t.Errorf("%s: %v around %v, want %.3f each way", name, f.Interval, f.Value, half)
		}
	}
	for lane, want := range eloErrors(games) {
		check("lane "+lane, find(t, all, "elo", "lane", lane), want)
	}
	for judge, part := range map[string][]game{"x": games[:8], "y": games[8:]} {
		for lane, want := range eloErrors(part) {
			check(fmt.Sprintf("lane %s, judge %s", lane, judge), find(t, each, "elo", "lane", lane, "judge", judge), want)
		}
	}
}
