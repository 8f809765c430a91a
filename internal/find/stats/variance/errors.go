package variance

import (
	"math"

	"assay/internal/find/stats"
)

// within adds the parts within units. Their errors are those of clusters: what each cluster would have the parts be.
func (d *design) within(out *Parts, at *point, level float64) {
	moved, model := d.moved(at)
	g := float64(len(moved))
	out.covariance = map[[2]Kind]float64{}
	wider := make([]float64, len(d.kinds))
	for i, kind := range d.kinds {
		part := Part{Kind: kind, With: d.with[kind], Levels: d.levels[i], Value: stats.Known(at.theta[i])}
		if part.Value.Value < 10*smallest*d.total {
			part.Value = stats.Known(0)
		}
		variance := g * g / (g - 1) / (g - 1) * product(moved, i, i)
		if wider[i] = 1; g < 2*stats.FewClusters && variance > 0 { // they show too little of their own spread
			wider[i] = max(1, math.Sqrt(model.at(i, i)/variance))
		}
		if part.SE = stats.Known(wider[i] * math.Sqrt(variance)); g < 2 {
			part.SE = stats.Undefined(stats.NoErrorBar)
			part.Interval = stats.NoInterval("%s", part.SE.Why)
		} else {
			wide := part.SE.Value * stats.StudentCritical(1-level, len(moved)) / stats.NormalQuantile((1+level)/2)
			seen := max(math.Sqrt(float64(d.levels[i])/(2*at.info.at(i, i))), at.theta[i])
			part.Interval = interval(part.Value.Value, seen, 2*seen*seen/(wide*wide), level)
		}
		out.Parts = append(out.Parts, part)
	}
	for i, a := range d.kinds {
		for j, b := range d.kinds {
			out.covariance[[2]Kind{a, b}] = g * g / (g - 1) / (g - 1) * product(moved, i, j) * wider[i] * wider[j]
		}
	}
}

// moved returns by how much each cluster moves each part, round their mean, and the covariance of parts if verdicts were normal.
func (d *design) moved(at *point) ([][]float64, matrix) {
	k := len(d.kinds)
	index, scores := map[int32]int{}, [][]float64{}
	for _, u := range d.units {
		c, ok := index[u.cluster]
		if !ok {
			c = len(scores)
			index[u.cluster], scores = c, append(scores, make([]float64, k))
		}
		d.score(u, at, scores[c])
	}
	info := newMatrix(k)
	for i := range k {
		for j := range k {
			info.data[i*k+j] = at.info.at(i, j)
		}
	}
	inverse, _, _ := info.inverted() // the fit has inverted it
	mean := make([]float64, k)
	for c, s := range scores {
		by := make([]float64, k)
		for i := range k {
			for j := range k {
				by[i] += inverse.at(i, j) * s[j]
			}
			mean[i] += by[i] / float64(len(scores))
		}
		scores[c] = by
	}
	for _, by := range scores {
		for i := range by {
			by[i] -= mean[i]
		}
	}
	return scores, inverse
}

// product returns the sum over clusters of two columns, multiplied.
func product(moved [][]float64, i, j int) (sum float64) {
	for _, by := range moved {
		sum += by[i] * by[j]
	}
	return sum
}

// score adds by how much a unit would have the parts be larger.
func (d *design) score(u unit, at *point, to []float64) {
	b, inverse := d.blocks[u.block], at.inverse[u.block]
	n := len(u.values)
	left := make([]float64, n)
	for i := range n {
		left[i] = u.values[i]
		for _, c := range b.columns[i] {
			left[i] -= at.effects[c]
		}
	}
	pull := make([]float64, n)
	for i := range n {
		for j := range n {
			pull[i] += inverse.at(i, j) * left[j]
		}
	}
	for k, levels := range b.levels {
		sums := make([]float64, b.size[k])
		for i, l := range levels {
			sums[l] += pull[i]
			for j := range n {
				if levels[j] == l {
					to[k] -= inverse.at(i, j) / 2
				}
			}
		}
		for _, x := range sums {
			to[k] += x * x / 2
		}
	}
}

// between adds the parts of templates and judges: of few, by chi-square of their number.
func (d *design) between(out *Parts, at *point, level float64) {
	for i, kind := range d.cross {
		k := len(d.kinds) + i
		df := float64(d.width[i] - 1)
		seen := max(math.Sqrt(df/(2*at.info.at(k, k))), at.theta[k])
		out.covariance[[2]Kind{kind, kind}] = seen * seen * 2 / df
		out.Parts = append(out.Parts, Part{Kind: kind, Levels: d.width[i], Value: stats.Known(at.theta[k]),
			SE: stats.Known(seen * math.Sqrt(2/df)), Interval: interval(at.theta[k], seen, df, level)})
	}
}
