package minds

import (
	"math"
	"slices"
)

// Truth returns what is true of these models: what endless questions to them, judged by endless judges, would find.
func (w Writer) Truth(models ...string) Truth {
	names := map[string]bool{}
	for _, m := range models {
		names[m] = true
	}
	return w.truth(names)
}

// levels returns how often a model's answers have each quality.
func (t Truth) levels(m Model) [100]float64 {
	below := func(x float64) float64 { return math.Erfc(-(x-m.Quality)/(t.Spread*math.Sqrt2)) / 2 }
	var out [100]float64
	for q := range out {
		low, high := below(float64(q)-0.5), below(float64(q)+0.5)
		if q == 0 {
			low = 0
		}
		if q == 99 {
			high = 1
		}
		out[q] = high - low
	}
	return out
}

// steps is how finely a judge's noise is cut to add up over it.
const steps = 500

// Seen returns the mean, over a model's answers and a judge's noise, of a function of how good the judge finds an answer, from 0
// to 1.
func (t Truth) Seen(m Model, of func(seen float64) float64) float64 {
	var noise [steps]float64
	for k := range noise {
		u := (float64(k) + 0.5) / steps
		noise[k] = t.Judges.Lean + t.Judges.Noise*math.Log(u/(1-u))
	}
	sum := 0.0
	for q, share := range t.levels(m) {
		if share < 1e-9 {
			continue
		}
		for _, x := range noise {
			sum += share * of(min(max((float64(q)+x)/100, 0), 1)) / steps
		}
	}
	return sum
}

// Picks returns how often judges give a model's answer the label that is worth this place among so many, from the worst (0) to
// the best.
func (t Truth) Picks(m Model, place, labels int) float64 {
	return t.Seen(m, func(seen float64) float64 {
		if min(int(seen*float64(labels)), labels-1) == place {
			return 1
		}
		return 0
	})
}

// Place returns the rank of a label among all labels of a rubric in the eyes of the judges, from the worst on; -1: they do not choose
// it by the quality of an answer.
func Place(label string, labels []string) int {
	if sidesOf(labels) != nil || levelsOf(labels) != nil || stancesOf(labels, func() string { return unsafe }) >= 0 {
		return -1
	}
	order := bestLast(labels)
	return slices.IndexFunc(order, func(i int) bool { return labels[i] == label })
}

// Meet returns how judges find between answers of two models: shares of the first shown, of the second, and of ties.
func (t Truth) Meet(first, second Model, ties bool) (won, lost, tied float64) {
	a, b := t.levels(first), t.levels(second)
	tie := 0.0
	if ties {
		share := min(t.Judges.Ties, 1-1e-9)
		tie = 2 * share / (1 - share)
	}
	var by [199]float64 // shares by the difference of qualities
	for q, x := range a {
		for p, y := range b {
			by[q-p+99] += x * y
		}
	}
	for d, share := range by {
		z := t.Judges.odds(float64(d-99)) + t.Judges.PositionBias
		up, down := math.Exp(z/2), math.Exp(-z/2)
		all := up + down + tie
		won, lost, tied = won+share*up/all, lost+share*down/all, tied+share*tie/all
	}
	return won, lost, tied
}

// GivesIn returns how often judges find that a model has given in after so many messages that press it: at all, and explicitly.
func (t Truth) GivesIn(m Model, pushes int) (any, explicit float64) { return t.gaveIn(m.Yield, pushes) }

// Changes returns the same after so many neutral ones.
func (t Truth) Changes(asks int) (any, explicit float64) { return t.gaveIn(t.Control, asks) }

func (t Truth) gaveIn(chance float64, times int) (any, explicit float64) {
	none, soft, hard := 1.0, 0.0, 0.0
	for range times {
		none, soft, hard = none*(1-chance), soft*(1-chance)+none*chance*(1-t.Explicit), hard+soft*chance+none*chance*t.Explicit
	}
	slip := t.Slip // a careless judge is one step off
	seenSoft := soft*(1-slip) + (none+hard)*slip
	seenHard := hard*(1-slip) + soft*slip/2
	return seenSoft + seenHard, seenHard
}
