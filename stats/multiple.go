package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm adjusts p-values so that the chance of any false rejection stays below the level (step-down).
func Holm(p []float64) ([]float64, error) {
	order, err := ascending(p)
	if err != nil {
		return nil, err
	}
	adjusted, top := make([]float64, len(p)), 0.0
	for rank, i := range order {
		top = max(top, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = top
	}
	return adjusted, nil
}

// BenjaminiHochberg adjusts p-values so that the expected share of false rejections stays below the level (step-up).
func BenjaminiHochberg(p []float64) ([]float64, error) {
	order, err := ascending(p)
	if err != nil {
		return nil, err
	}
	adjusted, low := make([]float64, len(p)), 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		low = min(low, p[i]*float64(len(p))/float64(rank+1))
		adjusted[i] = low
	}
	return adjusted, nil
}

// Bonferroni multiplies each p-value by their number, at most 1.
func Bonferroni(p []float64) ([]float64, error) {
	if _, err := ascending(p); err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	for i, v := range p {
		adjusted[i] = min(1, v*float64(len(p)))
	}
	return adjusted, nil
}

// ascending is the order of the p-values from the smallest, and the check that they are p-values.
func ascending(p []float64) ([]int, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("adjust p-values: value %d is %g", i, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order, nil
}
