package methods_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// boughtArena returns a stage whose pairs were bought in rounds, with one claim.
func boughtArena() analysis.Stage {
	s := arena()
	s.Rounds = &analysis.Rounds{
		Looks: 3, Planned: 5, Level: 0.0125, Alpha: 0.05, Next: 0.01, Stopped: "its rounds are used up",
		Claims: []analysis.Claim{{Better: "b", Worse: "c", Look: 2, P: 0.0001, Level: 0.004}},
	}
	return s
}

func TestIntervalsOfRoundsAreThoseOfTheirLookAndOfTheLargerError(t *testing.T) {
	t.Parallel()
	rows := contested(60)
	index, fit, grouped := fitted(t, rows)
	robust, err := fit.ClusterRobust(grouped, stats.CR1)
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit.Covariance()
	if err != nil {
		t.Fatal(err)
	}
	r := report(t, boughtArena(), []analysis.Spec{{}}, rows)
	ranks := map[string][2]int{"a": {1, 3}, "b": {1, 2}, "c": {2, 3}} // b is known to be better than c, and nothing else
	for name, i := range index {
		f := find(t, r, "strength", "lane", name)
		se := math.Max(robust.SE()[i], model.SE()[i])
		want := stats.StudentInterval(fit.Theta[i], se, 1-0.0125, 60)
		if diff := cmp.Diff([]any{stats.Known(fit.Theta[i]), stats.Known(se), want}, []any{f.Value, f.SE, f.Interval},
			cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := [2]int{f.Rank.Best, f.Rank.Worst}; got != ranks[name] {
			t.Errorf("%s may have places %v, want %v", name, got, ranks[name])
		}
	}
	if len(r.Leaderboards) != 1 {
		t.Fatalf("%d leaderboards", len(r.Leaderboards))
	}
	apart, tested := r.Leaderboards[0].Apart()
	if want := map[[2]int]bool{{1, 2}: true, {2, 1}: true}; !tested || !cmp.Equal(want, apart) {
		t.Errorf("apart are %v, want what was claimed alone: %v", apart, want)
	}
	notes := strings.Join(r.Tables[0].Notes, "\n")
	for _, want := range []string{"stopped after round 3 of 5: its rounds are used up", "5 looks planned", "1.25% for these intervals",
		"at most 5%"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes %q do not say %q", notes, want)
		}
	}
}

func TestATableOfAPartOfRoundsSaysThatItsIntervalsMayBeTooNarrow(t *testing.T) {
	t.Parallel()
	r := report(t, boughtArena(), []analysis.Spec{{By: []string{"judge"}}, {Method: analysis.WinRate}}, contested(60))
	for i, want := range []string{"too narrow", "not comparable"} {
		if !slices.ContainsFunc(r.Tables[i].Notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("table %s has the notes %q, want %q", r.Tables[i].Title, r.Tables[i].Notes, want)
		}
	}
}

func TestRoundsForWidthClaimNothing(t *testing.T) {
	t.Parallel()
	s := boughtArena()
	s.Rounds.Width, s.Rounds.Claims, s.Rounds.Level = true, nil, 0.05
	r := report(t, s, []analysis.Spec{{}}, contested(60))
	if f := find(t, r, "strength", "lane", "a"); f.Rank != nil || !f.Interval.OK {
		t.Errorf("strength of a has rank %v and interval %v", f.Rank, f.Interval)
	}
	if apart, _ := r.Leaderboards[0].Apart(); len(apart) > 0 {
		t.Errorf("%v are told apart", apart)
	}
}

// TestAPairThatDepartsFromItsStrengthsIsNamedUnderTheTable: where a beats b, b beats c and c beats a; and not where a
// beats c.
func TestAPairThatDepartsFromItsStrengthsIsNamedUnderTheTable(t *testing.T) {
	t.Parallel()
	for share, want := range map[int]bool{69: false, 31: true} { // of a against c
		var rows []analysis.Row
		for i := range 200 {
			for k, two := range [][2]string{{"a", "b"}, {"b", "c"}, {"a", "c"}} {
				first, second, label := two[0], two[1], "a"
				if i*37%100 >= []int{60, 60, share}[k] {
					label = "b"
				}
				if i/100 == 1 {
					first, second = second, first
					label = map[string]string{"a": "b", "b": "a"}[label]
				}
				rows = append(rows, met(first, second, fmt.Sprint(i), label))
			}
		}
		notes := strings.Join(report(t, boughtArena(), []analysis.Spec{{}}, rows).Tables[0].Notes, "\n")
		if strings.Contains(notes, "depart from the strengths of all") != want {
			t.Errorf("want a pair named: %t, the notes are\n%s", want, notes)
		}
	}
}
