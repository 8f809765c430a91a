package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Deviance is how far a fit is from one that has a parameter for every result of every pair.
type Deviance struct {
	Value  float64
	Free   int     // degrees of freedom
	Sparse bool    // too few comparisons of a pair for a p-value: a fifth of the results is expected fewer than 5 times
	P      Number  // of a deviance as large, where comparisons are independent and none is sparse
	per    float64 // clusters widen variances by this much
}

// Deviance of the fit; effect is how much wider clusters make variances, at least 1.
func (f *BTFit) Deviance(effect float64) Deviance {
	m := f.model
	at := m.point(f.beta, nil)
	d := Deviance{Free: 1 - m.size, per: max(1, effect)} // strengths are free up to a shift
	few, all := 0, 0
	for _, c := range m.cells {
		first, second, tie := at.chances(c.i, c.j)
		seen, expected := []float64{c.first, c.second, c.tie}, []float64{first, second, tie}
		if m.nu == 0 { // a tie is half a win of each
			seen, expected = []float64{c.first + c.tie/2, c.second + c.tie/2}, expected[:2]
		}
		d.Free += len(seen) - 1
		for k, o := range seen {
			e := c.n() * expected[k]
			if o > 0 {
				d.Value += 2 * o * math.Log(o/e)
			}
			all++
			few += int(oneIf(e < 5))
		}
	}
	d.Value = max(0, d.Value)
	switch d.Sparse = 5*few > all; {
	case d.Free < 1:
		d.P = Undefined("there are as many parameters as results: any would fit")
	case d.Sparse:
		d.P = Undefined("too few comparisons of each pair")
	default:
		d.P = Known(mathext.GammaIncRegComp(float64(d.Free)/2, d.Value/d.per/2))
	}
	return d
}

// Residual is how far the results of two items are from those that their strengths predict.
type Residual struct {
	I, J     int
	N        float64
	Share    float64 // that I won, a tie half
	Expected float64 // by the fit
	T        Number  // the difference by its error, the larger of cluster-robust and model-based
	P        Number  // two-sided, Student's t of clusters - 1
}

// Residuals returns those of all pairs that met: score tests of a parameter of their own.
func (f *BTFit) Residuals(g *Grouped) ([]Residual, error) {
	bread, err := f.Covariance()
	if err != nil {
		return nil, err
	}
	m, s := f.model, newScores(f, g)
	at := m.point(f.beta, nil)
	index := map[[2]int32]int{}
	var out []Residual
	var own []float64     // information about the pair's own parameter
	var cross [][]float64 // and what it shares with those of the fit
	for k, c := range g.cells {
		i, j, sign := c.i, c.j, 1.0
		if i > j {
			i, j, sign = j, i, -1
		}
		n, ok := index[[2]int32{i, j}]
		if !ok {
			n = len(out)
			index[[2]int32{i, j}] = n
			out, own, cross = append(out, Residual{I: int(i), J: int(j)}), append(own, 0), append(cross, make([]float64, m.size))
		}
		r, p := &out[n], at.pull(&g.cells[k])
		won, mu := c.score(), s.chances[k].mu*c.n()
		if sign < 0 {
			won, mu = c.n()-won, c.n()-mu
		}
		r.N, r.Share, r.Expected = r.N+c.n(), r.Share+won, r.Expected+mu
		own[n] += p.aa
		m.addGradient(cross[n], &g.cells[k], pull{advantage: sign * p.aa, nu: sign * p.an})
	}
	robust := f.spreads(g, s, bread, index, cross)
	for n := range out {
		r := &out[n]
		u := r.Share - r.Expected
		v := max(robust[n], own[n]-bread.matrix.form(cross[n]))
		r.Share, r.Expected = r.Share/r.N, r.Expected/r.N
		if !(v > 1e-9*own[n]) || g.Clusters() < 2 {
			r.T = Undefined("these two alone decide how far apart they are")
			r.P = r.T
			continue
		}
		r.T = Known(u / math.Sqrt(v))
		r.P = Known(studentTail(r.T.Value, g.Clusters()-1))
	}
	return out, nil
}

// spreads returns the cluster-robust variances of the residuals (CR1), less what the fit takes up of them.
func (f *BTFit) spreads(g *Grouped, s *scores, bread *Covariance, index map[[2]int32]int, cross [][]float64) []float64 {
	size := f.model.size
	whole := bread.matrix.whole()
	taken := make([][]float64, len(cross))
	for n := range cross {
		taken[n] = make([]float64, size)
		times(size, whole, cross[n], taken[n])
	}
	out, own, grad := make([]float64, len(cross)), make([]float64, len(cross)), make([]float64, size)
	for c := range g.Clusters() {
		clear(own)
		s.of(c, grad)
		for part := range g.cluster(c) {
			cell := g.cells[part.cell]
			first, tie := float64(part.first), float64(part.tie)
			u := first + tie/2 - (first+tie+float64(part.second))*s.chances[part.cell].mu
			if cell.i > cell.j {
				own[index[[2]int32{cell.j, cell.i}]] -= u
			} else {
				own[index[[2]int32{cell.i, cell.j}]] += u
			}
		}
		for n := range out {
			u := own[n]
			for i, x := range grad {
				u -= taken[n][i] * x
			}
			out[n] += u * u
		}
	}
	for n := range out {
		out[n] *= float64(g.Clusters()) / float64(max(1, g.Clusters()-1))
	}
	return out
}

// form is x times the matrix times x.
func (s *symmetric) form(x []float64) float64 {
	sum := 0.0
	for i, a := range x {
		for j, b := range x {
			sum += a * b * s.at(i, j)
		}
	}
	return sum
}

// Direct is the result of two items against each other alone.
type Direct struct {
	N     int
	Share float64 // that the first won, a tie half
	P     Number  // of an even chance, two-sided, by cluster
}

// Directs returns the results of all pairs that met, by the two items, the lower number first.
func Directs(g *Grouped, level float64) (map[[2]int]Direct, error) {
	type count struct{ k, n uint32 }
	counts := map[[2]int][]count{}
	last := map[[2]int]int{}
	for c := range g.Clusters() {
		for part := range g.cluster(c) {
			cell := g.cells[part.cell]
			i, j, won := int(cell.i), int(cell.j), 2*part.first+part.tie
			n := 2 * (part.first + part.second + part.tie)
			if i > j {
				i, j, won = j, i, n-won
			}
			at := [2]int{i, j}
			if len(counts[at]) == 0 || last[at] != c {
				counts[at], last[at] = append(counts[at], count{}), c
			}
			k := &counts[at][len(counts[at])-1]
			k.k, k.n = k.k+won, k.n+n
		}
	}
	out := map[[2]int]Direct{}
	for at, list := range counts {
		r, err := ShareBy(func(yield func(ItemShares) bool) {
			for _, c := range list {
				if !yield(CountShares(int(c.k), int(c.n))) {
					return
				}
			}
		}, level)
		if err != nil {
			return nil, err
		}
		out[at] = Direct{N: r.N / 2, Share: r.Share.Value, P: r.Half()}
	}
	return out, nil
}
