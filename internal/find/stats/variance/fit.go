package variance

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"assay/internal/find/stats"
)

// Split returns the parts of the variance of verdicts, with intervals at a level.
func Split(values []Value, level float64) Parts {
	var out Parts
	d, why := newDesign(values, &out)
	if out.Why = why; why != "" {
		return out
	}
	at, ok := d.fit()
	if !ok {
		out.Why = "the design does not tell the parts apart"
		return out
	}
	out.Mean = stats.Known(d.mean + at.effects[0])
	d.within(&out, at, level)
	d.between(&out, at, level)
	slices.SortStableFunc(out.Parts, func(a, b Part) int { return int(a.Kind) - int(b.Kind) })
	return out
}

// point is parts, and how well they fit.
type point struct {
	theta   []float64 // parts within units, then those of templates and judges
	loss    float64   // -2 log of the restricted likelihood, but for a constant
	score   []float64 // slope of the log likelihood
	info    matrix    // expected; parts within units do not know of the others
	effects []float64 // of the mean, of templates and of judges
	inverse []matrix  // by block: of the covariance of a unit
}

// matrix is square, row by row.
type matrix struct {
	n    int
	data []float64
}

func newMatrix(n int) matrix { return matrix{n, make([]float64, n*n)} }

func (m matrix) at(i, j int) float64 { return m.data[i*m.n+j] }

func (m matrix) general() blas64.General {
	return blas64.General{Rows: m.n, Cols: m.n, Stride: m.n, Data: m.data}
}

func (m matrix) times(o matrix) matrix {
	out := newMatrix(m.n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.general(), o.general(), 0, out.general())
	return out
}

// inverted returns the inverse of a positive definite matrix, and the log of its determinant.
func (m matrix) inverted() (matrix, float64, bool) {
	out := matrix{m.n, slices.Clone(m.data)}
	t, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: m.n, Stride: m.n, Data: out.data})
	if !ok {
		return out, 0, false
	}
	log := 0.0
	for i := range m.n {
		log += 2 * math.Log(out.at(i, i))
	}
	if _, ok := lapack64.Potri(t); !ok {
		return out, 0, false
	}
	for i := range m.n {
		for j := range i {
			out.data[i*m.n+j] = out.data[j*m.n+i]
		}
	}
	return out, log, true
}

const (
	most     = 500   // steps
	close    = 1e-10 // of a step, as a part of all variance: the fit is found
	smallest = 1e-9  // part of all variance that the rest has at least
)

// fit climbs to the parts that fit best: Fisher's scoring, with steps halved where they lead down. No part is below 0.
func (d *design) fit() (*point, bool) {
	n := len(d.kinds) + len(d.cross)
	theta := make([]float64, n)
	for i := range theta {
		theta[i] = d.total / float64(n)
	}
	at, ok := d.evaluate(theta)
	for range most {
		if !ok {
			return nil, false
		}
		step, fine := d.step(at)
		if !fine {
			return nil, false
		}
		next, far := d.climb(at, step)
		if next == nil {
			return at, true
		}
		if at = next; far < close*d.total {
			return at, true
		}
	}
	return at, true
}

// step returns Fisher's step; parts that are 0 and would sink stay.
func (d *design) step(at *point) ([]float64, bool) {
	var free []int
	for i, x := range at.theta {
		if x > d.least(i) || at.score[i] > 0 {
			free = append(free, i)
		}
	}
	some := newMatrix(len(free))
	for i, a := range free {
		for j, b := range free {
			some.data[i*some.n+j] = at.info.at(a, b)
		}
	}
	inverse, _, ok := some.inverted()
	out := make([]float64, len(at.theta))
	for i, a := range free {
		for j, b := range free {
			out[a] += inverse.at(i, j) * at.score[b]
		}
	}
	return out, ok
}

// least returns the smallest value of a part.
func (d *design) least(part int) float64 {
	if part == len(d.kinds)-1 {
		return smallest * d.total
	}
	return 0
}

// climb takes a step, or as much of it as does not lead down; nil: nothing does not.
func (d *design) climb(at *point, step []float64) (next *point, far float64) {
	for size := 1.0; size > 1e-6; size /= 2 {
		theta := slices.Clone(at.theta)
		far = 0
		for i := range theta {
			theta[i] = max(d.least(i), theta[i]+size*step[i])
			far = max(far, math.Abs(theta[i]-at.theta[i]))
		}
		if p, ok := d.evaluate(theta); ok && p.loss <= at.loss+1e-12*math.Abs(at.loss) {
			return p, far
		}
	}
	return nil, 0
}

// evaluate computes the restricted likelihood and its slopes. A unit's covariance is that of its parts; templates and judges are
// added as effects with a variance of their own.
func (d *design) evaluate(theta []float64) (*point, bool) {
	p := &point{theta: theta, score: make([]float64, len(theta)), info: newMatrix(len(theta))}
	columns := 1
	for _, w := range d.width {
		columns += w
	}
	design, total := newMatrix(columns), make([]float64, columns) // W'B⁻¹W and W'B⁻¹y
	for _, b := range d.blocks {
		inverse, log, ok := b.covariance(theta).inverted()
		if !ok {
			return nil, false
		}
		p.inverse = append(p.inverse, inverse)
		p.loss += b.units * log
		n := len(b.sum)
		for i := range n {
			for j := range n {
				x := inverse.at(i, j)
				p.loss += x * b.squares[i*n+j]
				for _, a := range b.columns[i] {
					total[a] += x * b.sum[j]
					for _, c := range b.columns[j] {
						design.data[a*columns+c] += b.units * x
					}
				}
			}
		}
	}
	solved, ok := d.solve(p, design, total)
	if !ok {
		return nil, false
	}
	for i, b := range d.blocks {
		b.slopes(p, p.inverse[i], solved)
	}
	return p, true
}

// solve finds the effects of templates and judges, and what they add to the likelihood and its slopes. It returns the covariance of
// the effects.
func (d *design) solve(p *point, design matrix, total []float64) (matrix, bool) {
	n := design.n
	scale := make([]float64, n)
	scale[0] = 1
	for i, from := 0, 1; i < len(d.cross); i++ {
		for c := range d.width[i] {
			scale[from+c] = math.Sqrt(p.theta[len(d.kinds)+i])
		}
		from += d.width[i]
	}
	a := newMatrix(n)
	for i := range n {
		for j := range n {
			a.data[i*n+j] = scale[i] * design.at(i, j) * scale[j]
		}
		if i > 0 {
			a.data[i*n+i]++
		}
	}
	solved, log, ok := a.inverted()
	if !ok {
		return solved, false
	}
	for i := range n {
		for j := range n {
			solved.data[i*n+j] *= scale[i] * scale[j]
		}
	}
	p.loss += log
	p.effects = make([]float64, n)
	blas64.Gemv(blas.NoTrans, 1, solved.general(), vector(total), 0, vector(p.effects))
	left := slices.Clone(total) // W'Py
	blas64.Gemv(blas.NoTrans, -1, design.general(), vector(p.effects), 1, vector(left))
	for i := range n {
		p.loss -= total[i] * p.effects[i]
	}
	seen := design.times(solved).times(design) // what the effects take away
	for i, from := 0, 1; i < len(d.cross); i++ {
		at := len(d.kinds) + i
		for c := from; c < from+d.width[i]; c++ {
			p.score[at] -= (design.at(c, c) - seen.at(c, c) - left[c]*left[c]) / 2
			for e := from; e < from+d.width[i]; e++ {
				x := design.at(c, e) - seen.at(c, e)
				p.info.data[at*p.info.n+at] += x * x / 2
			}
		}
		from += d.width[i]
	}
	return solved, true
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// covariance returns that of the verdicts on a unit.
func (b *block) covariance(theta []float64) matrix {
	n := len(b.sum)
	out := newMatrix(n)
	for k, levels := range b.levels {
		for i := range n {
			for j := range n {
				if levels[i] == levels[j] {
					out.data[i*n+j] += theta[k]
				}
			}
		}
	}
	return out
}

// slopes adds what units of a block tell about the parts within them.
func (b *block) slopes(p *point, inverse, solved matrix) {
	n := len(b.sum)
	fitted := make([]float64, n)
	for i := range n {
		for _, c := range b.columns[i] {
			fitted[i] += p.effects[c]
		}
	}
	left := newMatrix(n) // sum of products of what is left, less what is expected
	for i := range n {
		for j := range n {
			left.data[i*n+j] = b.squares[i*n+j] - b.sum[i]*fitted[j] - fitted[i]*b.sum[j] + b.units*fitted[i]*fitted[j]
			for _, a := range b.columns[i] {
				for _, c := range b.columns[j] {
					left.data[i*n+j] += b.units * solved.at(a, c)
				}
			}
		}
	}
	pull := inverse.times(left).times(inverse)
	for i := range pull.data {
		pull.data[i] -= b.units * inverse.data[i]
	}
	for k, levels := range b.levels {
		for i := range n {
			for j := range n {
				if levels[i] == levels[j] {
					p.score[k] += pull.at(i, j) / 2
				}
			}
		}
		for l := k; l < len(b.levels); l++ {
			x := b.units * meeting(inverse, levels, b.size[k], b.levels[l], b.size[l]) / 2
			if p.info.data[k*p.info.n+l] += x; l > k {
				p.info.data[l*p.info.n+k] += x
			}
		}
	}
}

// meeting returns tr(B⁻¹K B⁻¹L) of two parts K and L.
func meeting(inverse matrix, first []int, firsts int, second []int, seconds int) float64 {
	sums := make([]float64, firsts*seconds)
	for i, a := range first {
		for j, b := range second {
			sums[a*seconds+b] += inverse.at(i, j)
		}
	}
	out := 0.0
	for _, x := range sums {
		out += x * x
	}
	return out
}
