package stats

import (
	"fmt"
	"math"
	"slices"
)

// Agreement is how far two raters of the same units agree, in all the usual measures. A chance-corrected one does not
// exist where chance alone agrees always.
type Agreement struct {
	Table     [][]int // units by category of the first and of the second rater
	N         int
	Observed  Number // share of equal ratings
	Chance    Number // expected share under Cohen's chance
	Kappa     Number // Cohen's
	SE        Number // of kappa
	SENull    Number // of kappa, if there were no agreement beyond chance
	Linear    Number // kappa with linear weights: categories are ordered
	Quadratic Number // kappa with quadratic weights
	ScottPi   Number
	AC1       Number // Gwet's, which does not collapse when one category is rare
	PABAK     Number // kappa if all categories were equally frequent
}

// Agree compares two raters; ratings are categories below the given number.
func Agree(first, second []int, categories int) (*Agreement, error) {
	if len(first) != len(second) {
		return nil, fmt.Errorf("compare raters: %d ratings against %d", len(first), len(second))
	}
	a := &Agreement{N: len(first), Table: make([][]int, categories)}
	for i := range a.Table {
		a.Table[i] = make([]int, categories)
	}
	for u := range first {
		if min(first[u], second[u]) < 0 || max(first[u], second[u]) >= categories {
			return nil, fmt.Errorf("compare raters: categories %d and %d of %d in unit %d", first[u], second[u], categories, u)
		}
		a.Table[first[u]][second[u]]++
	}
	a.measure()
	return a, nil
}

// shares is the table as probabilities.
type shares struct {
	joint    [][]float64
	row, col []float64
}

func (a *Agreement) shares() shares {
	q := len(a.Table)
	s := shares{joint: make([][]float64, q), row: make([]float64, q), col: make([]float64, q)}
	for i, row := range a.Table {
		s.joint[i] = make([]float64, q)
		for j, n := range row {
			p := float64(n) / float64(a.N)
			s.joint[i][j] = p
			s.row[i] += p
			s.col[j] += p
		}
	}
	return s
}

func (a *Agreement) measure() {
	if a.N == 0 {
		why := Undefined("no unit was rated by both")
		a.Observed, a.Chance, a.Kappa, a.SE, a.SENull = why, why, why, why, why
		a.Linear, a.Quadratic, a.ScottPi, a.AC1, a.PABAK = why, why, why, why, why
		return
	}
	s, q := a.shares(), float64(len(a.Table))
	var po, pe, pi, rare float64
	for k := range a.Table {
		half := (s.row[k] + s.col[k]) / 2
		po += s.joint[k][k]
		pe += s.row[k] * s.col[k]
		pi += half * half
		rare += half * (1 - half)
	}
	a.Observed, a.Chance = Known(po), Known(pe)
	a.Kappa, a.ScottPi = beyond(po, pe), beyond(po, pi)
	a.AC1, a.PABAK = Undefined("there is one category only"), Undefined("there is one category only")
	if q > 1 {
		a.AC1, a.PABAK = beyond(po, rare/(q-1)), beyond(po, 1/q)
	}
	a.SE, a.SENull = a.Kappa, a.Kappa
	if a.Kappa.OK {
		a.SE, a.SENull = s.errors(a.Kappa.Value, pe, float64(a.N))
	}
	a.Linear = s.weighted(math.Abs)
	a.Quadratic = s.weighted(square)
}

// beyond is agreement beyond chance.
func beyond(observed, chance float64) Number {
	if chance >= 1-1e-15 {
		return Undefined("chance alone agrees always")
	}
	return Known((observed - chance) / (1 - chance))
}

// errors returns the large-sample errors of kappa (Fleiss, Cohen and Everitt 1969), in general and under chance.
func (s shares) errors(kappa, pe, n float64) (general, null Number) {
	var diagonal, off, marginal float64
	for i := range s.row {
		diagonal += s.joint[i][i] * square(1-(s.row[i]+s.col[i])*(1-kappa))
		marginal += s.row[i] * s.col[i] * (s.row[i] + s.col[i])
		for j := range s.col {
			if i != j {
				off += s.joint[i][j] * square(s.col[i]+s.row[j])
			}
		}
	}
	spread := diagonal + square(1-kappa)*off - square(kappa-pe*(1-kappa))
	scale := math.Sqrt(n) * (1 - pe)
	return Known(math.Sqrt(max(0, spread)) / scale), Known(math.Sqrt(max(0, pe+pe*pe-marginal)) / scale)
}

// weighted is kappa when some disagreements are worse than others.
func (s shares) weighted(weight func(float64) float64) Number {
	var seen, chance float64
	for i := range s.row {
		for j := range s.col {
			w := weight(float64(i - j))
			seen += w * s.joint[i][j]
			chance += w * s.row[i] * s.col[j]
		}
	}
	if chance == 0 {
		return Undefined("chance alone agrees always")
	}
	return Known(1 - seen/chance)
}

// FleissKappa is agreement beyond chance of several raters, not always the same ones: ratings[u][k] is how many put
// unit u in category k. Every unit needs the same number of ratings.
func FleissKappa(ratings [][]int) (Number, error) {
	if len(ratings) == 0 {
		return Undefined("no units"), nil
	}
	raters, categories := 0, len(ratings[0])
	for _, n := range ratings[0] {
		raters += n
	}
	total := make([]float64, categories)
	po := 0.0
	for u, unit := range ratings {
		n, same := 0, 0
		for k, c := range unit {
			if c < 0 || len(unit) != categories {
				return Number{}, fmt.Errorf("compare raters: unit %d has a bad count or another number of categories", u)
			}
			n += c
			same += c * (c - 1)
			total[k] += float64(c)
		}
		if n != raters {
			return Number{}, fmt.Errorf("compare raters: unit %d has %d ratings, the first has %d", u, n, raters)
		}
		po += float64(same)
	}
	if raters < 2 {
		return Undefined("agreement needs two raters, there is %d", raters), nil
	}
	units, n := float64(len(ratings)), float64(raters)
	pe := 0.0
	for _, t := range total {
		pe += square(t / (units * n))
	}
	return beyond(po/(units*n*(n-1)), pe), nil
}

// GwetAC1 is Gwet's agreement of several raters, some of whom may be missing: ratings[u][k] is how many put unit u in
// category k.
func GwetAC1(ratings [][]int) (Number, error) {
	var po, both float64
	var units float64
	share := []float64(nil)
	for u, unit := range ratings {
		if share == nil {
			share = make([]float64, len(unit))
		}
		n, same := 0.0, 0.0
		for _, c := range unit {
			if c < 0 || len(unit) != len(share) {
				return Number{}, fmt.Errorf("compare raters: unit %d has a bad count or another number of categories", u)
			}
			n += float64(c)
			same += float64(c * (c - 1))
		}
		if n == 0 {
			continue
		}
		units++
		for k, c := range unit {
			share[k] += float64(c) / n
		}
		if n > 1 {
			both++
			po += same / (n * (n - 1))
		}
	}
	if both == 0 {
		return Undefined("no unit was rated twice"), nil
	}
	if len(share) < 2 {
		return Undefined("there is one category only"), nil
	}
	rare := 0.0
	for _, s := range share {
		rare += s / units * (1 - s/units)
	}
	return beyond(po/both, rare/float64(len(share)-1)), nil
}

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

// KrippendorffAlpha is agreement beyond chance of any number of raters with any ratings missing.
func KrippendorffAlpha(ratings []Rating, scale Scale) (Number, error) {
	units := make(map[int][]float64)
	var order []int
	for k, r := range ratings {
		if !Known(r.Value).OK || scale == RatioScale && r.Value < 0 {
			return Number{}, fmt.Errorf("compare raters: rating %d is %g", k, r.Value)
		}
		if units[r.Unit] == nil {
			order = append(order, r.Unit)
		}
		units[r.Unit] = append(units[r.Unit], r.Value)
	}
	var values []float64
	for _, u := range order {
		if len(units[u]) > 1 {
			values = append(values, units[u]...)
		}
	}
	if len(values) == 0 {
		return Undefined("no unit was rated twice"), nil
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) < 2 {
		return Undefined("all ratings are the same value"), nil
	}
	coincidence := make([][]float64, len(values))
	for i := range coincidence {
		coincidence[i] = make([]float64, len(values))
	}
	for _, u := range order {
		addCoincidences(coincidence, values, units[u])
	}
	return alpha(coincidence, values, scale), nil
}

// addCoincidences counts the pairs of ratings inside one unit, each rating with weight 1.
func addCoincidences(table [][]float64, values, unit []float64) {
	if len(unit) < 2 {
		return
	}
	weight := 1 / float64(len(unit)-1)
	for a, x := range unit {
		i, _ := slices.BinarySearch(values, x)
		for b, y := range unit {
			if a != b {
				j, _ := slices.BinarySearch(values, y)
				table[i][j] += weight
			}
		}
	}
}

// alpha is 1 minus observed over expected disagreement.
func alpha(coincidence [][]float64, values []float64, scale Scale) Number {
	total, n := make([]float64, len(values)), 0.0
	for i, row := range coincidence {
		total[i] = sum(row)
		n += total[i]
	}
	var seen, expected float64
	for i := range values {
		for j := range values {
			d := scale.distance(values, total, i, j)
			seen += coincidence[i][j] * d
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
