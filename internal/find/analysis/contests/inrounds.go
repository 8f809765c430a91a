package contests

import (
	"fmt"
	"math"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// bought reports whether this group is all the comparisons of a stage that bought them in rounds: what its looks
// decided is about it.
func (a *arena) bought() bool {
	return a.Stage.Rounds != nil && len(a.by) == 0 && a.Spec.Entrants == "" && a.Spec.Keep == nil
}

// partBought is the note of tables that rest on a part of such comparisons.
const partBought = "pairs were bought by what was found: intervals of a part of them may be too narrow"

// unevenlyBought is the note of shares of wins.
const unevenlyBought = "pairs were bought by what was found: opponents differ, and shares of wins are not comparable"

// inRounds are strengths whose intervals hold although what was bought, and when to stop, was decided by the verdicts.
// Errors are the larger of cluster-robust and model-based ones.
func (a *arena) inRounds(t *analysis.Table, field string) error {
	look, err := adaptive.NewLook(a.grouped)
	if err != nil {
		for i := range a.names {
			t.Findings = append(t.Findings,
				a.finding(analysis.WhatStrength, analysis.Logit, i, field).Unknown("%s", a.noStrengths(err, field)))
		}
		a.leaderboard(t, nil, field)
		return nil
	}
	how := "Bradley-Terry"
	if look.LogNu.OK {
		how = "Davidson"
	}
	how += ", by look"
	r := a.Stage.Rounds
	known, places := r.Claimed(a.names), placesOf(look.Theta)
	for i := range a.names {
		f := a.finding(analysis.WhatStrength, analysis.Logit, i, field)
		f.Value, f.SE, f.Method, f.Quasi = stats.Known(look.Theta[i]), stats.Known(look.SE[i]), how, stats.Undefined("not computed")
		f.Interval = look.Strength(i, r.Part(a.Options.Level))
		if !r.Width {
			best, worst := known.Rank(i)
			f.Rank = &stats.RankInterval{Rank: places[i], Best: best, Worst: worst}
		}
		t.Findings = append(t.Findings, *f)
	}
	roundNotes(t, r, look, a.Options.Level)
	if m := look.Misfit; m.Large(len(a.names)) {
		t.Note("%s and %s depart from the strengths of all: the first has %.0f%% of their %.0f comparisons, where strengths say "+
			"%.0f%% (%.1f standard errors): claims are about strengths, and may be false of such a pair", a.names[m.I], a.names[m.J],
			100*m.Score, m.N, 100*m.Fitted, math.Abs(m.Z))
	}
	a.leaderboard(t, nil, field)
	standInRounds(&t.Leaderboards[len(t.Leaderboards)-1], r, look, how)
	return nil
}

// placesOf returns the places of strengths, from 1.
func placesOf(theta []float64) []int {
	out := make([]int, len(theta))
	for i, x := range theta {
		out[i] = 1
		for _, y := range theta {
			if y > x && !stats.Same(x, y) {
				out[i]++
			}
		}
	}
	return out
}

// roundNotes adds notes on the guarantees of the numbers of a table.
func roundNotes(t *analysis.Table, r *analysis.Rounds, look *adaptive.Look, level float64) {
	rounds := fmt.Sprintf("round %d of %d", r.Looks, r.Planned)
	if r.Stopped != "" {
		rounds = fmt.Sprintf("stopped after round %d of %d: %s", r.Looks, r.Planned, r.Stopped)
	}
	if r.Looks > r.Planned {
		rounds = fmt.Sprintf("looked at %d times, %d of them planned: more was bought to settle a pair", r.Looks, r.Planned)
	}
	t.Note("%s", rounds)
	if r.Width {
		t.Note("pairs were bought until strengths are certain enough, whoever wins: intervals hold as usual, and nothing is claimed")
	} else {
		t.Note("intervals and places hold although pairs were bought by what was found: %s, each with its own level (%.3g%% for these "+
			"intervals); the chance of any false claim is at most %.0f%%", analysis.Plural(r.Planned, "look")+" planned"+moreLooks(r),
			100*r.Part(level), 100*r.Bound())
	}
	switch {
	case look.Thin:
		t.Note("nothing is claimed yet: each needs %d comparisons", adaptive.Least)
	case !look.Finite:
		t.Note("one of them wins or loses all of its comparisons: strengths are drawn towards each other, and have no intervals")
	}
}

// moreLooks returns a note on the looks beyond the plan.
func moreLooks(r *analysis.Rounds) string {
	if r.Looks <= r.Planned || r.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s beyond the plan", analysis.Plural(int(math.Round(r.Beyond/r.Next)), "look"))
}

// standInRounds makes a leaderboard one of rounds: its tests have the errors of the look, and only claimed differences
// count.
func standInRounds(s *analysis.Leaderboard, r *analysis.Rounds, look *adaptive.Look, how string) {
	s.Rounds, s.Look, s.Method = r, look, how
	for i := range s.Places {
		s.Places[i].Share = stats.Known(look.Share(i)) // opponents differ: shares that were won are not comparable
	}
	if len(s.Places) > analysis.MaxCompared {
		return
	}
	for _, p := range look.Pairs {
		d, se := stats.Known(p.Difference), stats.Known(p.SE())
		s.Tests = append(s.Tests, analysis.Contrast{
			First: p.I, Second: p.J, Difference: d, SE: se, Clusters: look.Clusters, Interval: look.Interval(p, r.Part(s.Level)),
			P: stats.Known(p.P), Information: stats.Known(p.Information),
		})
	}
}
