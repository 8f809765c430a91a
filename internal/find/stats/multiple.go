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
