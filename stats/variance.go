package stats

// VarianceParts is where the variance of scores comes from: items that differ, and draws of the same item that differ.
type VarianceParts struct {
	Items   int
	Draws   int
	Mean    Number // over items, each of equal weight
	Between Number // variance over items of their expected score; the estimate, 0 when it came out negative
	Within  Number // variance of one draw round its item's expected score
	ICC     Number // share of the variance that is between items
}

// SplitVariance splits the variance of repeated draws by one-way analysis of variance; items may have different numbers of
// draws.
func SplitVariance(scores [][]float64) VarianceParts {
	var p VarianceParts
	var all, means []float64
	within, squares := 0.0, 0.0
	for _, draws := range scores {
		if len(draws) == 0 {
			continue
		}
		m := mean(draws)
		means, all = append(means, m), append(all, draws...)
		for _, x := range draws {
			within += square(x - m)
		}
		squares += square(float64(len(draws)))
	}
	p.Items, p.Draws, p.Mean = len(means), len(all), Mean(means)
	if p.Items < 2 {
		why := Undefined("parts of variance need two items, there are %d", p.Items)
		p.Between, p.Within, p.ICC = why, why, why
		return p
	}
	if p.Draws == p.Items {
		why := Undefined("no item was drawn twice")
		p.Between, p.Within, p.ICC = why, why, why
		return p
	}
	grand, between := mean(all), 0.0
	for _, draws := range scores {
		if len(draws) > 0 {
			between += float64(len(draws)) * square(mean(draws)-grand)
		}
	}
	n, k := float64(p.Draws), float64(p.Items)
	inside := within / (n - k)
	size := (n - squares/n) / (k - 1)
	outside := max(0, (between/(k-1)-inside)/size)
	p.Between, p.Within = Known(outside), Known(inside)
	p.ICC = ratio(outside, outside+inside, "no variance")
	return p
}
