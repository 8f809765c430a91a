package stats

import "math"

// model is a Bradley-Terry likelihood over cells. Its parameters are the strengths, then the order effect, then log nu.
type model struct {
	items, size int
	order, nu   int // index of the parameter; 0 when the model has none
	cells       []cell
	o           BTOptions
}

func newModel(t *Tally, o BTOptions) *model {
	m := &model{items: t.items, size: t.items, o: o}
	if o.Order {
		m.order = m.size
		m.size++
		m.cells = t.cells()
	} else {
		m.cells = t.unordered()
	}
	if o.Ties == Davidson {
		m.nu = m.size
		m.size++
	}
	return m
}

// point is where a likelihood is evaluated: all exponentials are taken once, none per cell.
type point struct {
	beta  []float64
	half  []float64 // e^(strength/2) by item
	first float64   // e^(order effect/2)
	nu    float64
}

// point prepares beta, in the space of an older point if there is one.
func (m *model) point(beta []float64, old *point) *point {
	p := old
	if p == nil {
		p = &point{half: make([]float64, m.items)}
	}
	p.beta, p.first, p.nu = beta, 1, 0
	for i := range p.half {
		p.half[i] = math.Exp(beta[i] / 2)
	}
	if m.order > 0 {
		p.first = math.Exp(beta[m.order] / 2)
	}
	if m.nu > 0 {
		p.nu = math.Exp(beta[m.nu])
	}
	return p
}

// chances returns the probabilities of the three results when i is shown first.
func (p *point) chances(i, j int32) (first, second, tie float64) {
	a, b := p.half[i]*p.first, p.half[j]
	first, second, tie = a*a, b*b, p.nu*a*b
	all := 1 / (first + second + tie)
	return first * all, second * all, tie * all
}

// pull is the contribution of a cell to the gradient, along the advantage of its first item and along log nu, and to
// the information about both.
type pull struct {
	advantage, nu float64
	aa, an, nn    float64
}

// pull evaluates one cell.
func (p *point) pull(c *cell) pull {
	first, _, tie := p.chances(c.i, c.j)
	n, mu := c.n(), first+tie/2
	return pull{
		advantage: c.score() - n*mu, nu: c.tie - n*tie,
		aa: n * (first + tie/4 - mu*mu), an: n * tie * (0.5 - mu), nn: n * tie * (1 - tie),
	}
}

// logLik returns the likelihood without penalty.
func (m *model) logLik(p *point) float64 {
	value := 0.0
	var order, nu float64
	if m.order > 0 {
		order = p.beta[m.order]
	}
	if m.nu > 0 {
		nu = p.beta[m.nu]
	}
	for k := range m.cells {
		c := &m.cells[k]
		a, b := p.half[c.i]*p.first, p.half[c.j]
		ahead, behind := p.beta[c.i]+order, p.beta[c.j]
		value += c.first*ahead + c.second*behind + c.tie*(nu+(ahead+behind)/2) - c.n()*math.Log(a*a+b*b+p.nu*a*b)
	}
	return value
}

// objective returns what the fit maximises; not under Jeffreys' penalty.
func (m *model) objective(p *point) float64 {
	value := m.logLik(p)
	for _, v := range p.beta[:m.items] {
		value -= m.o.Ridge / 2 * v * v
	}
	return value
}

// evaluate fills gradient and information of the likelihood with its ridge. The strengths are free up to a shift; a
// multiple of the all-ones matrix takes that freedom away without touching anything else.
func (m *model) evaluate(p *point, w *workspace) {
	clear(w.grad)
	clear(w.info.data)
	info, stride := w.info.data, w.info.n
	for k := range m.cells {
		c := &m.cells[k]
		at := p.pull(c)
		m.addGradient(w.grad, c, at)
		m.addInformation(info, stride, c, at)
	}
	for i, v := range p.beta[:m.items] {
		w.grad[i] -= m.o.Ridge * v
		info[i*stride+i] += m.o.Ridge
	}
	m.pin(info, stride)
}

func (m *model) addGradient(grad []float64, c *cell, p pull) {
	grad[c.i] += p.advantage
	grad[c.j] -= p.advantage
	if m.order > 0 {
		grad[m.order] += p.advantage
	}
	if m.nu > 0 {
		grad[m.nu] += p.nu
	}
}

// addInformation adds a cell to the upper triangle.
func (m *model) addInformation(info []float64, stride int, c *cell, p pull) {
	i, j := int(c.i), int(c.j)
	info[i*stride+i] += p.aa
	info[j*stride+j] += p.aa
	info[min(i, j)*stride+max(i, j)] -= p.aa
	if m.order > 0 {
		info[i*stride+m.order] += p.aa
		info[j*stride+m.order] -= p.aa
		info[m.order*stride+m.order] += p.aa
	}
	if m.nu > 0 {
		info[i*stride+m.nu] += p.an
		info[j*stride+m.nu] -= p.an
		info[m.nu*stride+m.nu] += p.nn
		if m.order > 0 {
			info[m.order*stride+m.nu] += p.an
		}
	}
}

// pin adds a multiple of the all-ones matrix over the strengths, as large as the information itself.
func (m *model) pin(info []float64, stride int) {
	trace := 0.0
	for i := range m.items {
		trace += info[i*stride+i]
	}
	if trace == 0 {
		trace = 1
	}
	by := trace / float64(m.items*m.items)
	for i := range m.items {
		row := info[i*stride+i : i*stride+m.items]
		for j := range row {
			row[j] += by
		}
	}
}

// halfLogDet returns half the log determinant of the information that was factorized, without what the pin adds to it.
func (m *model) halfLogDet(w *workspace) float64 {
	value, moved := 0.0, 0.0
	for i := range m.size {
		value += math.Log(w.chol.factor.at(i, i))
	}
	for i := range m.items {
		moved += w.info.at(0, i) // the pin's eigenvalue: that of the shift of all strengths
	}
	return value - math.Log(moved)/2
}

// jeffreys turns the gradient into that of the likelihood penalised by half the log determinant of the information:
// each cell acts as if a share of it, its leverage, had been won half the time. These shares enter the information, too,
// so that steps do not overshoot where the likelihood alone is flat.
func (m *model) jeffreys(p *point, w *workspace) {
	inverse, ok := w.chol.inverse()
	if !ok {
		return // so ill-conditioned that the plain step is the better one
	}
	for k := range m.cells {
		c := &m.cells[k]
		i, j := int(c.i), int(c.j)
		spread := inverse.at(i, i) + inverse.at(j, j) - 2*inverse.at(i, j)
		if m.order > 0 {
			spread += inverse.at(m.order, m.order) + 2*(inverse.at(i, m.order)-inverse.at(j, m.order))
		}
		first, second, _ := p.chances(c.i, c.j)
		leverage := c.n() * first * second * spread
		at := pull{advantage: leverage * (0.5 - first), aa: leverage * first * second}
		m.addGradient(w.grad, c, at)
		m.addInformation(w.info.data, w.info.n, c, at)
	}
}
