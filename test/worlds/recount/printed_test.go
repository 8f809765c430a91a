package recount_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/test/worlds/recount"
)

// TestOneNumberEverywhere holds all printed forms of the examples against their claims.
func TestOneNumberEverywhere(t *testing.T) {
	t.Parallel()
	all := recount.NewResult()
	for _, s := range studies() {
		x, err := rehearsals[s.name]()
		if err != nil {
			t.Fatal(err)
		}
		got := recount.CheckPrinted(x.Run, x.printed)
		for _, d := range got.Disagreements {
			t.Errorf("%s: %s", s.name, d)
		}
		all.Merge(got)
	}
	for _, where := range []string{"CSV", "export", "terminal", "report"} {
		for _, part := range []string{"value", "se", "low", "high", "n", "clusters", "p"} {
			if all.Compared[where+": "+part] == 0 {
				t.Errorf("%s, %s: compared not once", where, part)
			}
		}
	}
	for _, kind := range []string{"terminal: rank", "report: rank", "report: place", "report: price", "CSV: findings"} {
		if all.Compared[kind] == 0 {
			t.Errorf("%s: compared not once", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all.Skipped)) {
		t.Logf("%d %s", all.Skipped[kind], kind)
	}
}

// TestAnotherNumberSomewhereIsNoticed changes one number of a claim: each printed form differs from it then.
func TestAnotherNumberSomewhereIsNoticed(t *testing.T) {
	t.Parallel()
	x, err := rehearsals["start"]()
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(*recount.Finding){
		"value": func(f *recount.Finding) { *f.Value += 0.01 }, "low": func(f *recount.Finding) { *f.Low += 0.01 },
		"high": func(f *recount.Finding) { *f.High += 0.01 }, "se": func(f *recount.Finding) { *f.SE += 0.01 },
		"n": func(f *recount.Finding) { f.N++ }, "clusters": func(f *recount.Finding) { f.Clusters++ },
		"name": func(f *recount.Finding) { f.What += "s" }, "rank": func(f *recount.Finding) { f.Rank.Rank++ },
		"value that is gone": func(f *recount.Finding) { f.Value = nil },
	} {
		own := *x.Run
		own.Claims = copied(t, x.Claims)
		do(&own.Claims.Tables[0].Findings[0])
		noticed := map[string]bool{}
		for _, d := range recount.CheckPrinted(&own, x.printed).Disagreements {
			where, _, _ := strings.Cut(d.Lanes, ":")
			noticed[where] = true
		}
		for _, where := range []string{"CSV", "export", "terminal", "report"} {
			if !noticed[where] {
				t.Errorf("%s: changed, and not noticed in %s", what, where)
			}
		}
	}
	own := *x.Run
	own.Claims = copied(t, x.Claims)
	*own.Claims.Costs[0].Cost *= 2
	if len(recount.CheckPrinted(&own, x.printed).Disagreements) == 0 {
		t.Error("a cost: changed, and not noticed on the leaderboard")
	}
}
