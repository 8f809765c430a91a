package stats

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
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

// ascending returns the order of the p-values from the smallest, and the check that they are p-values.
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

// maxGroups is how many groups a reader could follow, and the most that are kept: of differences without any order
// there may be a great many.
const maxGroups = 500

// Letters returns the groups of a compact letter display (insert and absorb, Piepho 2004). Two items share a group
// exactly where they do not differ, and no group is a part of another. Groups come in the order of their first items.
// The result lists the groups of each item; false: there are too many groups to be of use.
func Letters(items int, differ func(i, j int) bool) ([][]int, bool) {
	all := make([]bool, items)
	for i := range all {
		all[i] = true
	}
	columns := [][]bool{all}
	for i := range items {
		for j := range i {
			if !differ(i, j) {
				continue
			}
			if columns = insert(columns, i, j); len(columns) > maxGroups {
				return nil, false
			}
		}
	}
	sort.Slice(columns, func(i, j int) bool { return earlier(columns[i], columns[j]) < 0 })
	out := make([][]int, items)
	for k, c := range columns {
		for i, in := range c {
			if in {
				out[i] = append(out[i], k)
			}
		}
	}
	return out, true
}

// insert splits every column that holds two items which differ, and absorbs what became a part of another column.
func insert(columns [][]bool, i, j int) [][]bool {
	var whole, halves [][]bool
	for _, c := range columns {
		if !c[i] || !c[j] {
			whole = append(whole, c)
			continue
		}
		for _, out := range []int{i, j} {
			half := slices.Clone(c)
			half[out] = false
			halves = append(halves, half)
		}
	}
	for k, half := range halves {
		rest := append(slices.Clone(whole), halves[k+1:]...) // what was taken before is in whole
		if !slices.ContainsFunc(rest, func(c []bool) bool { return within(half, c) }) {
			whole = append(whole, half)
		}
	}
	return whole
}

// within reports whether every item of one column is in another.
func within(c, other []bool) bool {
	for i, in := range c {
		if in && !other[i] {
			return false
		}
	}
	return true
}

// earlier orders columns by their first item, then by the next one.
func earlier(a, b []bool) int {
	for i := range a {
		if a[i] != b[i] {
			if a[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}
