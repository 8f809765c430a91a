package adaptive

import "slices"

// Claims are the directions that are known, by claim or because they follow from claims. A claim stays, whatever later
// looks find.
type Claims struct {
	All    []Claim
	better [][]bool // [i][j]: i is better than j
}

// Claim is that one lane is better than another.
type Claim struct {
	Better, Worse int
	Look          int     // from 1
	P             float64 // of the look
	Level         float64 // that P had to stay below
	Open          int     // pairs that were not known then
}

// NewClaims knows nothing yet.
func NewClaims(lanes int) *Claims {
	c := &Claims{better: make([][]bool, lanes)}
	for i := range c.better {
		c.better[i] = make([]bool, lanes)
	}
	return c
}

// Known reports whether the direction of a pair is known.
func (c *Claims) Known(i, j int) bool { return c.better[i][j] || c.better[j][i] }

// unknown counts the pairs of a family that are not known.
func (c *Claims) unknown(all [][2]int, family []bool) (n int) {
	for k, p := range all {
		if family[k] && !c.Known(p[0], p[1]) {
			n++
		}
	}
	return n
}

// look claims what a look shows at its level: the smallest p first, against the level divided by what is not known yet (Holm).
func (c *Claims) look(number int, level float64, theta, p []float64, family []bool) []Claim {
	all := Pairs(len(theta))
	first := len(c.All)
	for {
		best, open := -1, 0
		for k, pair := range all {
			if !family[k] || c.Known(pair[0], pair[1]) {
				continue
			}
			if open++; best < 0 || p[k] < p[best] {
				best = k
			}
		}
		if best < 0 || p[best] > level/float64(open) {
			return slices.Clone(c.All[first:])
		}
		i, j := all[best][0], all[best][1]
		if theta[j] > theta[i] {
			i, j = j, i
		}
		c.All = append(c.All, Claim{Better: i, Worse: j, Look: number, P: p[best], Level: level / float64(open), Open: open})
		c.Add(i, j)
	}
}

// Add notes a direction, and what follows from it.
func (c *Claims) Add(i, j int) {
	for a := range c.better {
		if a != i && !c.better[a][i] {
			continue
		}
		for b := range c.better {
			if a != b && (b == j || c.better[j][b]) {
				c.better[a][b] = true
			}
		}
	}
}

// Rank returns the best and the worst place that a lane can have, from 1. All of them hold together.
func (c *Claims) Rank(lane int) (best, worst int) {
	best, worst = 1, len(c.better)
	for other := range c.better {
		if c.better[other][lane] {
			best++
		}
		if c.better[lane][other] {
			worst--
		}
	}
	return best, worst
}

// beaten returns how many are known to be better than a lane, and beats how many worse.
func (c *Claims) beaten(lane int) int { best, _ := c.Rank(lane); return best - 1 }
func (c *Claims) beats(lane int) int  { _, worst := c.Rank(lane); return len(c.better) - worst }
