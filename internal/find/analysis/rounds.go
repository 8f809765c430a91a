package analysis

import (
	"slices"

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

// Part returns the error of a look where intervals are to hold with another level than usual: the same part of it.
func (r *Rounds) Part(level float64) float64 { return r.Level / r.Alpha * (1 - level) }

// Bound returns the chance of any false claim, at most.
func (r *Rounds) Bound() float64 { return r.Alpha + r.Beyond }

// Claimed returns the directions of claims, and what follows from them.
func (r *Rounds) Claimed(names []string) *adaptive.Claims {
	out := adaptive.NewClaims(len(names))
	for _, c := range r.Claims {
		if i, j := slices.Index(names, c.Better), slices.Index(names, c.Worse); i >= 0 && j >= 0 {
			out.Add(i, j)
		}
	}
	return out
}
