package trials

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// Quoted counts quotes: how many were bought, and how many of them resolved their pair.
type Quoted struct{ Bought, Settled int }

// Quotes asks in each study what it takes to tell one pair of neighbours apart that cannot be told apart, with a
// chance; buys as much, and looks. Strengths have a standard deviation; a quote above the most is not bought. Open is
// how many pairs a claim answers for. There are as many lanes as the setting has, or eight, and their pairs are
// compared as often as it has, or 40 times.
func Quotes(s Setting, deviation float64, open int, chance float64, studies int, seed uint64) (Quoted, error) {
	const most = 4000
	lanes, first := len(s.Theta), s.First
	if lanes == 0 {
		lanes = 8
	}
	if first == 0 {
		first = 40
	}
	var sum Quoted
	for k := range studies {
		rng := rand.New(rand.NewPCG(seed, uint64(k)))
		s.Theta = make([]float64, lanes)
		for i := range s.Theta {
			s.Theta[i] = deviation * rng.NormFloat64()
		}
		pairs := adaptive.Pairs(len(s.Theta))
		j := newJudge(s, seed<<32+uint64(k))
		j.compare(pairs, slices.Repeat([]int{first}, len(pairs)))
		look, err := j.look()
		if err != nil {
			return sum, err
		}
		critical := adaptive.Critical(adaptive.Alpha, open, look.Clusters)
		at := neighbour(look, critical, rng)
		if at < 0 {
			continue
		}
		q := adaptive.Quote{Pair: look.Pairs[at], Critical: critical, Spread: adaptive.Spread(look.Theta, look.SE)}
		n, ok := q.Needed(chance)
		if !ok || n > most {
			continue
		}
		more := make([]int, len(pairs))
		more[at] = int(math.Ceil(n))
		j.compare(pairs, more)
		if look, err = j.look(); err != nil {
			return sum, err
		}
		sum.Bought++
		if p := look.Pairs[at]; math.Abs(p.Difference) >= critical*p.SE() {
			sum.Settled++
		}
	}
	return sum, nil
}

// look analyses all comparisons of the study.
func (j *judge) look() (*adaptive.Look, error) {
	grouped, err := stats.Group(len(j.Theta), j.rows, j.cluster)
	if err != nil {
		return nil, err
	}
	return adaptive.NewLook(grouped)
}

// neighbour returns one of the pairs that are next to each other and cannot be told apart, at random; -1: there is none.
func neighbour(l *adaptive.Look, critical float64, rng *rand.Rand) int {
	order := make([]int, len(l.Theta))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(l.Theta[b], l.Theta[a]) })
	var open []int
	for k, p := range l.Pairs {
		next := slices.Index(order, p.I) - slices.Index(order, p.J)
		if (next == 1 || next == -1) && math.Abs(p.Difference) < critical*p.SE() {
			open = append(open, k)
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[rng.IntN(len(open))]
}
