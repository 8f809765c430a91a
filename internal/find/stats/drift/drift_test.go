package drift_test

import (
	"math"
	"testing"

	"assay/internal/find/stats"
	"assay/internal/find/stats/drift"
)

const level = 0.95

// of returns a change of so many points, with the same error on both sides.
func of(points, half float64, p float64) drift.Change {
	return drift.Change{Value: stats.Known(points / 100), Interval: stats.Between((points-half)/100, (points+half)/100),
		P: stats.Known(p), N: 400, Clusters: 400}
}

func TestAChangeIsTakenApart(t *testing.T) {
	t.Parallel()
	steady, moved := of(0, 2, 1), of(5, 2, 1e-6)
	for _, c := range []struct {
		what  string
		judge drift.Judge
		lane  drift.Lane
		want  drift.Whose
		left  float64 // points; NaN: unknown
	}{
		{"nothing changed", drift.Judge{Measured: true, Shift: steady}, drift.Lane{Change: of(1, 3, 0.5)}, drift.Nobodys, 1},
		{"the judge alone", drift.Judge{Measured: true, Shift: moved}, drift.Lane{Change: of(5, 3, 0.001)}, drift.Judges, 0},
		{"the model alone", drift.Judge{Measured: true, Shift: steady}, drift.Lane{Change: of(9, 3, 1e-6)}, drift.Models, 9},
		{"both", drift.Judge{Measured: true, Shift: moved}, drift.Lane{Change: of(14, 3, 1e-9)}, drift.Boths, 9},
		{"a model hidden by the judge", drift.Judge{Measured: true, Shift: moved}, drift.Lane{Change: of(0, 3, 1)}, drift.Boths, -5},
		{"no gold", drift.Judge{}, drift.Lane{Change: of(9, 3, 1e-6)}, drift.CannotTell, math.NaN()},
		{"a rule", drift.Judge{Exact: true}, drift.Lane{Change: of(9, 3, 1e-6)}, drift.Models, 9},
		{"too little gold", drift.Judge{Measured: true, Shift: of(3, 8, 0.4)}, drift.Lane{Change: of(5, 3, 0.001)}, drift.CannotTell, 2},
		{"taken over", drift.Judge{Measured: true, Shift: moved}, drift.Lane{Change: of(5, 3, 0.001), Taken: true}, drift.NotAsked,
			math.NaN()},
	} {
		lanes := []drift.Lane{c.lane}
		if err := drift.Apportion(c.judge, lanes, level); err != nil {
			t.Fatal(err)
		}
		got := lanes[0]
		if got.Whose != c.want {
			t.Errorf("%s: %s, want %s", c.what, got.Whose, c.want)
		}
		if math.IsNaN(c.left) == got.Model.Value.OK || got.Model.Value.OK && math.Abs(100*got.Model.Value.Value-c.left) > 1e-9 {
			t.Errorf("%s: the model's is %v, want %v points", c.what, got.Model.Value, c.left)
		}
		if got.Model.Interval.OK && (got.Model.P.Value < 1-level) != got.Model.Interval.LeavesOut(0) {
			t.Errorf("%s: p %v and %v disagree", c.what, got.Model.P, got.Model.Interval)
		}
	}
}

func TestWhatRemainsHasTheErrorsOfBoth(t *testing.T) {
	t.Parallel()
	lanes := []drift.Lane{{Change: of(5, 3, 0.001)}}
	if err := drift.Apportion(drift.Judge{Measured: true, Shift: of(1, 4, 0.6)}, lanes, level); err != nil {
		t.Fatal(err)
	}
	if in := lanes[0].Model.Interval; math.Abs(in.Low+0.01) > 1e-12 || math.Abs(in.High-0.09) > 1e-12 {
		t.Errorf("%v, want -0.01 to 0.09: 3 and 4 points are 5 together", in)
	}
}

func TestMoreAnswersAreAskedForWhereTheyHelp(t *testing.T) {
	t.Parallel()
	more := func(judge drift.Judge, c drift.Change) int {
		lanes := []drift.Lane{{Change: c}}
		if err := drift.Apportion(judge, lanes, level); err != nil {
			t.Fatal(err)
		}
		return lanes[0].More
	}
	weak := of(3, 8, 0.4)
	weak.N = 40
	few, many := more(drift.Judge{Measured: true, Shift: weak}, of(10, 3, 1e-6)), more(drift.Judge{}, of(10, 3, 1e-6))
	if few < 60 || few > 200 || many < 60 || many > 120 {
		t.Errorf("%d and %d more for 10 points", few, many)
	}
	if n := more(drift.Judge{Measured: true, Shift: of(1, 2, 0.4)}, of(10, 3, 1e-6)); n != 0 {
		t.Errorf("%d more for what is shown already", n)
	}
	if n := more(drift.Judge{Measured: true, Shift: weak}, of(6, 3, 0.001)); n < 400 || n > 800 {
		t.Errorf("%d more for 6 points", n)
	}
	if n := more(drift.Judge{}, of(3.2, 3, 0.04)); n != 0 {
		t.Errorf("%d more for a change whose own error is too large", n)
	}
}

func TestLanesAreCorrectedTogether(t *testing.T) {
	t.Parallel()
	lanes := []drift.Lane{{Change: of(5, 4, 0.03)}, {Change: of(0, 4, 1)}, {Change: of(0, 4, 1)}}
	if err := drift.Apportion(drift.Judge{Exact: true}, lanes, level); err != nil {
		t.Fatal(err)
	}
	if lanes[0].Whose != drift.Nobodys || math.Abs(lanes[0].Holm.Value-0.09) > 1e-12 {
		t.Errorf("%s at p %v of three lanes", lanes[0].Whose, lanes[0].Holm)
	}
}

func TestAGoldSetIsUnlikeWhereVerdictsOnItAreSurelyOthers(t *testing.T) {
	t.Parallel()
	of := func(value, se float64) drift.Mean { return drift.Mean{Value: value, SE: se} }
	for name, c := range map[string]struct {
		gold, answers drift.Mean
		span          float64
		want          bool
	}{
		"the same":                   {of(.6, .02), of(.6, .02), 1, false},
		"8 points":                   {of(.68, .01), of(.6, .01), 1, false},
		"20 points":                  {of(.4, .02), of(.6, .02), 1, true},
		"20 points of few":           {of(.4, .1), of(.6, .02), 1, false},
		"half a point of 1 to 5":     {of(3.5, .02), of(3, .02), 4, true},
		"a third of a point of 1 to": {of(3.3, .02), of(3, .02), 4, false},
		"no scale":                   {of(9, .02), of(3, .02), 0, false},
	} {
		if got := drift.Unlike(c.gold, c.answers, c.span, 0.95); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
