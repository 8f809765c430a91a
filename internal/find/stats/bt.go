package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Ties is how a Bradley-Terry fit reads ties.
type Ties uint8

// The readings of ties.
const (
	HalfTies Ties = iota // a tie is half a win to each side
	Davidson             // win : tie : loss = e^a : nu e^((a+b)/2) : e^b
)

// BTOptions select the Bradley-Terry model to fit. The zero value is the plain maximum likelihood fit with half ties.
type BTOptions struct {
	Ties  Ties
	Order bool    // estimate the advantage of being shown first
	Ridge float64 // lambda of the penalty lambda/2 * sum(theta^2)
	Firth bool    // Jeffreys' penalty, which keeps every strength finite; half ties only
}

// BTFit is a fitted Bradley-Terry model.
type BTFit struct {
	Options    BTOptions
	Theta      []float64 // strengths, mean 0
	Order      Number    // advantage of the item shown first, on the scale of Theta
	LogNu      Number    // log of Davidson's tie parameter
	LogLik     float64   // without penalty, without terms that do not depend on the parameters
	Iterations int       // Newton steps

	model *model
	beta  []float64 // Theta, then order, then log nu
	tally *Tally
}

const (
	maxIterations = 200
	runaway       = 60 // strengths this large mean probabilities below 1e-26: the maximum has escaped
)

// FitBT fits the model to a tally. Where the likelihood has no finite maximum the error is a *[NoMaximum].
func FitBT(t *Tally, o BTOptions) (*BTFit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if t.items == 0 {
		return nil, errors.New("fit Bradley-Terry: no items")
	}
	m := newModel(t, o)
	g := newGraph(t.items, m.cells)
	if err := g.exists(m.cells, o); err != nil {
		return nil, err
	}
	beta := make([]float64, m.size)
	if o.Ridge == 0 && !o.Firth {
		g.newman(beta[:t.items])
	}
	steps, err := m.newton(beta, newWorkspace(m.size), m.lastStep())
	if err != nil {
		return nil, err
	}
	return m.fit(t, beta, steps), nil
}

func (o BTOptions) check() error {
	switch {
	case !(o.Ridge >= 0) || math.IsInf(o.Ridge, 1):
		return fmt.Errorf("fit Bradley-Terry: ridge %g", o.Ridge)
	case o.Firth && (o.Ties != HalfTies || o.Ridge > 0):
		return errors.New("fit Bradley-Terry: Jeffreys' penalty goes with half ties and without ridge")
	}
	return nil
}

// lastStep returns how small a step must be to be the last. Newton's steps square their error, so that what is left
// after this one is beyond the digits of a float64; scoring under Jeffreys' penalty only divides it, and has to go on.
func (m *model) lastStep() float64 {
	if m.o.Firth {
		return 1e-11
	}
	return 1e-6
}

// plain reports whether Newman's iteration already finds this fit.
func (o BTOptions) plain() bool { return o == BTOptions{} }

func (m *model) fit(t *Tally, beta []float64, steps int) *BTFit {
	f := &BTFit{
		Options: m.o, Theta: slices.Clone(beta[:m.items]), Iterations: steps,
		Order: Undefined("no order effect in the model"), LogNu: Undefined("no tie parameter in the model"),
		LogLik: m.logLik(m.point(beta, nil)), model: m, beta: beta, tally: t,
	}
	if m.order > 0 {
		f.Order = Known(beta[m.order])
	}
	if m.nu > 0 {
		f.LogNu = Known(beta[m.nu])
	}
	return f
}

// Information returns the Fisher information of one more comparison of two items about the difference of their
// strengths, in the mean of both orders.
func (f *BTFit) Information(i, j int) float64 {
	p := f.model.point(f.beta, nil)
	one := cell{i: int32(i), j: int32(j), first: 1}
	back := cell{i: int32(j), j: int32(i), first: 1}
	return (p.pull(&one).aa + p.pull(&back).aa) / 2
}

// newman refines strengths by Newman's iteration for half ties, sweep by sweep, until what a geometric tail would still
// add is negligible. It reports whether it got there; the graph must be strongly connected.
func (g *graph) newman(theta []float64) bool {
	const enough, maxSweeps = 1e-8, 100
	strength := make([]float64, g.items)
	for i, v := range theta {
		strength[i] = math.Exp(v)
	}
	last, done := math.Inf(1), false
	for sweep := 0; sweep < maxSweeps && !done; sweep++ {
		change := g.sweep(strength)
		rate := change / last
		done = change < 1e-14 || sweep > 0 && rate < 1 && change*rate/(1-rate) < enough
		last = change
	}
	for i, v := range strength {
		theta[i] = math.Log(v)
	}
	center(theta)
	return done
}

// sweep updates each strength once and returns the largest relative change.
func (g *graph) sweep(strength []float64) float64 {
	change := 0.0
	for i := range g.items {
		own, up, down := strength[i], 0.0, 0.0
		from, to := g.start[i], g.start[i+1]
		other, won, lost := g.other[from:to], g.won[from:to], g.lost[from:to]
		for k, j := range other {
			share := 1 / (own + strength[j])
			up += won[k] * share * strength[j]
			down += lost[k] * share
		}
		if from == to {
			continue
		}
		strength[i] = up / down
		change = max(change, math.Abs(strength[i]/own-1))
	}
	return change
}

// workspace holds buffers that successive fits reuse.
type workspace struct {
	grad, step, trial []float64
	info              *symmetric
	chol              cholesky  // under Jeffreys' penalty
	penalty           float64   // Jeffreys'
	before            []float64 // the last step under it
	rate              float64   // of the last step to the one before
	here, there       *point
}

func newWorkspace(size int) *workspace {
	return &workspace{
		grad: make([]float64, size), step: make([]float64, size), trial: make([]float64, size),
		info: newSymmetric(size),
	}
}

// newton climbs from beta to the maximum, until a step is smaller than last, and returns the number of steps.
func (m *model) newton(beta []float64, w *workspace, last float64) (int, error) {
	most := maxIterations
	if m.o.Firth {
		most *= 20
	}
	for step := range most {
		w.here = m.point(beta, w.here)
		m.evaluate(w.here, w)
		if m.o.Firth {
			if !w.chol.factorize(w.info) {
				return 0, vanished()
			}
			w.penalty = m.halfLogDet(w)
			m.jeffreys(w.here, w)
		}
		if !w.solve() {
			return 0, vanished()
		}
		if m.o.Firth {
			w.extrapolate(step)
		}
		m.climb(beta, w)
		size := largest(w.step)
		if size < last {
			center(beta[:m.items])
			return step + 1, nil
		}
		if math.IsNaN(size) || largest(beta) > runaway {
			return 0, &NoMaximum{Why: "the strengths run away"}
		}
	}
	return 0, &NoMaximum{Why: fmt.Sprintf("the iteration did not settle in %d steps", most)}
}

// extrapolate lengthens every fourth step to where a geometric row of such steps would end. Scoring under Jeffreys' penalty
// only divides its error, and on sparse data by little.
func (w *workspace) extrapolate(step int) {
	if w.before == nil {
		w.before = make([]float64, len(w.step))
	}
	along, own, old := floats.Dot(w.step, w.before), floats.Dot(w.step, w.step), floats.Dot(w.before, w.before)
	copy(w.before, w.step)
	if !(old > 0) {
		return
	}
	rate, last := along/old, w.rate
	w.rate = rate
	steady := math.Abs(rate-last) < 0.2*(1-rate) && along > 0.99*math.Sqrt(own*old)
	if step%4 == 3 && rate > 0.3 && steady {
		shrink(w.step, min(30, 1/(1-rate)))
	}
}

func vanished() error {
	return &NoMaximum{Why: "the information about the parameters vanished on the way"}
}

// solve finds the step from gradient and information, which it uses up; false where the information is not positive
// definite. How well conditioned it is does not matter: a poor step is followed by another.
func (w *workspace) solve() bool {
	factor, ok := lapack64.Potrf(w.info.upper())
	if ok {
		copy(w.step, w.grad)
		lapack64.Potrs(factor, column(w.step))
	}
	return ok
}

// climb takes the step, halved until the objective does not fall. A step that changes log odds by a fraction cannot
// overshoot, so it is not checked.
func (m *model) climb(beta []float64, w *workspace) {
	const sure = 0.1
	far := largest(w.step)
	if m.o.Firth && far > 1 {
		shrink(w.step, 1/far)
	}
	check, before := far >= sure, 0.0
	if check {
		before = m.objective(w.here) + w.penalty
	}
	for range 30 {
		for i := range beta {
			w.trial[i] = beta[i] + w.step[i]
		}
		if !check || m.climbed(w) >= before {
			break
		}
		shrink(w.step, 0.5)
	}
	copy(beta, w.trial)
}

// climbed returns the objective after the step.
func (m *model) climbed(w *workspace) float64 {
	w.there = m.point(w.trial, w.there)
	if !m.o.Firth {
		return m.objective(w.there)
	}
	m.evaluate(w.there, w)
	if !w.chol.factorize(w.info) {
		return math.Inf(-1)
	}
	return m.objective(w.there) + m.halfLogDet(w)
}

func shrink(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
