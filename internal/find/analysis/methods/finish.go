package methods

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// finish fills in what all findings of a table share.
func (e entry) finish(t *analysis.Table, o analysis.Options) {
	t.Stage = e.stage.Name
	if e.who == people {
		t.People = true
		t.Title += ", by people"
	}
	if t.Method == "" {
		t.Method, t.Primary = e.spec.Method, e.spec.Primary
	}
	if t.By == nil {
		t.By = e.spec.By
	}
	if e.spec.Explores {
		t.Note("exploratory: the study declares this finding as primary with other groups or all rows; here it is neither primary " +
			"nor corrected")
	}
	if m := e.spec.Late; m != nil {
		t.Note("declared primary on %s, after %s: not a planned finding, and not corrected with the planned ones", m.Day(),
			analysis.Plural(int(m.Verdicts), "verdict"))
	}
	if e.stage.Jury != "" && !t.People && !e.spec.EachVerdict() {
		t.Note("%s", juries()[e.stage.Jury])
		if t.Coverage.Alone > 0 {
			t.Note("%d of %s %s on one vote", t.Coverage.Alone, analysis.Plural(t.Coverage.Valid, "verdict"),
				assay.Verb(t.Coverage.Alone, "rests", "rest"))
		}
	}
	t.Unvalidated = !e.stage.Validated && e.who != people && e.stage.Machines()
	if t.People || !e.stage.Machines() {
		t.Unclear = e.stage.Unclear
	}
	t.Selected = e.stage.Selected
	if l := e.stage.Looked; l != nil && !t.People && e.spec.Keep == nil {
		t.Looked = l
		t.Note("look %d at the items: the chance of any false claim of all looks is at most %.3g%%", len(l.Items)+1, 100*l.Bound(o.Level))
	}
	if c := e.stage.Checked; c.Decides() && c.Pairs && !t.People && ranksPairs(t.Method) {
		t.Note("by the judge alone: labels of people correct shares of wins, and ranks come from these (judge validity)")
	}
	e.finishLeaderboards(t, o)
	if !t.People && e.spec.Keep == nil {
		e.stage.Beside(t)
	}
	headed := slices.ContainsFunc(t.Findings, func(f analysis.Finding) bool { return slices.Contains(headlines(), f.What) })
	for i := range t.Findings {
		f := &t.Findings[i]
		if f.Stage = e.stage.Name; f.Level == 0 {
			f.Level = o.Level
		}
		if c := e.stage.CheckedOf(f.By); f.P.OK && !c.Trusted() && !t.People && untrusted(f.What) {
			f.P = stats.Undefined("by the judge alone, which is not to be trusted: %s", c.State)
			f.Note("%s", f.P.Why)
			if f.Margin != nil {
				f.Margin.Standing, f.Interval = stats.CannotTell, stats.NoInterval("%s", f.P.Why)
			}
		}
		f.Control = e.stage.IsControl(f.Of(analysis.ByBranch))
		f.Primary = t.Primary && (!headed || slices.Contains(headlines(), f.What))
		if f.Coverage.Incomplete() {
			f.Note("incomplete")
		}
	}
	for i := range t.Sides {
		t.Sides[i].Stage, t.Sides[i].Alone = e.stage.Name, !t.People && e.stage.Checked.Decides()
		for _, f := range t.Sides[i].Findings() {
			f.Stage, f.Level = e.stage.Name, o.Level
		}
	}
}

// ranksPairs reports whether a method ranks what was compared.
func ranksPairs(m analysis.Method) bool {
	return m == analysis.BradleyT || m == analysis.Davidson || m == analysis.Elo || m == analysis.WinRate
}

// untrusted reports whether a finding tells lanes apart by what the judge says of them.
func untrusted(what string) bool {
	return what == analysis.WhatDifference || what == analysis.WhatExcess || what == analysis.WhatAny || what == analysis.WhatNoWorse
}

// juries returns how judges decide together, in words.
func juries() map[string]string {
	return map[string]string{
		"majority":  "each verdict is the majority of the valid votes of all judges",
		"mean":      "each verdict is the mean of the valid scores of all judges",
		"unanimous": "a verdict counts where all judges agree",
	}
}

// headlines returns the findings that a primary analysis is about; the others of its tables explain them.
func headlines() []string {
	return []string{
		analysis.WhatRate, analysis.WhatMean, analysis.WhatDifference, analysis.WhatNoWorse, analysis.WhatExcess, analysis.WhatRegressive,
		analysis.WhatProgressive, analysis.WhatStrength, analysis.WhatWin, analysis.WhatElo, analysis.WhatFirst, analysis.WhatConsistency,
		analysis.WhatAlpha,
	}
}

// stood returns the leaderboards of a stage: those of its primary table, else of the one that holds against a control,
// else of the first.
func stood(tables []doneTable) []analysis.Leaderboard {
	var best []analysis.Leaderboard
	rank := -1
	for _, d := range tables {
		if len(d.table.Leaderboards) == 0 || d.table.People || d.gates || d.sides {
			continue
		}
		at := 4*int(gather.One(d.table.Primary)) + 2*int(gather.One(d.table.Method == analysis.Flips)) + int(gather.One(!d.hidden))
		if at > rank {
			best, rank = d.table.Leaderboards, at
		}
	}
	return best
}

// finishLeaderboards fills in what the leaderboards of a table share.
func (e entry) finishLeaderboards(t *analysis.Table, o analysis.Options) {
	for i := range t.Leaderboards {
		s := &t.Leaderboards[i]
		s.Stage, s.Verb, s.Primary, s.Level, s.Coverage = e.stage.Name, e.stage.Verb, t.Primary, o.Level, t.Coverage
		s.Judges, s.Machines, s.Validated = e.stage.Judges, e.stage.Machines(), e.stage.Validated
		if s.Looked = t.Looked; len(s.By) > 0 || s.Field != analysis.ByLane {
			s.Looked = nil
		}
		if !s.Machines {
			s.Unclear = e.stage.Unclear
		}
		for _, c := range s.Tests {
			s.Clusters = max(s.Clusters, c.Clusters)
		}
		s.Part = e.spec.Keep != nil && !e.spec.Firsts
		s.Correct(e.stage.CheckedOf(s.By))
		s.FillRanks(t, o.Seed)
		if len(s.Judges) == 1 && s.Field == analysis.ByLane {
			family := e.stage.Families[s.Judges[0]]
			for _, p := range s.Places {
				if family != "" && e.stage.Families[p.Name] == family {
					s.Kin = append(s.Kin, p.Name)
				}
			}
		}
	}
}
