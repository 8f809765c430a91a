// Package adaptive settles who is better with the fewest comparisons: it plans looks and what error each may spend,
// claims directions, decides what the next round buys, and prices what is left. It draws nothing at random and knows
// nothing of lanes but their numbers: the same verdicts give the same decisions.
package adaptive

import (
	"fmt"
	"math"
	"slices"
)

// Plan is made before the first look, and never changes: the error that looks may spend rests on it.
type Plan struct {
	Lanes  int
	Rounds int     // a look follows each
	Budget int     // comparisons in all rounds
	Most   int     // comparisons of one pair: two for each item
	Alpha  float64 // the chance of any false claim
	Goal   Goal
	// Futility gives a pair up whose chance of being settled with the rest of the budget is below it; 0: none.
	Futility float64
	// Order are the numbers of pairs, those that come first among equals first; nil: in lane order.
	Order []int
}

// The usual plan.
const (
	Rounds   = 5
	Alpha    = 0.05
	Futility = 0.05
)

// Least is how many comparisons a lane needs before anything is claimed about anyone.
const Least = 20

// Check finds what is wrong with a plan.
func (p Plan) Check() error {
	switch {
	case p.Lanes < 2:
		return fmt.Errorf("plan rounds: %d lanes cannot be compared", p.Lanes)
	case p.Rounds < 1:
		return fmt.Errorf("plan rounds: %d rounds", p.Rounds)
	case p.Budget < 1 || p.Most < 1:
		return fmt.Errorf("plan rounds: %d comparisons, at most %d of a pair", p.Budget, p.Most)
	case !(p.Alpha > 0 && p.Alpha < 1) || !(p.Futility >= 0 && p.Futility < 1):
		return fmt.Errorf("plan rounds: level %g, futility %g", p.Alpha, p.Futility)
	case p.Order != nil && len(p.Order) != p.Lanes*(p.Lanes-1)/2:
		return fmt.Errorf("plan rounds: an order of %d pairs of %d lanes", len(p.Order), p.Lanes)
	}
	return p.Goal.check(p.Lanes)
}

// Until returns how many comparisons are bought until each look: little at first, then evenly. The first round gives
// each lane enough for a claim.
func (p Plan) Until() []int {
	weight := func(round int) float64 {
		switch {
		case round == 0 && p.Rounds > 1:
			return 0.4
		case round == 1 && p.Rounds > 2:
			return 0.6
		}
		return 1
	}
	all := 0.0
	for r := range p.Rounds {
		all += weight(r)
	}
	floor := p.floor()
	until, sum := make([]int, p.Rounds), 0.0
	for r := range until {
		sum += weight(r)
		until[r] = max(int(math.RoundToEven(float64(p.Budget)*sum/all)), floor)
	}
	if p.Rounds > 1 && until[1] == floor { // it takes the share of the second round, too: the others share what is left
		for r := range until {
			until[r] = floor + (p.Budget-floor)*r/(p.Rounds-1)
		}
	}
	return until
}

// floor returns how many comparisons give each lane enough for a claim. Dealt in their order, an odd number of lanes
// needs a few more than half of what all need.
func (p Plan) floor() int {
	n, pairs := Least*p.Lanes/2, p.Lanes*(p.Lanes-1)/2
	if p.Order == nil || n >= p.Budget {
		return min(n, p.Budget)
	}
	all, met := Pairs(p.Lanes), make([]int, p.Lanes)
	for i := range met {
		met[i] = n / pairs * (p.Lanes - 1)
	}
	add := func(k int) { two := all[p.Order[k%pairs]]; met[two[0]]++; met[two[1]]++ }
	for k := range n % pairs {
		add(k)
	}
	for n < p.Budget && slices.Min(met) < Least {
		add(n)
		n++
	}
	return n
}

// Levels returns the error that each look may spend, in proportion to what its round buys. They sum to Alpha.
func (p Plan) Levels() []float64 {
	levels, before := make([]float64, p.Rounds), 0
	for r, n := range p.Until() {
		levels[r] = p.Alpha * float64(n-before) / float64(p.Budget)
		before = n
	}
	return levels
}

// Goal is the question to be answered. The zero value is the whole ranking.
type Goal struct {
	Top     int      // which lanes are the best so many
	Between [][2]int // these pairs alone
	Width   float64  // no claims: all strengths to within plus or minus so much
}

func (g Goal) check(lanes int) error {
	if g.Top < 0 || g.Top >= lanes {
		return fmt.Errorf("plan rounds: the best %d of %d lanes", g.Top, lanes)
	}
	if g.Top > 0 && len(g.Between) > 0 || g.Width != 0 && g.Top+len(g.Between) > 0 {
		return fmt.Errorf("plan rounds: several goals")
	}
	if !(g.Width >= 0) {
		return fmt.Errorf("plan rounds: width %g", g.Width)
	}
	for _, b := range g.Between {
		if min(b[0], b[1]) < 0 || max(b[0], b[1]) >= lanes || b[0] == b[1] {
			return fmt.Errorf("plan rounds: pair %d and %d of %d lanes", b[0], b[1], lanes)
		}
	}
	return nil
}

// Pairs returns all pairs of so many lanes, i < j, in lane order. Slices by pair follow it.
func Pairs(lanes int) [][2]int {
	all := make([][2]int, 0, lanes*(lanes-1)/2)
	for i := range lanes {
		for j := i + 1; j < lanes; j++ {
			all = append(all, [2]int{i, j})
		}
	}
	return all
}

// family returns the pairs about which something may be claimed: who the neighbours and leaders are comes from the
// data, so that all pairs count unless some were named before.
func (g Goal) family(all [][2]int) []bool {
	in := make([]bool, len(all))
	for k, p := range all {
		in[k] = len(g.Between) == 0
		for _, b := range g.Between {
			in[k] = in[k] || b == p || b == [2]int{p[1], p[0]}
		}
	}
	return in
}
