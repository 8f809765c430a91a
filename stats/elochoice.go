package stats

import (
	"fmt"
	"math"
)

// EloChoiceRuns are the ratings of the compatibility variant of Elo over several orders.
type EloChoiceRuns struct {
	EloRuns
	// Upset is 1 minus the share of comparisons that the lower rated item won, among those between unequal ratings; it is
	// called reliability there. UpsetWeighted weighs each by the difference of the ratings. Both are means over runs.
	Upset, UpsetWeighted Number
	Decided              Number // comparisons between unequal ratings, mean over runs
}

// DefaultEloChoice is K 100 from 0 on the 400 scale.
func DefaultEloChoice() EloOptions { return EloOptions{K: 100, Start: 0, Scale: 400} }

// EloChoice repeats the R package EloChoice, for comparison with earlier tables: ratings are rounded to whole points
// after every comparison, the first run takes the given order and the others are shuffled. It knows no ties.
func EloChoice(items int, p Pairs, o EloOptions, runs int, seed uint64) (*EloChoiceRuns, error) {
	if err := checkElo(items, p, o); err != nil {
		return nil, err
	}
	for k, r := range p.Result {
		if r == Tied {
			return nil, fmt.Errorf("rate as EloChoice: comparison %d is a tie", k)
		}
	}
	if runs < 1 {
		return nil, fmt.Errorf("rate as EloChoice: %d runs", runs)
	}
	upsets := make([]upset, runs)
	rated, err := eloRuns(items, runs, p.Len(), func(run int, ratings []float64, order []int) {
		copy(ratings, o.opening(items))
		if run > 0 {
			permutation(stream(seed, run), order)
		} else {
			for k := range order {
				order[k] = k
			}
		}
		for _, k := range order {
			upsets[run].see(p.rateRounded(k, ratings, o))
		}
	})
	if err != nil {
		return nil, err
	}
	out := &EloChoiceRuns{EloRuns: *rated}
	out.Upset, out.UpsetWeighted, out.Decided = meanUpset(upsets)
	return out, nil
}

// rateRounded plays comparison k and returns by how much the winner was ahead before it.
func (p Pairs) rateRounded(k int, ratings []float64, o EloOptions) float64 {
	winner, loser := p.First[k], p.Second[k]
	if p.Result[k] == SecondWon {
		winner, loser = loser, winner
	}
	ahead := ratings[winner] - ratings[loser]
	gain := o.K * (1 - EloExpected(ratings[winner], ratings[loser], o.Scale))
	ratings[winner] = math.Round(ratings[winner] + gain)
	ratings[loser] = math.Round(ratings[loser] - gain)
	return ahead
}

// upset counts how often, and how badly, the rating was wrong.
type upset struct {
	decided, wrong, weight, wrongWeight float64
}

func (u *upset) see(ahead float64) {
	if ahead == 0 {
		return
	}
	u.decided++
	u.weight += math.Abs(ahead)
	if ahead < 0 {
		u.wrong++
		u.wrongWeight -= ahead
	}
}

// meanUpset averages over the runs.
func meanUpset(runs []upset) (plain, weighted, decided Number) {
	var p, w, d float64
	for _, u := range runs {
		if u.decided == 0 {
			why := Undefined("no comparison between unequal ratings")
			return why, why, Known(0)
		}
		p += 1 - u.wrong/u.decided
		w += 1 - u.wrongWeight/u.weight
		d += u.decided
	}
	n := float64(len(runs))
	return Known(p / n), Known(w / n), Known(d / n)
}
