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

// Draws are the scores that one item got, as sums.
type Draws struct {
	N            int
	Sum, Squares float64
}

// Add enters one score.
func (d *Draws) Add(x float64) { d.N, d.Sum, d.Squares = d.N+1, d.Sum+x, d.Squares+x*x }

func (d *Draws) mean() float64 { return d.Sum / float64(d.N) }

// SplitDraws splits the variance of repeated draws by one-way analysis of variance; items may have different numbers of draws.
func SplitDraws(items []Draws) VarianceParts {
	var p VarianceParts
	var all Draws
	var means []float64
	within, squares := 0.0, 0.0
	for _, d := range items {
		if d.N == 0 {
			continue
		}
		means = append(means, d.mean())
		all = Draws{all.N + d.N, all.Sum + d.Sum, all.Squares + d.Squares}
		within += max(0, d.Squares-d.Sum*d.mean())
		squares += square(float64(d.N))
	}
	p.Items, p.Draws, p.Mean = len(means), all.N, Mean(means)
	why := Number{OK: true}
	switch {
	case p.Items < 2:
		why = Undefined("parts of variance need two items, there are %d", p.Items)
	case p.Draws == p.Items:
		why = Undefined("no item was drawn twice")
	}
	if !why.OK {
		p.Between, p.Within, p.ICC = why, why, why
		return p
	}
	grand, between := all.mean(), 0.0
	for _, d := range items {
		if d.N > 0 {
			between += float64(d.N) * square(d.mean()-grand)
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
