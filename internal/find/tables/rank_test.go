package tables

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/internal/find/stats"
)

// near is how far a number may be from its reference.
var near = cmpopts.EquateApprox(1e-6, 1e-6)

// reference are datasets with published results, as counts of comparisons.
type reference struct {
	Datasets map[string]struct {
		Items []string
		Rows  [][]any // first, second, how often first won, second won, tied
	}
}

// published returns a dataset as a table: one row for each result that was seen, weighted.
func published(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../stats/testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("a,b,winner,weight\n")
	for _, row := range r.Datasets[name].Rows {
		for k, winner := range []string{"a", "b", "tie"} {
			fmt.Fprintf(&b, "%q,%q,%s,%v\n", row[0], row[1], winner, row[2+k])
		}
	}
	return b.String()
}

// ranked ranks a table; columns that it does not have are not read.
func ranked(t *testing.T, text string, o RankOptions) *Ranking {
	t.Helper()
	table := open(t, text)
	o.Columns.A, o.Columns.B, o.Columns.Winner = "a", "b", "winner"
	if table.Has("weight") {
		o.Columns.Weight = "weight"
	}
	if o.Method == "" {
		o.Method = BradleyTerry
	}
	r, err := table.Rank(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// against returns the scores of a ranking when one item is fixed at 0.
func (d *Ranking) against(ref string) map[string]float64 {
	scores := map[string]float64{}
	for _, one := range d.Items {
		scores[one.Item] = *one.Score
	}
	zero := scores[ref]
	for item := range scores {
		scores[item] -= zero
	}
	return scores
}

func TestRankGivesThePublishedScores(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"Biometrika": 0, "Comm Statist": -2.94907249684391, "JASA": -0.479569769751993, "JRSS-B": 0.268954}
	if diff := cmp.Diff(want, ranked(t, published(t, "citations"), RankOptions{}).against("Biometrika"), near); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
	want = map[string]float64{
		"Baltimore": 0, "Boston": 1.107698, "Cleveland": 0.683853, "Detroit": 1.436408, "Milwaukee": 1.581356, "New York": 1.247618,
		"Toronto": 1.294485,
	}
	if diff := cmp.Diff(want, ranked(t, published(t, "baseball"), RankOptions{}).against("Baltimore"), near); diff != "" {
		t.Errorf("baseball (-want +got):\n%s", diff)
	}
	home := ranked(t, published(t, "baseball"), RankOptions{Order: true})
	if diff := cmp.Diff([]float64{0.302261, 0.130944}, []float64{*home.OrderEffect, *home.OrderSE}, near); diff != "" {
		t.Errorf("baseball at home (-want +got):\n%s", diff)
	}
	tie := ranked(t, published(t, "sound_fields"), RankOptions{Method: Davidson}).Tie
	if diff := cmp.Diff(0.681631, math.Exp(*tie), near); diff != "" {
		t.Errorf("sound fields (-want +got):\n%s", diff)
	}
	quasi := map[string]string{}
	for _, one := range ranked(t, published(t, "citations"), RankOptions{Quasi: true}).Items {
		quasi[one.Item] = fmt.Sprintf("%.4f", *one.Quasi)
	}
	if diff := cmp.Diff(map[string]string{"Biometrika": "0.0421", "Comm Statist": "0.0922", "JASA": "0.0428", "JRSS-B": "0.0585"},
		quasi); diff != "" {
		t.Errorf("quasi standard errors (-want +got):\n%s", diff)
	}
}

const (
	apart     = "a,b,winner\np,q,a\nq,p,a\nr,s,tie\np,r,p\n"
	byPrompt  = "a,b,winner,prompt\nx,y,a,1\nx,y,b,1\ny,z,a,1\nx,y,a,2\nz,x,tie,2\ny,z,b,2\nx,z,a,3\nz,y,z,3\ny,x,x,3\n"
	halfATie  = "a tie counts as half a win, so the model's errors are somewhat too wide: --method davidson has a parameter for ties"
	fewOfThem = "3 clusters are fewer than 40: the cluster-robust se is not to be trusted, "
)

func TestARankingSaysWhereItsNumbersComeFrom(t *testing.T) {
	t.Parallel()
	prompt := Columns{Cluster: "prompt"}
	for name, c := range map[string]struct {
		text     string
		options  RankOptions
		se, from string
		first    RankedItem // item, score, error, low and high; 0: none
		warnings []string
	}{
		"the model": {byPrompt, RankOptions{}, "the model", "the model", item("x", 0.685699, 0.636651, -0.562114, 1.933512),
			[]string{halfATie}},
		"clusters": {byPrompt, RankOptions{Columns: prompt}, "clusters (CR1)", "clusters (CR1)",
			item("x", 0.685699, 0.496904, -0.288216, 1.659614), []string{fewOfThem + "the bootstrap is better (--bootstrap 1000)"}},
		"one cluster": {"a,b,winner,prompt\nx,y,a,1\nx,y,b,1\n", RankOptions{Columns: prompt}, "clusters (CR1)", "",
			item("x", 0, 0, 0, 0), []string{"there is one cluster: errors need two"}},
		"win rates": {byPrompt, RankOptions{Method: WinRate}, "shares of independent comparisons", "Wilson's formula",
			item("x", 0.75, 0.155902, 0.299993, 0.969947), nil},
		"win rates by cluster": {byPrompt, RankOptions{Method: WinRate, Columns: prompt}, "clusters",
			"Wilson's formula for as many independent comparisons", item("x", 0.75, 0.144338, 0, 0), nil},
		"Elo": {"a,b,winner\nx,y,a\nx,y,b\n", RankOptions{Method: Elo, K: 200, Start: 1500}, "", "",
			item("y", 1551.949383, 0, 0, 0), nil},
		"a penalty": {apart, RankOptions{Ridge: 1}, "the model", "the model", RankedItem{Item: "p"}, []string{"the items fall " +
			"into 2 groups between which all wins go one way: without a penalty their scores would be infinite", halfATie}},
		"groups and Elo": {apart, RankOptions{Method: Elo, K: 32, Start: 1500}, "", "", RankedItem{Item: "p"},
			[]string{"the items fall into 2 groups that never beat each other both ways: ratings of different groups do not compare"}},
		"a column not used": {"a,b,winner,cluster\nx,y,a,1\nx,y,b,2\n", RankOptions{}, "the model", "the model", RankedItem{Item: "x"},
			[]string{"the column cluster is not used without --cluster cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ranked(t, c.text, c.options)
			if diff := cmp.Diff([]string{c.se, c.from}, []string{r.SEFrom, r.IntervalFrom}); diff != "" {
				t.Errorf("where from (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.warnings, r.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			got := r.Items[0]
			if got.Item != c.first.Item || got.Rank == nil || *got.Rank != 1 {
				t.Errorf("%s is the first, not %s", got.Item, c.first.Item)
			}
			if c.first.Score == nil {
				return
			}
			if c.first.Low == nil && got.Low != nil {
				got.Low, got.High = nil, nil // those of clusters are the estimator's to test
			}
			if diff := cmp.Diff(c.first, got, near, cmpopts.IgnoreFields(RankedItem{}, "Rank", "Average")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func item(name string, score, se, low, high float64) RankedItem {
	some := func(x float64) *float64 {
		if x == 0 {
			return nil
		}
		return &x
	}
	return RankedItem{Item: name, Score: &score, SE: some(se), Low: some(low), High: some(high)}
}

func TestAResampledRankingDependsOnItsSeedAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options RankOptions
		from    string
	}{
		"scores by row": {RankOptions{Bootstrap: 20, Seed: 1}, "20 resamples"},
		"scores by cluster": {RankOptions{Bootstrap: 50, Seed: 1, Columns: Columns{Cluster: "prompt"}},
			"50 resamples, Student's t of 3 clusters"},
		"win rates by row":     {RankOptions{Method: WinRate, Bootstrap: 20, Seed: 1}, "20 resamples"},
		"win rates by cluster": {RankOptions{Method: WinRate, Bootstrap: 20, Seed: 1, Columns: Columns{Cluster: "prompt"}}, "20 resamples"},
		"Elo in random orders": {RankOptions{Method: Elo, K: 32, Start: 1500, Orders: 10, Seed: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := ranked(t, byPrompt, c.options)
			if diff := cmp.Diff(once, ranked(t, byPrompt, c.options)); diff != "" || once.IntervalFrom != c.from {
				t.Errorf("bounds from %s (-once +again):\n%s", once.IntervalFrom, diff)
			}
			if c.options.Method == Elo && once.Items[0].OrderSD == nil {
				t.Error("no spread over the orders")
			}
			c.options.Seed = 2
			// of three clusters there are few resamples
			if other := ranked(t, byPrompt, c.options); c.options.Columns.Cluster == "" && cmp.Diff(once, other) == "" {
				t.Error("another seed gives the same")
			}
		})
	}
}

func TestWhereScoresDoNotExistTheReasonStands(t *testing.T) {
	t.Parallel()
	groups := ranked(t, "a,b,winner\np,q,a\nq,p,a\nr,s,tie\n", RankOptions{})
	if diff := cmp.Diff([][]string{{"p", "q"}, {"r", "s"}}, groups.Components); diff != "" || *groups.Connected {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	never := ranked(t, "a,b,winner,weight\nx,y,a,1\nx,z,a,0\n", RankOptions{Method: WinRate})
	for got, want := range map[*Ranking]string{
		groups: "4 items in 2 groups that were never compared",
		never:  "an item was never compared: all its rows weigh nothing",
		ranked(t, published(t, "citations"), RankOptions{Method: Davidson}): "a tie parameter was asked for and there is no tie",
	} {
		if got.Why != want {
			t.Errorf("why: %q, want %q", got.Why, want)
		}
		if i := got.Items[len(got.Items)-1]; i.Rank != nil {
			t.Errorf("%s has rank %d", i.Item, *i.Rank)
		}
	}
}

func TestMoreItemsThanCanBeCountedByPairsStillHaveRatings(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,winner\n")
	for i := range MaxTallied + 1 {
		fmt.Fprintf(&text, "%d,%d,a\n", i, i+1)
	}
	r := ranked(t, text.String(), RankOptions{Method: Elo, K: stats.DefaultElo().K, Start: stats.DefaultElo().Start})
	if r.Connected != nil || len(r.Items) != MaxTallied+2 || r.N != MaxTallied+1 {
		t.Errorf("connected %v, %d items, %g comparisons", r.Connected, len(r.Items), r.N)
	}
}

func TestAnUnknownMethodIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := open(t, byPrompt).Rank(RankOptions{Method: "best", Columns: plainColumns}); err == nil {
		t.Error("no error")
	}
}

func TestWhereAllClustersAreAlikeScoresHaveNoError(t *testing.T) {
	t.Parallel()
	text := "a,b,winner,cluster\n"
	for i := range 60 { // the one shown first always wins
		text += fmt.Sprintf("x,y,a,%d\ny,x,a,%d\nx,z,a,%d\nz,x,a,%d\ny,z,a,%d\nz,y,a,%d\n", i, i, i, i, i, i)
	}
	for _, o := range []RankOptions{{Columns: Columns{Cluster: "cluster"}},
		{Columns: Columns{Cluster: "cluster"}, Bootstrap: 50, Seed: 1}} {
		r := ranked(t, text, o)
		for _, one := range r.Items {
			if one.Score == nil || one.Low != nil || one.High != nil {
				t.Errorf("%s: %v in %v to %v", one.Item, one.Score, one.Low, one.High)
			}
		}
		if !strings.Contains(strings.Join(r.Warnings, " "), "all clusters are alike") {
			t.Errorf("warnings %q", r.Warnings)
		}
	}
}

func TestAPenalisedFitSettlesWhereMostItemsWinOrLoseAll(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/undefeated.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := Open(file, "undefeated.csv")
	if err != nil {
		t.Fatal(err)
	}
	r, err := table.Rank(RankOptions{Method: BradleyTerry, Columns: Columns{A: "a", B: "b", Winner: "winner"}}) // penalised by itself
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "drawn together after Firth") {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if r.Why != "" || len(r.Items) != 20 || math.Abs(*r.Items[0].Score-4.6202) > 1e-4 {
		t.Errorf("%d items, why %q, first %+v", len(r.Items), r.Why, r.Items[0])
	}
}
