package trials

import (
	"math"

	"assay/adaptive"
	"assay/stats"
)

// Labels has a person compare so many pairs one after the other, in each of many studies: those that were compared least come first, or, with
// doubt, those of which it is least known who is better, as the queue of labels has it. At the end there is one look, as if nothing had been
// chosen by what was found.
func Labels(s Setting, labels int, doubt bool, studies int, seed uint64) (Sum, error) {
	return sumOf(studies, seed, func(luck uint64) (Outcome, error) {
		p := adaptive.Plan{Lanes: len(s.Theta), Rounds: 1, Budget: labels, Most: s.most(), Alpha: adaptive.Alpha}
		g, err := adaptive.Begin(p)
		if err != nil {
			return Outcome{}, err
		}
		t := &trial{judge: newJudge(s, luck), progress: g, pairs: adaptive.Pairs(p.Lanes), rule: Planned}
		score, one := make([]float64, len(t.pairs)), make([]int, len(t.pairs))
		for range labels {
			next := t.due(score, doubt)
			one[next] = 1
			t.compare(t.pairs, one)
			one[next] = 0
			score[next] += t.scored(t.pairs[next][0])
		}
		look, err := t.look()
		if err != nil {
			return Outcome{}, err
		}
		out := Outcome{Looks: 1, Spent: labels}
		g.Look(look)
		out.Covered, out.Between = t.covered(look, 1)
		out.False, out.Reached = t.wrong(), t.reached()
		return out, nil
	})
}

// due is the pair that comes next.
func (t *trial) due(score []float64, doubt bool) int {
	best, most := 0, math.Inf(-1)
	for k := range t.pairs {
		value := -float64(t.bought[k])
		if doubt {
			value = doubtOf(score[k], float64(t.bought[k]))
		}
		if value += 1e-9 * t.rng.Float64(); value > most {
			best, most = k, value
		}
	}
	return best
}

// doubtOf is the chance that the leader of two is not the better one, by a normal approximation of the posterior.
func doubtOf(score, n float64) float64 {
	if n == 0 {
		return 1
	}
	p := (score + 1) / (n + 2)
	return 2 * stats.NormalBelow(-math.Abs(p-0.5)/math.Sqrt(p*(1-p)/(n+3)))
}

// scored is what a lane has of the last comparison, where a tie is half.
func (t *trial) scored(lane int) float64 {
	last := t.rows.Len() - 1
	switch first := int(t.rows.First[last]) == lane; t.rows.Result[last] {
	case stats.FirstWon:
		return map[bool]float64{true: 1, false: 0}[first]
	case stats.SecondWon:
		return map[bool]float64{true: 0, false: 1}[first]
	}
	return 0.5
}
