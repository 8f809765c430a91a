package trials

import (
	"math"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// Labels has a person compare so many pairs one after the other, in each of many studies: those that were compared
// least come first, with doubt among those of which it is not clear yet who is better, as the queue of labels has it.
// At the end there is one look, as if nothing had been chosen by what was found.
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
		out.Covered, out.Between = t.covered(look, t.level(1))
		out.False, out.Reached = t.wrong(), t.reached()
		for _, p := range t.pairs {
			if g.Claims.Known(p[0], p[1]) {
				out.Known++
			}
		}
		return out, nil
	})
}

// due returns the pair that comes next: the one that was compared least, with doubt among those that are not clear yet.
func (t *trial) due(score []float64, doubt bool) int {
	best, most := 0, math.Inf(-1)
	for k := range t.pairs {
		value := -float64(t.bought[k])
		if doubt && adaptive.Clear(score[k], float64(t.bought[k])-score[k], len(t.pairs)) {
			value -= 1e6
		}
		if value += 1e-9 * t.rng.Float64(); value > most {
			best, most = k, value
		}
	}
	return best
}

// scored returns what a lane has of the last comparison, where a tie is half.
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
