package stats

import (
	"fmt"
	"maps"
	"slices"
)

// Panel has the units that several raters rated, in parts that are left out one after the other: a cluster each, or several
// where clusters are more than [LeftOutGroups].
type Panel struct {
	part  []int // of each unit
	level float64
}

// NewPanel returns a panel of units, each in the cluster whose number it has.
func NewPanel(clusters []int, level float64) Panel {
	p := Panel{part: make([]int, len(clusters)), level: level}
	for u, c := range clusters {
		p.part[u] = c % LeftOutGroups
	}
	return p
}

// Of returns the panel of some of the units.
func (p Panel) Of(units []int) Panel {
	some := Panel{part: make([]int, len(units)), level: p.level}
	for k, u := range units {
		some.part[k] = p.part[u]
	}
	return some
}

// Index is an index of agreement, with its error from leaving out one part after the other.
type Index struct {
	Value    Number
	SE       Number
	Interval Interval
	without  map[int]Number // by part, of those that the index rests on
}

// Cohen returns the kappa of two raters, from the category that each gave the units, below the given number.
func (p Panel) Cohen(first, second []int, categories int) (Index, error) {
	if len(first) != len(second) {
		return Index{}, fmt.Errorf("compare raters: %d ratings against %d", len(first), len(second))
	}
	for u := range first {
		if min(first[u], second[u]) < 0 || max(first[u], second[u]) >= categories {
			return Index{}, fmt.Errorf("compare raters: categories %d and %d of %d in unit %d", first[u], second[u], categories, u)
		}
	}
	return p.index(&cohen{first: first, second: second, row: make([]int, categories), col: make([]int, categories)}, len(first)), nil
}

// Fleiss returns the agreement beyond chance of several raters, not always the same ones: ratings[u][k] is how many put
// unit u in category k. Every unit needs the same number of ratings.
func (p Panel) Fleiss(ratings [][]int) (Index, error) {
	f, err := newFleiss(ratings)
	if err != nil {
		return Index{}, err
	}
	return p.index(f, len(ratings)), nil
}

// AC1 returns Gwet's agreement of several raters, some of whom may be missing: ratings[u][k] is how many put unit u in
// category k. It does not collapse when one category is rare.
func (p Panel) AC1(ratings [][]int) (Index, error) {
	g, err := newGwet(ratings)
	if err != nil {
		return Index{}, err
	}
	return p.index(g, len(ratings)), nil
}

// Alpha returns Krippendorff's: agreement beyond chance of any number of raters with any ratings missing.
func (p Panel) Alpha(ratings []Rating, scale Scale) (Index, error) {
	k, err := newKrippendorff(ratings, scale)
	if err != nil {
		return Index{}, err
	}
	return p.index(k, len(k.units)), nil
}

// Mean returns the mean of those indexes that exist.
func (p Panel) Mean(of []Index) Index {
	of = slices.DeleteFunc(slices.Clone(of), func(i Index) bool { return !i.Value.OK })
	parts := map[int]Number{}
	for _, i := range of {
		maps.Copy(parts, i.without)
	}
	values := make([]float64, len(of))
	for part := range parts {
		parts[part] = Number{}
		for k, i := range of {
			without, there := i.without[part]
			if !there {
				without = i.Value
			}
			if !without.OK {
				parts[part] = without
				break
			}
			values[k] = without.Value
		}
		if parts[part].Why == "" {
			parts[part] = Mean(values)
		}
	}
	for k, i := range of {
		values[k] = i.Value.Value
	}
	return p.withErrors(Index{Value: Mean(values), without: parts})
}

func (p Panel) index(a agreed, units int) Index {
	i := Index{Value: entered(a, units), without: map[int]Number{}}
	parts := map[int][]int{}
	for u := range units {
		if a.rests(u) {
			parts[p.part[u]] = append(parts[p.part[u]], u)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		own := parts[part]
		for _, u := range own {
			a.enter(u, -1)
		}
		i.without[part] = a.index()
		for _, u := range own {
			a.enter(u, 1)
		}
	}
	return p.withErrors(i)
}

func (p Panel) withErrors(i Index) Index {
	without := make([]Number, 0, len(i.without))
	for _, part := range slices.Sorted(maps.Keys(i.without)) {
		without = append(without, i.without[part])
	}
	least, most := -1.0, 1.0
	i.SE, i.Interval = LeftOut(i.Value, without, p.level)
	i.Interval = i.Interval.Clipped(&least, &most)
	return i
}
