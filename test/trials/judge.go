// Package trials tries rules of buying and claiming on simulated studies whose truth is known: how often a rule claims
// what is not so, how often its intervals hold, and what it spends.
package trials

import (
	"math"
	"math/rand/v2"

	"assay/internal/find/stats"
)

// Setting is a kind of study.
type Setting struct {
	Name  string
	Theta []float64 // the true strengths
	Items int
	Ties  float64 // Davidson's nu
	Order float64 // advantage of being shown first
	Alike float64 // correlation of the verdicts on one item
	Both  bool    // both orders of an item, one after the other
	First int     // of quotes: how often each two are compared before; 0: as usual
	// Uneven makes each answer as good as its lane and its own luck, in logits: a judge sees the two answers of an
	// item, and what every pair of the same answers gets is alike. Strengths are then weaker than Theta, in the same
	// order. 0: Alike.
	Uneven float64
	// Settles buys the quote of one open pair of neighbours after the last look, and looks beyond the plan.
	Settles bool
	Twice   bool // two meet once each way, and the two verdicts are alike: lanes are texts that meet each other
}

// most returns how often two lanes can meet.
func (s Setting) most() int {
	if s.Twice {
		return 2
	}
	return 2 * s.Items
}

// judge is one simulated study: the verdict on an item depends on both lanes' luck with it, and every single comparison
// has exactly the chances that follow from the true strengths.
type judge struct {
	Setting
	rng     *rand.Rand
	luck    [][]float64 // by lane and item
	begin   []int       // by pair: its first item
	bought  []int       // by pair
	rows    stats.Pairs
	cluster []uint32
}

func newJudge(s Setting, seed uint64) *judge {
	lanes := len(s.Theta)
	if s.Twice {
		s.Items = lanes * (lanes - 1) / 2 // one for each pair
	}
	j := &judge{Setting: s, rng: rand.New(rand.NewPCG(seed, 1)), luck: make([][]float64, lanes)}
	for i := range j.luck {
		j.luck[i] = make([]float64, s.Items)
		for k := range j.luck[i] {
			j.luck[i][k] = j.rng.NormFloat64()
		}
	}
	n := lanes * (lanes - 1) / 2
	j.bought, j.begin = make([]int, n), make([]int, n)
	for k := range j.begin { // pairs begin at different items
		j.begin[k] = k * max(1, int(0.381966*float64(s.Items))) % s.Items
	}
	return j
}

// compare compares pairs so many times more.
func (j *judge) compare(pairs [][2]int, buy []int) {
	for k, n := range buy {
		for range n {
			item, back := j.slot(k, j.bought[k])
			if j.Twice {
				item, back = k, (k+j.bought[k])%2 == 1
			}
			first, second := pairs[k][0], pairs[k][1]
			if back {
				first, second = second, first
			}
			j.rows.Append(uint16(first), uint16(second), j.verdict(first, second, item))
			j.cluster = append(j.cluster, uint32(item))
			j.bought[k]++
		}
	}
}

// slot returns the item and the order of a pair's n-th comparison: a new item each time, orders by turns; the other order of the same
// item only when the items are used up.
func (j *judge) slot(pair, n int) (item int, back bool) {
	if j.Both {
		return (j.begin[pair] + n/2) % j.Items, n%2 == 1
	}
	return (j.begin[pair] + n) % j.Items, (n%j.Items+pair+n/j.Items)%2 == 1
}

func (j *judge) verdict(first, second, item int) stats.Result {
	a := (j.Theta[first] - j.Theta[second] + j.Order + j.Uneven*(j.luck[first][item]-j.luck[second][item])) / 2
	up, down := math.Exp(a), math.Exp(-a)
	all := up + down + j.Ties
	z := math.Sqrt(1-j.Alike)*j.rng.NormFloat64() + math.Sqrt(j.Alike/2)*(j.luck[first][item]-j.luck[second][item])
	switch p := stats.NormalBelow(z); {
	case p > 1-up/all:
		return stats.FirstWon
	case p < down/all:
		return stats.SecondWon
	}
	return stats.Tied
}
