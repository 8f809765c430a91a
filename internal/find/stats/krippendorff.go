package stats

import (
	"fmt"
	"math"
	"slices"
)

// Scale is what ratings mean, and so how far apart two of them are in Krippendorff's alpha.
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

// distance is the squared distance of two of the sorted values, of which total says how often each was given.
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
