package labels_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/resultstest"
	"assay/internal/keep/store"
)

// TestVotesAreCountedAgainstTheOtherJudges writes labels and verdicts by hand: the expected counts below were made by
// hand.
func TestVotesAreCountedAgainstTheOtherJudges(t *testing.T) {
	t.Parallel()
	b := resultstest.NewRig(t)
	run := b.NewRun("r1", []string{"q1", "q2", "q3"})
	silent := resultstest.VerdictOn(run, "right", "q3", "a", "human:ann", "")
	silent.State, silent.Reason = assay.VerdictAbstained, "cannot tell"
	pair := func(item, first, second, judge, label string) store.Verdict {
		v := resultstest.VerdictOn(run, "arena", item, first, judge, label)
		v.At.Against = second
		v.Against = assay.Coordinates{Stage: "answers", Item: item, Lane: second, Turn: 1, Draw: 1}.Key()
		return v
	}
	_, err := b.Ledger.Runs.AddVerdicts(t.Context(), []store.Verdict{
		resultstest.VerdictOn(run, "right", "q1", "a", "human:ann", "right"), resultstest.VerdictOn(run, "right", "q1", "a", "human:bob",
			"wrong"), resultstest.VerdictOn(run, "right", "q2", "b", "human:ann", "wrong"), silent,
		resultstest.VerdictOn(run, "right", "q1", "a", "j", "right"), resultstest.VerdictOn(run, "right", "q1", "a", "k", "wrong"),
		resultstest.VerdictOn(run, "right", "q2", "b", "j", "wrong"), resultstest.VerdictOn(run, "right", "q3", "a", "j", "right"),
		resultstest.VerdictOn(run, "right", "q2", "a", "j", "right"), resultstest.VerdictOn(run, "likes", "q2", "b", "j", "wrong"),
		pair("q1", "a", "b", "human:ann", "a"), pair("q1", "b", "a", "j", "b"), pair("q2", "a", "b", "human:ann", "tie"),
		pair("q2", "a", "b", "j", "a"), pair("q1", "a", "c", "j", "a"),
	})
	b.OK(err)
	for _, c := range []struct {
		stage, person string
		planned       int
		want          labels.Votes
		says          string
	}{
		// q1 a: ann and bob against j and k, four verdicts, two the same; q2 b: ann and j the same; q3 a: ann abstains
		{"right", "human:ann", 9, labels.Votes{Planned: 9, Labelled: 3, Yours: 3, Both: 5, Same: 3, Twice: 1, Open: 1, Machines: true},
			"3 of 9 answers judged by people · the other judges say the same in 3 of 5 verdicts (60%) · people agree on 0 of 1 answer " +
				"that several labelled (0%) · 6 more labels are all there are"},
		{"right", "human:bob", 9, labels.Votes{Planned: 9, Labelled: 3, Yours: 1, Both: 5, Same: 3, Twice: 1, Open: 1, Machines: true}, ""},
		// q1: the same winner, shown the other way round; q2: a tie against a winner
		{"arena", "human:ann", 9, labels.Votes{Planned: 9, Labelled: 2, Yours: 2, Both: 2, Same: 1, Machines: true},
			"2 of 9 pairs judged by people · the other judges say the same in 1 of 2 verdicts (50%) · 7 more labels are all there are"},
		{"flips", "human:ann", 0, labels.Votes{Machines: true}, "0 answers judged by people · after the first label this shows how often " +
			"the other judges say the same · 40 more labels make the judge's error bar known"},
	} {
		panel, err := labels.Open(t.Context(), b.Reader, run, c.stage)
		b.OK(err)
		got, err := labels.VotesOf(t.Context(), b.Reader, run, panel, c.stage, c.person)
		b.OK(err)
		n, err := panel.Count(t.Context())
		b.OK(err)
		if c.planned > 0 && n != c.planned {
			t.Errorf("%s: %d planned", c.stage, n)
		}
		got.Planned = c.planned
		says := strings.Join(got.Words(), " · ")
		hidden := func(p gocmp.Path) bool { return p.String() == "pairs" || p.String() == "wanted" }
		if d := gocmp.Diff(c.want, got, gocmp.FilterPath(hidden, gocmp.Ignore())); d != "" || c.says != "" && says != c.says {
			t.Errorf("%s, %s: %s\n%s", c.stage, c.person, d, says)
		}
	}
	if got := strings.Join((labels.Votes{Planned: 9, Labelled: 1, Machines: true}).Words(), " · "); !strings.Contains(got,
		"agreement with the other judges: unknown, they have judged none of these") {
		t.Error(got)
	}
	if got := strings.Join((labels.Votes{Planned: 9, Labelled: 9, Machines: true}).Words(), " · "); strings.Contains(got, "more label") {
		t.Error(got)
	}
	if got := strings.Join((labels.Votes{Planned: 210, Labelled: 4}).Words(),
		" · "); got != "4 of 210 answers judged by people · 206 answers left until the ranking rests on all of them" {
		t.Error(got)
	}
}
