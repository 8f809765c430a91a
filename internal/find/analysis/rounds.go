package analysis

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// Rounds is how a stage came by its comparisons where it bought them in rounds, each chosen from the verdicts so far.
type Rounds struct {
	Looks   int     // so far
	Planned int     // in all
	Level   float64 // the error that the last look might spend: intervals are those of this level
	Alpha   float64 // the chance of any false claim, at most
	Next    float64 // the error that a look beyond the plan may spend
	Beyond  float64 // the error that looks beyond the plan have spent, on top of Alpha
	Claims  []Claim // so far
	Stopped string  // why no further round was bought; empty: it goes on
	Width   bool    // the goal is how certain strengths are: nothing is claimed
}

// Claim is a difference that a look has shown, whatever comes later.
type Claim struct {
	Better, Worse string
	Look          int // from 1
	P             float64
	Level         float64 // that P had to stay below
}

// bought reports whether this group is all the comparisons of a stage that bought them in rounds: what its looks decided is about it.
func (a *arena) bought() bool {
	return a.stage.Rounds != nil && len(a.by) == 0 && a.spec.entrants == "" && a.spec.Keep == nil
}

// partBought is the note of tables that rest on a part of such comparisons.
const partBought = "pairs were bought by what was found: intervals of a part of them may be too narrow"

// unevenlyBought is the note of shares of wins.
const unevenlyBought = "pairs were bought by what was found: opponents differ, and shares of wins are not comparable"

// wereLabels counts labels that something was done with.
func wereLabels(n int) string {
	if n == 1 {
		return "1 label was"
	}
	return plural(n, "label") + " were"
}

// inRounds are strengths whose intervals hold although what was bought, and when to stop, was decided by the verdicts. Errors are the larger
// of cluster-robust and model-based ones.
func (a *arena) inRounds(t *Table, field string) error {
	look, err := adaptive.NewLook(a.grouped)
	if err != nil {
		for i := range a.names {
			t.Findings = append(t.Findings, a.finding(WhatStrength, Logit, i, field).unknown("%s", a.noStrengths(err, field)))
		}
		a.standing(t, nil, field)
		return nil
	}
	how := "Bradley-Terry"
	if look.LogNu.OK {
		how = "Davidson"
	}
	how += ", by look"
	r := a.stage.Rounds
	known, places := r.known(a.names), placesOf(look.Theta)
	for i := range a.names {
		f := a.finding(WhatStrength, Logit, i, field)
		f.Value, f.SE, f.Method, f.Quasi = stats.Known(look.Theta[i]), stats.Known(look.SE[i]), how, stats.Undefined("not computed")
		f.Interval = look.Strength(i, r.Part(a.options.Level))
		if !r.Width {
			best, worst := known.Rank(i)
			f.Rank = &stats.RankInterval{Rank: places[i], Best: best, Worst: worst}
		}
		t.Findings = append(t.Findings, *f)
	}
	r.notes(t, look, a.options.Level)
	if m := look.Misfit; m.Large(len(a.names)) {
		t.note("%s and %s depart from the strengths of all: the first has %.0f%% of their %.0f comparisons, where strengths say %.0f%% (%.1f standard errors): claims are about strengths, and may be false of such a pair",
			a.names[m.I], a.names[m.J], 100*m.Score, m.N, 100*m.Fitted, math.Abs(m.Z))
	}
	a.standing(t, nil, field)
	r.stand(&t.standings[len(t.standings)-1], look, how)
	return nil
}

// Part is the error of a look where intervals are to hold with another level than usual: the same part of it.
func (r *Rounds) Part(level float64) float64 { return r.Level / r.Alpha * (1 - level) }

// Bound is the chance of any false claim, at most.
func (r *Rounds) Bound() float64 { return r.Alpha + r.Beyond }

// known are the directions that claims say, and what follows from them.
func (r *Rounds) known(names []string) *adaptive.Claims {
	out := adaptive.NewClaims(len(names))
	for _, c := range r.Claims {
		if i, j := slices.Index(names, c.Better), slices.Index(names, c.Worse); i >= 0 && j >= 0 {
			out.Add(i, j)
		}
	}
	return out
}

// placesOf are the places of strengths, from 1.
func placesOf(theta []float64) []int {
	out := make([]int, len(theta))
	for i, x := range theta {
		out[i] = 1
		for _, y := range theta {
			if y > x {
				out[i]++
			}
		}
	}
	return out
}

// notes say what the numbers of a table carry.
func (r *Rounds) notes(t *Table, look *adaptive.Look, level float64) {
	rounds := fmt.Sprintf("round %d of %d", r.Looks, r.Planned)
	if r.Stopped != "" {
		rounds = fmt.Sprintf("stopped after round %d of %d: %s", r.Looks, r.Planned, r.Stopped)
	}
	if r.Looks > r.Planned {
		rounds = fmt.Sprintf("looked at %d times, %d of them planned: more was bought to settle a pair", r.Looks, r.Planned)
	}
	t.note("%s", rounds)
	if r.Width {
		t.note("pairs were bought until strengths are certain enough, whoever wins: intervals hold as usual, and nothing is claimed")
	} else {
		t.note("intervals and places hold although pairs were bought by what was found: %s, each with its own level (%.3g%% for these intervals); the chance of any false claim is at most %.0f%%",
			plural(r.Planned, "look")+" planned"+r.more(), 100*r.Part(level), 100*r.Bound())
	}
	switch {
	case look.Thin:
		t.note("nothing is claimed yet: each needs %d comparisons", adaptive.Least)
	case !look.Finite:
		t.note("one of them wins or loses all of its comparisons: strengths are drawn towards each other, and have no intervals")
	}
}

// more says how many looks there were beyond the plan.
func (r *Rounds) more() string {
	if r.Looks <= r.Planned || r.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s beyond the plan", plural(int(math.Round(r.Beyond/r.Next)), "look"))
}

// stand makes a standing one of rounds: its tests have the errors of the look, and what differs is what was claimed.
func (r *Rounds) stand(s *Standing, look *adaptive.Look, how string) {
	s.Rounds, s.Look, s.Method = r, look, how
	for i := range s.Places {
		s.Places[i].Share = stats.Known(look.Share(i)) // opponents differ: shares that were won are not comparable
	}
	if len(s.Places) > maxStood {
		return
	}
	for _, p := range look.Pairs {
		d, se := stats.Known(p.Difference), stats.Known(p.SE())
		s.Tests = append(s.Tests, Contrast{
			First: p.I, Second: p.J, Difference: d, SE: se, Clusters: look.Clusters, Interval: look.Interval(p, r.Part(s.Level)), P: stats.Known(p.P),
			Information: stats.Known(p.Information),
		})
	}
}

// claimed are the places that claims tell apart.
func (s *Standing) claimed() map[[2]int]bool {
	names := make([]string, len(s.Places))
	for i, p := range s.Places {
		names[i] = p.Name
	}
	known, apart := s.Rounds.known(names), map[[2]int]bool{}
	for i := range names {
		for j := range i {
			if known.Known(i, j) {
				apart[[2]int{i, j}], apart[[2]int{j, i}] = true, true
			}
		}
	}
	return apart
}
