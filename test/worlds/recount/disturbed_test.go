package recount_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/test/worlds/recount"
)

// unchecked lists what a check does not notice, as expressions for method, finding and part.
var unchecked = []string{
	// not computed a second time yet
	"judge-bias (length effect|own family|favours|repeat noise).*",
	"(bradley-terry|davidson) (deviance|circular triples).*", "agreement agreement with others.*",
	"agreement judge delta(| spread): n", "agreement judge mean of lane: clusters",
	// but for the value, where all strengths have errors
	"(bradley-terry|davidson) reliability.*",
	// needs as many controls as branches: the examples have one
	"flips any.*",
	// over random orders
	"elo .*",
	// bounds of ranks are drawn
	"(bradley-terry|davidson) strength: rank",
}

// disturbances each change one part of a finding; false: it does not have it.
var disturbances = []struct {
	part string
	do   func(*recount.Finding) bool
}{
	{"value", func(f *recount.Finding) bool { return moved(f.Value) }},
	{"value that is gone", func(f *recount.Finding) bool { had := f.Value != nil; f.Value = nil; return had }},
	{"standard error", func(f *recount.Finding) bool { return moved(f.SE) }},
	{"low bound", func(f *recount.Finding) bool { return moved(f.Low) }},
	{"high bound", func(f *recount.Finding) bool { return moved(f.High) }},
	{"interval that is gone", func(f *recount.Finding) bool { had := f.Low != nil; f.Low, f.High = nil, nil; return had }},
	{"bound", func(f *recount.Finding) bool { return moved(f.AtLeast) }},
	{"p", func(f *recount.Finding) bool { return moved(f.P) }},
	{"n", func(f *recount.Finding) bool { f.N++; return true }},
	{"clusters", func(f *recount.Finding) bool { f.Clusters++; return true }},
	{"coverage", func(f *recount.Finding) bool { f.Coverage.Valid++; return true }},
	{"rank", func(f *recount.Finding) bool {
		if f.Rank != nil {
			f.Rank.Best++
		}
		return f.Rank != nil
	}},
	{"record", func(f *recount.Finding) bool {
		if f.Record != nil {
			f.Record.Ties++
		}
		return f.Record != nil
	}},
}

func moved(x *float64) bool {
	if x != nil {
		*x += 1e-4
	}
	return x != nil
}

// copied returns claims that share nothing with others.
func copied[T any](t *testing.T, of T) T {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryDisturbedNumberIsNoticed changes one number of each kind after the other: a check that notices none of it would
// hold nothing.
func TestEveryDisturbedNumberIsNoticed(t *testing.T) {
	t.Parallel()
	done, unseen := map[string]bool{}, map[string]bool{}
	for _, s := range studies() {
		r := rehearsed(t, s.name)
		whole := r.Claims
		for i := range whole.Tables {
			table := whole.Tables[i]
			r.Claims = recount.Claims{Tables: []recount.Table{table}}
			known := len(recount.Check(r).Disagreements)
			for k, f := range table.Findings {
				for _, d := range disturbances {
					kind := table.Method + " " + f.What + ": " + d.part
					one := copied(t, f)
					if done[kind] || !d.do(&one) {
						continue
					}
					r.Claims.Tables[0].Findings = slices.Clone(table.Findings)
					r.Claims.Tables[0].Findings[k] = one
					if done[kind] = true; len(recount.Check(r).Disagreements) == known {
						unseen[kind] = true
					}
				}
			}
		}
	}
	used := map[string]bool{}
	for kind := range unseen {
		listed := false
		for _, x := range unchecked {
			if regexp.MustCompile("^(" + x + ")$").MatchString(kind) {
				listed, used[x] = true, true
			}
		}
		if !listed {
			t.Errorf("%s: changed, and not noticed", kind)
		}
	}
	for _, x := range unchecked {
		if !used[x] {
			t.Errorf("%s: noticed by now; take it from the list", x)
		}
	}
}

// TestDisturbedSummariesAreNoticed changes what is claimed of a whole run.
func TestDisturbedSummariesAreNoticed(t *testing.T) {
	t.Parallel()
	r := rehearsed(t, "start")
	whole := r.Claims
	for what, do := range map[string]func(*recount.Claims){
		"a tier": func(c *recount.Claims) { c.Summary.Ranked[0].Tier += "B" },
		"the order of lanes": func(c *recount.Claims) {
			c.Summary.Ranked[0], c.Summary.Ranked[3] = c.Summary.Ranked[3], c.Summary.Ranked[0]
		},
		"a lane that is gone":  func(c *recount.Claims) { c.Summary.Ranked = c.Summary.Ranked[1:] },
		"the sentence":         func(c *recount.Claims) { c.Summary.Coverage = strings.Replace(c.Summary.Coverage, "100%", "99%", 1) },
		"a cost":               func(c *recount.Claims) { c.Costs[0].AtLeast *= 1.01 },
		"a price":              func(c *recount.Claims) { *c.Costs[0].PerAnswer *= 1.1 },
		"a price per verdict":  func(c *recount.Claims) { *c.Costs[4].PerVerdict *= 1.1 },
		"answers":              func(c *recount.Claims) { c.Costs[0].Answers++ },
		"coverage of a table":  func(c *recount.Claims) { c.Tables[0].Coverage.Missing++ },
		"a lane without rates": func(c *recount.Claims) { c.Tables[0].Findings = c.Tables[0].Findings[3:] },
	} {
		r.Claims = copied(t, whole)
		do(&r.Claims)
		if len(recount.Check(r).Disagreements) == 0 {
			t.Errorf("%s: changed, and not noticed", what)
		}
	}
	r.Claims = whole
	for i, v := range r.Verdicts {
		if v.Stage == "correct" && v.Label == "right" {
			r.Verdicts[i].Label, r.Verdicts[i].Score = "wrong", new(float64)
			break
		}
	}
	if len(recount.Check(r).Disagreements) == 0 {
		t.Error("a verdict: changed, and not noticed")
	}
}
