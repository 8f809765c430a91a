package stats

import (
	"fmt"
	"math"
)

// Where several clusters hold the same pair, as of lanes that meet on one item each, the cluster-robust formula fails with
// several lanes and few clusters for each: the fit takes up too much of each cluster's residual.
const (
	severalItems = 4
	manyPerItem  = 20
)

// ByPair reports whether clusters are so thin that the cluster-robust formula fails, and [BTFit.Dispersion] takes its
// place: each holds comparisons of two items only, as where texts are compared and the cluster is the pair, and there are
// not many clusters for each item.
func (g *Grouped) ByPair() bool {
	pairs, shared := map[[2]int32]bool{}, false
	for c := range g.Clusters() {
		var pair [2]int32
		met := false
		for part := range g.cluster(c) {
			cell := g.cells[part.cell]
			two := [2]int32{min(cell.i, cell.j), max(cell.i, cell.j)}
			if met && two != pair {
				return false
			}
			pair, met = two, true
		}
		shared = shared || pairs[pair]
		pairs[pair] = true
	}
	thin := g.tally.items >= severalItems && g.Clusters() < manyPerItem*g.tally.items
	return len(pairs) > 1 && (!shared || thin)
}

// Dispersion is how far the results of clusters scatter round the strengths, against what independent comparisons would
// do. Judges that share a view of a pair make it large.
type Dispersion struct {
	Factor float64 // of variances, at least 1
	Free   float64 // degrees of freedom that it was estimated with: clusters less parameters
}

// Dispersion of a fit whose clusters hold one pair each: Pearson's statistic of the clusters' scores, each by the variance
// that the fit leaves it.
func (f *BTFit) Dispersion(g *Grouped) (Dispersion, error) {
	if g.tally.items != f.model.items {
		return Dispersion{}, fmt.Errorf("dispersion: %d items in the clusters, %d in the fit", g.tally.items, f.model.items)
	}
	bread, err := f.Covariance()
	if err != nil {
		return Dispersion{}, err
	}
	m, at := f.model, f.model.point(f.beta, nil)
	squares, free, cross := 0.0, 0.0, make([]float64, m.size)
	for c := range g.Clusters() {
		clear(cross)
		score, own := 0.0, 0.0
		for part := range g.cluster(c) {
			one := g.cells[part.cell]
			one.first, one.second, one.tie = float64(part.first), float64(part.second), float64(part.tie)
			p, sign := at.pull(&one), 1.0
			if one.i > one.j {
				sign = -1
			}
			score, own = score+sign*p.advantage, own+p.aa
			m.addGradient(cross, &one, pull{advantage: sign * p.aa, nu: sign * p.an})
		}
		left := 1 - bread.matrix.form(cross)/own // of its variance, after the fit
		if own > 0 && left > 1e-9 {
			squares, free = squares+score*score/own, free+left
		}
	}
	if free < 0.5 {
		return Dispersion{Factor: 1}, nil
	}
	return Dispersion{Factor: max(1, squares/free), Free: free}, nil
}

// Units returns as many clusters as Student's t of the widened errors has: the degrees of freedom and one, or as good as
// infinitely many where nothing was widened.
func (d Dispersion) Units() int {
	if d.Factor == 1 && d.Free > 0 {
		return 10_001
	}
	return 1 + int(math.Floor(d.Free+1e-6))
}

// Widened returns the covariance with every variance multiplied.
func (c *Covariance) Widened(factor float64) *Covariance {
	out := newSymmetric(c.matrix.n)
	for k, v := range c.matrix.data {
		out.data[k] = factor * v
	}
	return &Covariance{items: c.items, order: c.order, nu: c.nu, matrix: out}
}
