package stats

import (
	"fmt"
	"math"
	"slices"
)

// Scale is the scale of ratings, which sets the distance of two of them in Krippendorff's alpha.
type Scale uint8

// The scales, by what the ratings are.
const (
	NominalScale  Scale = iota // names
	OrdinalScale               // ranks
	IntervalScale              // numbers whose differences mean something
	RatioScale                 // numbers with a true zero
)

// Rating is one value that a rater gave to one unit. A missing rating is one that is not there.
type Rating struct {
	Unit  int
	Value float64
}

// agreed is an index over units that are entered (1) or taken out again (-1).
type agreed interface {
	rests(unit int) bool // reports whether the index takes the unit into account
	enter(unit, sign int)
	index() Number
}

// entered returns the index of so many units.
func entered(a agreed, units int) Number {
	for u := range units {
		if a.rests(u) {
			a.enter(u, 1)
		}
	}
	return a.index()
}

// beyond is agreement beyond chance.
func beyond(observed, chance float64) Number {
	if chance >= 1-1e-15 {
		return Undefined("chance alone agrees always")
	}
	return Known((observed - chance) / (1 - chance))
}

// cohen counts the categories that two raters gave the same units.
type cohen struct {
	first, second []int
	row, col      []int
	n, same       int
}

func (c *cohen) rests(int) bool { return true }

func (c *cohen) enter(u, sign int) {
	c.n += sign
	c.row[c.first[u]] += sign
	c.col[c.second[u]] += sign
	if c.first[u] == c.second[u] {
		c.same += sign
	}
}

func (c *cohen) index() Number {
	if c.n == 0 {
		return Undefined("no unit was rated by both")
	}
	n, chance := float64(c.n), 0.0
	for k := range c.row {
		chance += float64(c.row[k]) / n * float64(c.col[k]) / n
	}
	return beyond(float64(c.same)/n, chance)
}

// fleiss counts the ratings of units that all have as many.
type fleiss struct {
	ratings       [][]int
	raters, units int
	same          int
	total         []int
}

func newFleiss(ratings [][]int) (*fleiss, error) {
	f := &fleiss{ratings: ratings}
	for u, unit := range ratings {
		n, err := countRatings(ratings, u)
		if err != nil {
			return f, err
		}
		if f.total == nil {
			f.raters, f.total = n, make([]int, len(unit))
		}
		if n != f.raters {
			return f, fmt.Errorf("compare raters: unit %d has %d ratings, the first has %d", u, n, f.raters)
		}
	}
	return f, nil
}

// countRatings returns how many ratings a unit has.
func countRatings(ratings [][]int, u int) (int, error) {
	n := 0
	for _, c := range ratings[u] {
		if n += c; c < 0 {
			return 0, fmt.Errorf("compare raters: unit %d has a bad count", u)
		}
	}
	if len(ratings[u]) != len(ratings[0]) {
		return 0, fmt.Errorf("compare raters: unit %d has another number of categories", u)
	}
	return n, nil
}

func (f *fleiss) rests(int) bool { return true }

func (f *fleiss) enter(u, sign int) {
	f.units += sign
	for k, c := range f.ratings[u] {
		f.same += sign * c * (c - 1)
		f.total[k] += sign * c
	}
}

func (f *fleiss) index() Number {
	if f.units == 0 {
		return Undefined("no units")
	}
	if f.raters < 2 {
		return Undefined("agreement needs two raters, there is %d", f.raters)
	}
	units, n, chance := float64(f.units), float64(f.raters), 0.0
	for _, t := range f.total {
		chance += square(float64(t) / (units * n))
	}
	return beyond(float64(f.same)/(units*n*(n-1)), chance)
}

// gwet adds up the shares of categories of units that need not have as many ratings.
type gwet struct {
	ratings     [][]int
	given       []int // ratings of each unit
	units, both int   // both: with two ratings or more
	same        float64
	share       []float64
}

func newGwet(ratings [][]int) (*gwet, error) {
	g := &gwet{ratings: ratings, given: make([]int, len(ratings))}
	for u, unit := range ratings {
		n, err := countRatings(ratings, u)
		if err != nil {
			return g, err
		}
		if g.given[u] = n; g.share == nil {
			g.share = make([]float64, len(unit))
		}
	}
	return g, nil
}

func (g *gwet) rests(u int) bool { return g.given[u] > 0 }

func (g *gwet) enter(u, sign int) {
	g.units += sign
	n, same := float64(g.given[u]), 0
	for k, c := range g.ratings[u] {
		g.share[k] += float64(sign*c) / n
		same += c * (c - 1)
	}
	if n > 1 {
		g.both += sign
		g.same += float64(sign*same) / (n * (n - 1))
	}
}

func (g *gwet) index() Number {
	if g.both == 0 {
		return Undefined("no unit was rated twice")
	}
	if len(g.share) < 2 {
		return Undefined("there is one category only")
	}
	rare, units := 0.0, float64(g.units)
	for _, s := range g.share {
		rare += s / units * (1 - s/units)
	}
	return beyond(g.same/float64(g.both), rare/float64(len(g.share)-1))
}

// krippendorff counts the pairs of ratings inside units.
type krippendorff struct {
	scale       Scale
	values      []float64 // sorted
	units       [][]int   // places in values of the ratings of each unit
	coincidence [][]float64
}

func newKrippendorff(ratings []Rating, scale Scale) (*krippendorff, error) {
	k := &krippendorff{scale: scale}
	for at, r := range ratings {
		if !Known(r.Value).OK || scale == RatioScale && r.Value < 0 {
			return nil, fmt.Errorf("compare raters: rating %d is %g", at, r.Value)
		}
		k.values = append(k.values, r.Value)
	}
	slices.Sort(k.values)
	k.values = slices.Compact(k.values)
	k.coincidence = make([][]float64, len(k.values))
	for i := range k.coincidence {
		k.coincidence[i] = make([]float64, len(k.values))
	}
	for _, r := range ratings {
		for len(k.units) <= r.Unit {
			k.units = append(k.units, nil)
		}
		at, _ := slices.BinarySearch(k.values, r.Value)
		k.units[r.Unit] = append(k.units[r.Unit], at)
	}
	return k, nil
}

func (k *krippendorff) rests(u int) bool { return len(k.units[u]) > 1 }

// enter counts each rating of a unit with weight 1.
func (k *krippendorff) enter(u, sign int) {
	unit := k.units[u]
	weight := float64(sign) / float64(len(unit)-1)
	for a, i := range unit {
		for b, j := range unit {
			if a != b {
				k.coincidence[i][j] += weight
			}
		}
	}
}

// index is 1 minus observed over expected disagreement.
func (k *krippendorff) index() Number {
	total, n, kinds := make([]float64, len(k.values)), 0.0, 0
	for i, row := range k.coincidence {
		total[i] = sum(row)
		n += total[i]
		kinds += int(oneIf(total[i] > 0.5)) // it is a whole number but for rounding
	}
	switch kinds {
	case 0:
		return Undefined("no unit was rated twice")
	case 1:
		return Undefined("all ratings are the same value")
	}
	var seen, expected float64
	for i := range k.values {
		for j := range k.values {
			d := k.scale.distance(k.values, total, i, j)
			seen += k.coincidence[i][j] * d
			expected += total[i] * total[j] * d
		}
	}
	if expected == 0 {
		return Undefined("no disagreement is possible")
	}
	return Known(1 - (n-1)*seen/expected)
}

// distance returns the squared distance of two of the sorted values, of which total counts how often each was given.
func (s Scale) distance(values, total []float64, i, j int) float64 {
	if i == j {
		return 0
	}
	switch s {
	case NominalScale:
		return 1
	case OrdinalScale:
		low, high := min(i, j), max(i, j)
		return square(sum(total[low:high+1]) - (total[low]+total[high])/2)
	case RatioScale:
		return square((values[i] - values[j]) / (values[i] + values[j]))
	}
	return square(math.Abs(values[i] - values[j]))
}
