package methods_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
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

// shownAlone compares reports by what they hand out.
var shownAlone = cmpopts.IgnoreUnexported(analysis.Report{}, analysis.Table{})

func num(x float64) *float64 { return &x }

func correct() analysis.Stage {
	return analysis.Stage{
		Name: "correct", Verb: analysis.Judged, Labels: []analysis.Label{{Name: "right", Score: num(1)}, {Name: "wrong", Score: num(0)}},
		Low: num(0), High: num(1), Judges: []string{"judge"}, Validated: true,
	}
}

func arena() analysis.Stage {
	return analysis.Stage{Name: "arena", Verb: analysis.Compared, Judges: []string{"judge"}, Validated: true}
}

// said returns a valid verdict on an answer.
func said(lane, item, label string) analysis.Row {
	r := analysis.Row{Stage: "correct", Judge: "judge", Lane: lane, Item: item, Turn: 1, Draw: 1, State: assay.VerdictValid, Label: label}
	switch label {
	case "right":
		r.Score = num(1)
	case "wrong":
		r.Score = num(0)
	}
	return r
}

// met returns a valid verdict on a pair.
func met(first, second, item, label string) analysis.Row {
	return analysis.Row{Stage: "arena", Judge: "judge", Lane: first, Other: second, Item: item, Turn: 1, Draw: 1, State: assay.VerdictValid,
		Label: label}
}

// in returns the row in a state; whatever label it carries must not count.
func in(state assay.VerdictState, r analysis.Row) analysis.Row {
	r.State = state
	return r
}

func each(rows []analysis.Row) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		var one analysis.Row // used for all, as the ledger's reader does
		for _, r := range rows {
			one = r
			if !yield(&one, nil) {
				return
			}
		}
	}
}

func report(t *testing.T, stage analysis.Stage, specs []analysis.Spec, rows []analysis.Row) *analysis.Report {
	t.Helper()
	return reportAfter(t, stage, specs, rows, func(b *methods.Analyzer) error { return b.Expect(each(rows)) })
}

// reportAfter reads something first, then all rows.
func reportAfter(t *testing.T, stage analysis.Stage, specs []analysis.Spec, rows []analysis.Row,
	first func(*methods.Analyzer) error) *analysis.Report {
	t.Helper()
	for i := range specs {
		specs[i].Stage = stage.Name
	}
	b, err := methods.Open([]analysis.Stage{stage}, specs, analysis.Options{Seed: 1, Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	if err := first(b); err != nil {
		t.Fatal(err)
	}
	if err := b.Read(each(rows)); err != nil {
		t.Fatal(err)
	}
	r, err := b.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find returns the only finding of a name whose fields have these values: field, value, field, value …
func find(t *testing.T, r *analysis.Report, what string, by ...string) analysis.Finding {
	t.Helper()
	var found []analysis.Finding
	for _, table := range r.Tables {
		for _, f := range table.Findings {
			ok := f.What == what
			for i := 0; i+1 < len(by); i += 2 {
				ok = ok && f.Of(by[i]) == by[i+1]
			}
			if ok {
				found = append(found, f)
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings %q of %v, want 1", len(found), what, by)
	}
	return found[0]
}

func near(t *testing.T, what string, want, got, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(want-got) > tolerance {
		t.Errorf("%s: want %g, got %g", what, want, got)
	}
}

func TestIndependentRatesHaveWilsonIntervals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}} {
		var rows []analysis.Row
		for i := range c.n {
			label := "wrong"
			if i < c.k {
				label = "right"
			}
			rows = append(rows, said("a", fmt.Sprint(i), label))
		}
		f := find(t, report(t, correct(), []analysis.Spec{{}}, rows), "rate", "lane", "a")
		near(t, "rate", float64(c.k)/float64(c.n), f.Value.Value, 1e-12)
		near(t, "low", c.low, f.Interval.Low, 1e-4)
		near(t, "high", c.high, f.Interval.High, 1e-4)
		if diff := cmp.Diff([]any{c.n, c.n, "Wilson"}, []any{f.N, f.Clusters, f.Method}); diff != "" {
			t.Errorf("%d of %d: %s", c.k, c.n, diff)
		}
	}
}

func TestOnlyValidVerdictsEnterARateAndEveryStateIsCountedApart(t *testing.T) {
	t.Parallel()
	rows := []analysis.Row{
		said("a", "1", "right"), said("a", "2", "right"), said("a", "3", "right"), said("a", "4", "wrong"),
		in(assay.VerdictAbstained, said("a", "5", "right")), in(assay.VerdictMalformed, said("a", "6", "right")), in(assay.VerdictMalformed,
			said("a", "7", "right")), in(assay.VerdictFailed, said("a", "8", "right")), in(assay.VerdictMissing, said("a", "9", "right")),
	}
	r := report(t, correct(), []analysis.Spec{{}}, rows)
	f := find(t, r, "rate", "lane", "a")
	near(t, "rate", 0.75, f.Value.Value, 1e-12)
	want := analysis.Coverage{Planned: 9, Valid: 4, Abstained: 1, Malformed: 2, Failed: 1, Missing: 1}
	if diff := cmp.Diff(want, f.Coverage); diff != "" {
		t.Error(diff)
	}
	near(t, "at least", 3./9, f.Bounds.Low, 1e-12)
	near(t, "at most", 8./9, f.Bounds.High, 1e-12)
	if !r.Incomplete() || !slices.Contains(f.Notes, "incomplete") {
		t.Error("a table with 4 of 9 verdicts does not say that it is incomplete")
	}
}

func TestWhatWasPlannedAndNeverCameIsMissing(t *testing.T) {
	t.Parallel()
	b, err := methods.Open([]analysis.Stage{correct()}, analysis.Default(correct()), analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var planned []analysis.Row
	for i := range 20 {
		planned = append(planned, said("a", fmt.Sprint(i), "right"), said("b", fmt.Sprint(i), "right"))
	}
	if err := b.Expect(each(planned)); err != nil {
		t.Fatal(err)
	}
	if err := b.Read(each(planned[:38])); err != nil { // 19 each
		t.Fatal(err)
	}
	r, err := b.Report()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(analysis.Coverage{Planned: 20, Valid: 19, Missing: 1}, find(t, r, "rate", "lane", "a").Coverage); diff != "" {
		t.Error(diff)
	}
	if r.Incomplete() {
		t.Error("95% is complete")
	}
}

func TestAnEmptyGroupHasNoNumber(t *testing.T) {
	t.Parallel()
	r := report(t, correct(), []analysis.Spec{{}}, []analysis.Row{in(assay.VerdictFailed, said("a", "1", "right"))})
	f := find(t, r, "rate", "lane", "a")
	if f.Value.OK || f.Value.Why == "" || f.Interval.OK {
		t.Errorf("no verdict gives %v in %v", f.Value, f.Interval)
	}
}

func TestNestedVerdictsHaveClusterErrors(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	var counts []stats.Count
	for i := range 60 {
		c := stats.Count{N: 3}
		for d := range 3 {
			label := "wrong"
			if i%4 == 0 || (i+d)%5 == 0 {
				label, c.K = "right", c.K+1
			}
			r := said("a", fmt.Sprint(i), label)
			r.Draw = d + 1
			rows = append(rows, r)
		}
		counts = append(counts, c)
	}
	want, err := stats.RateByCluster(counts, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	f := find(t, report(t, correct(), []analysis.Spec{{}}, rows), "rate", "lane", "a")
	if diff := cmp.Diff(want.Interval, f.Interval, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	few := find(t, report(t, correct(), []analysis.Spec{{}}, rows[:60]), "rate", "lane", "a")
	if few.Method != "Wilson, by cluster" || !strings.Contains(strings.Join(few.Notes, " "), "20 clusters are fewer than 40") {
		t.Errorf("20 clusters: %s, %v", few.Method, few.Notes)
	}
}

func TestMeansOfNestedScoresAreThoseOfTheRowsByCluster(t *testing.T) {
	t.Parallel()
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged, Low: num(1), High: num(5)}
	var rows []analysis.Row
	portions := make([]stats.Total, 51)
	for i := range 150 {
		r := said("a", fmt.Sprint(i), "")
		c := i%50 - i%7%2
		r.Cluster, r.Score = fmt.Sprintf("%03d", c), num(float64(1+(i*7)%5))
		portions[c+1].N++
		portions[c+1].Sum += *r.Score
		rows = append(rows, r)
	}
	want := stats.MeanByCluster(portions, 0.95)
	f := find(t, report(t, stage, []analysis.Spec{{}}, rows), "mean", "lane", "a")
	if diff := cmp.Diff([]any{want.Mean, want.Interval, want.Clusters}, []any{f.Value, f.Interval, f.Clusters},
		cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestTheOtherRuleLeavesRefusedAndCutAnswersOut(t *testing.T) {
	t.Parallel()
	rows := []analysis.Row{said("a", "1", "right"), said("a", "2", "wrong"), said("a", "3", "wrong"), said("b", "1", "right")}
	rows[1].Ending, rows[2].Ending = assay.Refused, assay.Cut
	r := report(t, correct(), []analysis.Spec{{}}, rows)
	f := find(t, r, "rate", "lane", "a")
	near(t, "rate", 1./3, f.Value.Value, 1e-12)
	want := &analysis.OtherRule{Rule: "refused and cut answers left out", Value: stats.Known(1), N: 1}
	if diff := cmp.Diff(want, f.Other); diff != "" {
		t.Error(diff)
	}
	if other := find(t, r, "rate", "lane", "b").Other; other != nil {
		t.Errorf("no answer of b was refused or cut, and yet %v", other)
	}
}

func TestRatesCountTheExpectedLabelWhereLabelsHaveNoScores(t *testing.T) {
	t.Parallel()
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged,
		Labels: []analysis.Label{{Name: "safe"}, {Name: "unsafe"}, {Name: "unclear"}}}
	var rows []analysis.Row
	for i, label := range []string{"unsafe", "unsafe", "safe", "unclear"} {
		r, other := said("a", fmt.Sprint(i), label), said("b", fmt.Sprint(i), "safe")
		r.Expect, other.Expect = "unsafe", "unsafe"
		rows = append(rows, r, other)
	}
	r := report(t, stage, []analysis.Spec{{}}, rows)
	near(t, "rate", 0.5, find(t, r, "rate", "lane", "a").Value.Value, 1e-12)
	near(t, "unclear", 0.25, find(t, r, "unclear", "lane", "a").Value.Value, 1e-12)
	if d := find(t, r, "difference"); d.Unit != analysis.Share || d.Value.Value != 0.5 {
		t.Errorf("the difference of two rates is %v in the unit %s", d.Value, d.Unit)
	}
}

func TestLanesAreComparedOnTheSameItems(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	add := func(n int, first, second string) {
		for range n {
			item := fmt.Sprint(len(rows))
			rows = append(rows, said("a", item, first), said("b", item, second))
		}
	}
	add(6, "right", "wrong")
	add(1, "wrong", "right")
	add(3, "right", "right")
	rows = append(rows, said("a", "alone", "right"))
	r := report(t, correct(), []analysis.Spec{{Primary: true}}, rows)
	f := find(t, r, "difference", "lane", "a", "against", "b")
	near(t, "difference", 0.5, f.Value.Value, 1e-12)
	near(t, "exact McNemar", 0.125, f.P.Value, 1e-12)
	near(t, "Holm of one test", 0.125, f.Holm.Value, 1e-12)
	if !strings.Contains(f.Words, "the difference of lane a, against b is +50.0 points (95% interval ") ||
		!strings.Contains(f.Words, "does not show a difference") {
		t.Errorf("words: %s", f.Words)
	}
}

func TestStudentsPValueIsThatOfTheInterval(t *testing.T) {
	t.Parallel()
	// differences 1 … 5: mean 3, standard error 0.7071, t = 4.2426 on 4 degrees of freedom
	stage := analysis.Stage{Name: "correct", Verb: analysis.Judged}
	var rows []analysis.Row
	for i := range 5 {
		a, b := said("a", fmt.Sprint(i), ""), said("b", fmt.Sprint(i), "")
		a.Score, b.Score = num(float64(i+1)), num(0)
		rows = append(rows, a, b)
	}
	f := find(t, report(t, stage, []analysis.Spec{{}}, rows), "difference")
	near(t, "difference", 3, f.Value.Value, 1e-12)
	near(t, "p", 0.013236, f.P.Value, 1e-5)
}

func TestFindingsDoNotDependOnTheOrderOfRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var judged, compared []analysis.Row
	lanes := []string{"a", "b", "c"}
	for i := range 30 {
		for l, lane := range lanes {
			for d := range 2 {
				r := said(lane, fmt.Sprint(i), []string{"right", "wrong"}[(i*(l+2)+d)%3%2])
				r.Draw = d + 1
				judged = append(judged, r)
			}
			other := lanes[(l+1)%3]
			label := []string{"a", "b", "tie"}[(i*7+l*5)%3]
			compared = append(compared, met(lane, other, fmt.Sprint(i), label), met(other, lane, fmt.Sprint(i), label))
		}
	}
	for _, c := range []struct {
		stage analysis.Stage
		rows  []analysis.Row
	}{{correct(), judged}, {arena(), compared}} {
		want := report(t, c.stage, analysis.Default(c.stage), c.rows)
		shuffled := slices.Clone(c.rows)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := report(t, c.stage, analysis.Default(c.stage), shuffled)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), shownAlone); diff != "" {
			t.Errorf("%s: %s", c.stage.Name, diff)
		}
	}
}

func TestAStageThatIsDoneTellsTheSame(t *testing.T) {
	t.Parallel()
	items, lanes := []string{"q1", "q2", "q3", "q4", "q5"}, []string{"a", "b", "c"}
	report := func(done func(*methods.Analyzer, string) error) *analysis.Report {
		stages := []analysis.Stage{correct(), arena()}
		book, err := methods.Open(stages, append(analysis.Default(stages[0]), analysis.Default(stages[1])...), analysis.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, rows := range []iter.Seq2[*analysis.Row, error]{judgedRows(items, lanes), comparedRows(items, lanes)} {
			if err := errors.Join(book.Expect(rows), book.Read(rows), done(book, stages[i].Name)); err != nil {
				t.Fatal(err)
			}
		}
		out, err := book.Report()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := report(func(*methods.Analyzer, string) error { return nil })
	got := report((*methods.Analyzer).Done)
	if d := cmp.Diff(want, got, shownAlone); d != "" || len(want.Tables) < 2 {
		t.Errorf("%d tables: %s", len(want.Tables), d)
	}
}
