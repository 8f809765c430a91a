package methods_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
	"assay/internal/find/stats"
)

func contested(n int) []analysis.Row {
	var rows []analysis.Row
	lanes := []string{"a", "b", "c"}
	for i := range n {
		for l, lane := range lanes {
			other := lanes[(l+1)%3]
			label := "a"
			if (i*5+l*3)%4 == 0 {
				label = "b"
			}
			if i%2 == 0 {
				rows = append(rows, met(lane, other, fmt.Sprint(i), label))
			} else {
				rows = append(rows, met(other, lane, fmt.Sprint(i), label))
			}
		}
	}
	return rows
}

// fitted is Bradley-Terry of the three contestants, from the estimators alone.
func fitted(t *testing.T, rows []analysis.Row) (map[string]uint16, *stats.BTFit, *stats.Grouped) {
	t.Helper()
	index := map[string]uint16{"a": 0, "b": 1, "c": 2}
	tally, pairs, clusters := stats.NewTally(3), stats.Pairs{}, []uint32{}
	for _, r := range rows {
		result := stats.FirstWon
		if r.Label == "b" {
			result = stats.SecondWon
		}
		pairs.Append(index[r.Lane], index[r.Other], result)
		var cluster uint32
		if _, err := fmt.Sscan(r.Item, &cluster); err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, cluster)
	}
	if err := tally.Add(pairs); err != nil {
		t.Fatal(err)
	}
	fit, err := stats.FitBT(tally, stats.BTOptions{Order: true})
	if err != nil {
		t.Fatal(err)
	}
	grouped, err := stats.Group(3, pairs, clusters)
	if err != nil {
		t.Fatal(err)
	}
	return index, fit, grouped
}

// Two lanes, shown in one order: the fit has as many parameters as there are outcomes, so that the counts give the log
// of the tie parameter and, by the delta method, its error.
func TestTheTieParameterHasTheErrorOfItsCounts(t *testing.T) {
	t.Parallel()
	const won, tied, lost, n = 30.0, 20.0, 10.0, 60
	var rows []analysis.Row
	for i := range n {
		label := assay.LabelTie
		switch {
		case i < won:
			label = "a"
		case i < won+lost:
			label = "b"
		}
		rows = append(rows, met("a", "b", fmt.Sprint(i), label))
	}
	f := find(t, report(t, arena(), []analysis.Spec{{}}, rows), "tie parameter", "", "")
	value := math.Log(tied / math.Sqrt(won*lost))
	se := math.Sqrt((1/tied + 1/(4*won) + 1/(4*lost)) * n / (n - 1))
	want := stats.StudentInterval(value, se, 0.95, n)
	if diff := cmp.Diff([]any{stats.Known(value), stats.Known(se), want}, []any{f.Value, f.SE, f.Interval},
		cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff)
	}
}

func TestStrengthsAreBradleyTerrysWithErrorsByCluster(t *testing.T) {
	t.Parallel()
	rows := contested(60)
	index, fit, grouped := fitted(t, rows)
	covariance, err := fit.ClusterRobust(grouped, stats.CR1)
	if err != nil {
		t.Fatal(err)
	}
	r := report(t, arena(), []analysis.Spec{{}}, rows)
	for name, i := range index {
		f := find(t, r, "strength", "lane", name)
		want := stats.StudentInterval(fit.Theta[i], covariance.SE()[i], 0.95, 60)
		if diff := cmp.Diff([]any{stats.Known(fit.Theta[i]), want, 120, 60}, []any{f.Value, f.Interval, f.N, f.Clusters},
			cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	near(t, "order effect", fit.Order.Value, find(t, r, "order effect").Value.Value, 1e-9)
}

func TestAVerdictThatIsNotValidIsNoTie(t *testing.T) {
	t.Parallel()
	rows := contested(12)
	want := report(t, arena(), []analysis.Spec{{Method: analysis.WinRate}}, rows)
	var more []analysis.Row
	for i := range 12 {
		for _, state := range []assay.VerdictState{assay.VerdictMalformed, assay.VerdictFailed, assay.VerdictAbstained,
			assay.VerdictMissing} {
			more = append(more, in(state, met("a", "b", fmt.Sprint(i), "tie")))
		}
		more = append(more, met("a", "b", fmt.Sprint(i), "neither of us")) // valid, and decides nothing
	}
	got := report(t, arena(), []analysis.Spec{{Method: analysis.WinRate}}, append(more, rows...))
	for _, lane := range []string{"a", "b", "c"} {
		w, g := find(t, want, "win rate", "lane", lane), find(t, got, "win rate", "lane", lane)
		if diff := cmp.Diff([]any{w.Value, w.Interval, w.N}, []any{g.Value, g.Interval, g.N}); diff != "" {
			t.Errorf("%s: %s", lane, diff)
		}
	}
	if c := got.Tables[0].Coverage; c.Malformed != 12 || c.Failed != 12 || c.Abstained != 12 || c.Missing != 12 {
		t.Errorf("coverage %+v", c)
	}
}

func TestRelabellingLanesMovesNothing(t *testing.T) {
	t.Parallel()
	rows := contested(50)
	renamed := map[string]string{"a": "z", "b": "m", "c": "k"}
	want := report(t, arena(), []analysis.Spec{{}, {Method: analysis.WinRate}}, rows)
	other := contested(50)
	for i := range other {
		other[i].Lane, other[i].Other = renamed[other[i].Lane], renamed[other[i].Other]
	}
	got := report(t, arena(), []analysis.Spec{{}, {Method: analysis.WinRate}}, other)
	for old, name := range renamed {
		for _, what := range []string{"strength", "win rate"} {
			w, g := find(t, want, what, "lane", old), find(t, got, what, "lane", name)
			if diff := cmp.Diff([]any{w.Value, w.Interval, w.N}, []any{g.Value, g.Interval, g.N},
				cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("%s of %s: %s", what, old, diff)
			}
		}
	}
}

func TestThereIsNoStrengthWhereAllWinsGoOneWay(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 10 {
		rows = append(rows, met("a", "b", fmt.Sprint(i), "a"), met("b", "a", fmt.Sprint(i), "b"))
	}
	f := find(t, report(t, arena(), []analysis.Spec{{}}, rows), "strength", "lane", "a")
	if f.Value.OK || f.Value.Why != "a won all of its comparisons" {
		t.Errorf("strength %v", f.Value)
	}
}

func TestPositionIsTestedExactlyAndConsistencyByMajority(t *testing.T) {
	t.Parallel()
	// ten pairs both ways: on eight the first place wins twice, on two the same lane does
	var rows []analysis.Row
	for i := range 10 {
		back := "a"
		if i >= 8 {
			back = "b"
		}
		rows = append(rows, met("x", "y", fmt.Sprint(i), "a"), met("y", "x", fmt.Sprint(i), back))
	}
	r := report(t, arena(), []analysis.Spec{{Method: analysis.Position}, {Method: analysis.Consistency}, {Method: analysis.WinRate}}, rows)
	var first analysis.Finding
	for _, f := range r.Tables[0].Findings {
		if f.What == "first wins" {
			first = f
		}
	}
	near(t, "first wins", 0.9, first.Value.Value, 1e-12)
	if (first.P.Value < 0.05) != (first.Interval.Low > 0.5) || first.P.Value < stats.BinomialTest(18, 20, 0.5).Value {
		t.Errorf("p %g beside %v: ten clusters are not twenty comparisons", first.P.Value, first.Interval)
	}
	both := find(t, r, "first wins, both orders")
	near(t, "exact p", stats.BinomialTest(18, 20, 0.5).Value, both.P.Value, 1e-12)
	near(t, "Clopper and Pearson's low end", 0.68302, both.Interval.Low, 1e-5)
	near(t, "Clopper and Pearson's high end", 0.98765, both.Interval.High, 1e-5)
	near(t, "p of the forward order", stats.BinomialTest(10, 10, 0.5).Value, find(t, r, "first wins, forward order").P.Value, 1e-12)
	near(t, "p of the reverse order", stats.BinomialTest(8, 10, 0.5).Value, find(t, r, "first wins, reverse order").P.Value, 1e-12)
	near(t, "consistency", 0.2, find(t, r, "consistency").Value.Value, 1e-12)
	near(t, "same both ways", 0.2, find(t, r, "same both ways").Value.Value, 1e-12)
	near(t, "corrected wins of x", 0.2, find(t, r, "corrected wins", "lane", "x").Value.Value, 1e-12)
	near(t, "win rate of x", 0.6, find(t, r, "win rate", "lane", "x").Value.Value, 1e-12)
	for _, c := range []struct {
		what, lane string
		want       analysis.Record
	}{
		{"win rate", "x", analysis.Record{Wins: 12, Losses: 8}}, {"win rate", "y", analysis.Record{Wins: 8, Losses: 12}},
		{"corrected wins", "x", analysis.Record{Wins: 2, Ties: 8}}, {"corrected wins", "y", analysis.Record{Ties: 8, Losses: 2}},
	} {
		if diff := cmp.Diff(&c.want, find(t, r, c.what, "lane", c.lane).Record); diff != "" {
			t.Errorf("%s of %s: %s", c.what, c.lane, diff)
		}
	}
	if diff := cmp.Diff([]any{8, analysis.Disagreed{By: []analysis.Value{}, Item: "0", First: "x", Second: "y", Judge: "judge", Turn: 1,
		Draw: 1, Forth: "x", Back: "y"}},
		[]any{len(r.Tables[1].Disagreed), r.Tables[1].Disagreed[0]}, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestItemsAreRankedByTheirOwnName(t *testing.T) {
	t.Parallel()
	stage := arena()
	stage.Items = true
	var rows []analysis.Row
	for _, r := range contested(50) {
		r.Cluster, r.Item = min(r.Lane, r.Other)+max(r.Lane, r.Other), ""
		rows = append(rows, r)
	}
	f := find(t, report(t, stage, []analysis.Spec{{Method: analysis.Elo}}, rows), "elo", "item", "a")
	if !f.Value.OK || !f.Interval.OK || !f.SE.OK {
		t.Errorf("elo %v %v", f.Value, f.Interval)
	}
}

func TestAMethodMustSuitItsStage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stage analysis.Stage
		spec  analysis.Spec
		want  string
	}{
		{arena(), analysis.Spec{Stage: "arena", Method: analysis.Rates}, `"rate" does not suit a stage that compares`},
		{correct(), analysis.Spec{Stage: "correct", Method: "mystery"}, `"mystery" does not suit a stage that judges`},
		{correct(), analysis.Spec{Stage: "other"}, "no such stage"},
	} {
		_, err := methods.Open([]analysis.Stage{c.stage}, []analysis.Spec{c.spec}, analysis.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.spec, err, c.want)
		}
	}
}

func TestRatingsDoNotHangOnWhenAVerdictCame(t *testing.T) {
	t.Parallel()
	rows := contested(20)
	turned := slices.Clone(rows)
	slices.Reverse(turned)
	was := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Elo}}, rows), "elo", "lane", "a")
	is := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Elo}}, turned), "elo", "lane", "a")
	if diff := cmp.Diff([]any{was.Value, was.SE}, []any{is.Value, is.SE}); diff != "" {
		t.Error(diff)
	}
}

func TestALaneWithoutAVerdictHasNoRating(t *testing.T) {
	t.Parallel()
	rows := append(contested(12), in(assay.VerdictAbstained, met("a", "mute", "1", "")))
	for _, m := range []struct {
		analysis.Method
		what string
	}{{analysis.Elo, "elo"}, {analysis.WinRate, "win rate"}, {analysis.WinRate, "average win rate"}, {analysis.BradleyT, "strength"},
		{analysis.Davidson, "strength"}} {
		f := find(t, report(t, arena(), []analysis.Spec{{Method: m.Method}}, rows), m.what, "lane", "mute")
		if f.Value.OK || f.Value.Why == "" || f.Interval.OK || f.N != 0 {
			t.Errorf("%s: %v %v of %d verdicts", m.what, f.Value, f.Interval, f.N)
		}
	}
}

func TestAJudgeThatAlwaysTakesTheFirstIsCertainOfNothing(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 12 {
		for _, two := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "a"}, {"b", "c"}, {"c", "b"}} {
			rows = append(rows, met(two[0], two[1], fmt.Sprint(i), "a"))
		}
	}
	for _, n := range []int{12, 60} { // errors by resampling, and by formula
		for i := len(rows) / 6; i < n; i++ {
			for _, two := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "a"}, {"b", "c"}, {"c", "b"}} {
				rows = append(rows, met(two[0], two[1], fmt.Sprint(i), "a"))
			}
		}
		r := report(t, arena(), []analysis.Spec{{}, {Method: analysis.WinRate}, {Method: analysis.Position}}, rows)
		for _, lane := range []string{"a", "b", "c"} {
			f := find(t, r, "strength", "lane", lane)
			if f.Interval.OK || f.Interval.Why == "" || f.Rank != nil {
				t.Errorf("%d clusters: strength of %s %v %v, rank %v", n, lane, f.Value, f.Interval, f.Rank)
			}
			if diff := cmp.Diff(&analysis.Record{Ties: 2 * n}, find(t, r, "corrected wins", "lane", lane).Record); diff != "" {
				t.Errorf("corrected wins of %s: %s", lane, diff)
			}
		}
		if f := find(t, r, "reliability"); f.Value.OK {
			t.Errorf("reliability %v", f.Value)
		}
		first := find(t, r, "first wins")
		if (first.P.Value < 0.05) != (first.Interval.Low > 0.5) {
			t.Errorf("%d clusters: p %g beside %v", n, first.P.Value, first.Interval)
		}
	}
}

func TestAnEntrantsClustersAreItsOwn(t *testing.T) {
	t.Parallel()
	rows := append(contested(12), met("a", "d", "1", "a"), met("d", "a", "1", "a"))
	if f := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Elo}}, rows), "elo", "lane", "d"); f.N != 2 || f.Clusters != 1 {
		t.Errorf("%d verdicts in %d clusters", f.N, f.Clusters)
	}
}

func TestPerfectConsistencyIsNotPerfectlyCertain(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 60 {
		rows = append(rows, met("a", "b", fmt.Sprint(i), "a"), met("b", "a", fmt.Sprint(i), "b"))
	}
	f := find(t, report(t, arena(), []analysis.Spec{{Method: analysis.Consistency}}, rows), "consistency")
	if f.Value.Value != 1 || !f.Interval.OK || f.Interval.Low > 0.99 {
		t.Errorf("%v in %v", f.Value, f.Interval)
	}
}

func TestComparisonsTellItemsFromClusters(t *testing.T) {
	t.Parallel()
	for _, clustered := range []bool{false, true} {
		var rows []analysis.Row
		for i := range 30 {
			row := met("a", "b", fmt.Sprintf("q%02d", i), []string{"a", "b", "a"}[i%3])
			if clustered {
				row.Cluster = fmt.Sprint("c", i/5)
			}
			rows = append(rows, row)
		}
		b := board(t, report(t, arena(), []analysis.Spec{{Stage: "arena", Method: analysis.BradleyT}}, rows))
		want := map[bool]float64{false: 1, true: 5}[clustered]
		if b.PerCluster() != want || clustered && (b.Clusters != 6 || b.Tests[0].Items != 30) {
			t.Errorf("clusters %v: %g items in each of %d, want %g", clustered, b.PerCluster(), b.Clusters, want)
		}
	}
}
