package stats

import (
	"fmt"
	"math"
)

// Styled are comparisons with what else distinguishes the two that met, such as how much longer the first one is. Rows
// of one cluster are together, and clusters are numbered in their order.
type Styled struct {
	Items   int
	Pairs   Pairs
	Cluster []uint32
	X       [][]float32 // by feature, then by comparison: of the first minus of the second
}

// StyledFit is a Bradley-Terry model whose advantage of the first one has a term for each feature.
type StyledFit struct {
	Theta  []float64 // strengths, mean 0: what they would be if both were alike in all features
	Beta   []float64 // what one unit of each feature adds to the advantage
	Order  Number
	LogNu  Number
	LogLik float64

	data      *Styled
	size      int
	order, nu int // index of the parameter; 0: the model has none
	at        []float64
	inverse   *symmetric
}

// FitStyled fits the model, without penalty. Where the likelihood has no finite maximum the error is a *[NoMaximum].
func FitStyled(s *Styled, o BTOptions) (*StyledFit, error) {
	if o.Ridge != 0 || o.Firth {
		return nil, fmt.Errorf("fit Bradley-Terry with features: no penalties")
	}
	f := newStyled(s, o)
	if err := f.climb(nil); err != nil {
		return nil, err
	}
	return f, f.finish()
}

func newStyled(s *Styled, o BTOptions) *StyledFit {
	f := &StyledFit{data: s, size: s.Items, Order: Undefined("no order effect in the model"),
		LogNu: Undefined("no tie parameter in the model")}
	if o.Order {
		f.order = f.size
		f.size++
	}
	if o.Ties == Davidson {
		f.nu = f.size
		f.size++
	}
	f.size += len(s.X)
	f.at = make([]float64, f.size)
	return f
}

// first returns where the parameters of features begin.
func (f *StyledFit) first() int { return f.size - len(f.data.X) }

// styledRow is one comparison at a point: its gradient along the advantage and along log nu.
type styledRow struct {
	pull
	value float64 // its log likelihood
}

// row evaluates comparison k.
func (f *StyledFit) row(k int, at []float64) styledRow {
	p := f.data.Pairs
	a := at[p.First[k]] - at[p.Second[k]]
	if f.order > 0 {
		a += at[f.order]
	}
	for j, x := range f.data.X {
		a += at[f.first()+j] * float64(x[k])
	}
	up, down, tie := math.Exp(a/2), math.Exp(-a/2), 0.0
	if f.nu > 0 {
		tie = math.Exp(at[f.nu])
	}
	all := up + down + tie
	won, tied := up/all, tie/all
	mu, score, drawn := won+tied/2, p.Result[k].Score(), oneIf(p.Result[k] == Tied)
	out := styledRow{value: (score-0.5)*a - math.Log(all)}
	out.advantage, out.aa = score-mu, won+tied/4-mu*mu
	if f.nu > 0 {
		out.value += drawn * at[f.nu]
		out.nu, out.an, out.nn = drawn-tied, tied*(0.5-mu), tied*(1-tied)
	}
	return out
}

// each calls with every parameter that the advantage of comparison k has, and by how much.
func (f *StyledFit) each(k int, do func(at int, by float64)) {
	do(int(f.data.Pairs.First[k]), 1)
	do(int(f.data.Pairs.Second[k]), -1)
	if f.order > 0 {
		do(f.order, 1)
	}
	for j, x := range f.data.X {
		if x[k] != 0 {
			do(f.first()+j, float64(x[k]))
		}
	}
}

// climb goes to the maximum by Newton's steps; times is how often each cluster counts, nil: once.
func (f *StyledFit) climb(times []uint32) error {
	w := newWorkspace(f.size)
	value := f.evaluate(w, times)
	for range maxIterations {
		if !w.solve() {
			return vanished()
		}
		size, old := largest(w.step), value
		for range 30 { // a step is halved until the likelihood does not fall
			for i := range f.at {
				w.trial[i] = f.at[i] + w.step[i]
			}
			if value = f.likelihood(w.trial, times); value >= old-1e-9 {
				break
			}
			shrink(w.step, 0.5)
		}
		copy(f.at, w.trial)
		if center(f.at[:f.data.Items]); size < 1e-7 {
			return nil
		}
		if math.IsNaN(size) || largest(f.at) > runaway {
			return &NoMaximum{Why: "the strengths run away"}
		}
		value = f.evaluate(w, times)
	}
	return &NoMaximum{Why: fmt.Sprintf("the iteration did not settle in %d steps", maxIterations)}
}

func (f *StyledFit) likelihood(at []float64, times []uint32) float64 {
	sum := 0.0
	for k, c := range f.data.Cluster {
		if n := weight(times, c); n > 0 {
			sum += n * f.row(k, at).value
		}
	}
	return sum
}

func weight(times []uint32, cluster uint32) float64 {
	if times == nil {
		return 1
	}
	return float64(times[cluster])
}

// evaluate fills gradient and information, pinned as in model.evaluate, and returns the likelihood.
func (f *StyledFit) evaluate(w *workspace, times []uint32) float64 {
	clear(w.grad)
	clear(w.info.data)
	sum := 0.0
	at, by := make([]int, 0, 4+len(f.data.X)), make([]float64, 0, 4+len(f.data.X))
	for k, c := range f.data.Cluster {
		n := weight(times, c)
		if n == 0 {
			continue
		}
		r := f.row(k, f.at)
		sum += n * r.value
		at, by = at[:0], by[:0]
		f.each(k, func(i int, x float64) { at, by = append(at, i), append(by, x) })
		for a, i := range at {
			w.grad[i] += n * by[a] * r.advantage
			for b, j := range at[:a+1] {
				w.info.data[min(i, j)*f.size+max(i, j)] += n * by[a] * by[b] * r.aa
			}
			if f.nu > 0 {
				w.info.data[min(i, f.nu)*f.size+max(i, f.nu)] += n * by[a] * r.an
			}
		}
		if f.nu > 0 {
			w.grad[f.nu] += n * r.nu
			w.info.data[f.nu*f.size+f.nu] += n * r.nn
		}
	}
	(&model{items: f.data.Items}).pin(w.info.data, f.size)
	return sum
}

// finish fills in the result of a fit, and the inverse of its information.
func (f *StyledFit) finish() error {
	w := newWorkspace(f.size)
	f.LogLik = f.evaluate(w, nil)
	if !w.chol.factorize(w.info) {
		return vanished()
	}
	inverse, ok := w.chol.inverse()
	if !ok {
		return vanished()
	}
	f.inverse = inverse // with the pin's own part, which cancels in influences: the scores of strengths sum to 0
	f.Theta, f.Beta = f.at[:f.data.Items], f.at[f.first():]
	if f.order > 0 {
		f.Order = Known(f.at[f.order])
	}
	if f.nu > 0 {
		f.LogNu = Known(f.at[f.nu])
	}
	return nil
}

// clusters returns how many there are.
func (s *Styled) clusters() int {
	if len(s.Cluster) == 0 {
		return 0
	}
	return int(s.Cluster[len(s.Cluster)-1]) + 1
}

// influences returns what each cluster does to each parameter, to first order: cluster by cluster.
func (f *StyledFit) influences() []float64 {
	out := make([]float64, f.data.clusters()*f.size)
	for k, c := range f.data.Cluster {
		r := f.row(k, f.at)
		score := out[int(c)*f.size : (int(c)+1)*f.size]
		f.each(k, func(i int, x float64) { score[i] += x * r.advantage })
		if f.nu > 0 {
			score[f.nu] += r.nu
		}
	}
	whole, moved := f.inverse.whole(), make([]float64, f.size)
	for c := 0; c < len(out); c += f.size {
		times(f.size, whole, out[c:c+f.size], moved)
		copy(out[c:c+f.size], moved)
	}
	return out
}

// StyledErrors are the cluster-robust standard errors (CR1) of a fit, and of how its strengths differ from those of
// another fit to the same comparisons, such as one without features.
type StyledErrors struct {
	Theta, Beta []float64
	Order       Number
	Change      []float64
}

// Errors returns those of the fit, and of its difference from a plain one.
func (f *StyledFit) Errors(plain *StyledFit) (StyledErrors, error) {
	g := f.data.clusters()
	if g < 2 {
		return StyledErrors{}, fmt.Errorf("cluster-robust errors: %d cluster", g)
	}
	own, other := f.influences(), plain.influences()
	squares, changed := make([]float64, f.size), make([]float64, f.data.Items)
	for c := range g {
		for i := range f.size {
			squares[i] += square(own[c*f.size+i])
		}
		for i := range changed {
			changed[i] += square(own[c*f.size+i] - other[c*plain.size+i])
		}
	}
	by := float64(g) / float64(g-1)
	root := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = math.Sqrt(by * v)
		}
		return out
	}
	all := root(squares)
	out := StyledErrors{Theta: all[:f.data.Items], Beta: all[f.first():], Order: Undefined("no order effect in the model"),
		Change: root(changed)}
	if f.order > 0 {
		out.Order = Known(all[f.order])
	}
	return out, nil
}

// Resampled returns the errors by fitting resamples of the clusters anew, for where these are few; Undefined counts
// those without an estimate.
func (f *StyledFit) Resampled(plain *StyledFit, o BTOptions, resamples int, seed uint64) (errors StyledErrors, undefined int) {
	type both struct{ own, other []float64 }
	fits := make([]both, resamples)
	g := f.data.clusters()
	replicate(resamples, func() []uint32 { return make([]uint32, g) }, func(drawn []uint32, k int) {
		resample(stream(seed, k), drawn)
		own, other := newStyled(f.data, o), newStyled(plain.data, o)
		copy(own.at, f.at)
		copy(other.at, plain.at)
		if own.climb(drawn) == nil && other.climb(drawn) == nil {
			fits[k] = both{own.at, other.at}
		}
	})
	spread := func(of func(both) float64) float64 {
		var r Replicates
		for _, b := range fits {
			if b.own != nil {
				r.Values = append(r.Values, of(b))
			}
		}
		return r.SE().Value
	}
	for i := range f.data.Items {
		errors.Theta = append(errors.Theta, spread(func(b both) float64 { return b.own[i] }))
		errors.Change = append(errors.Change, spread(func(b both) float64 { return b.own[i] - b.other[i] }))
	}
	for j := range f.Beta {
		errors.Beta = append(errors.Beta, spread(func(b both) float64 { return b.own[f.first()+j] }))
	}
	if errors.Order = Undefined("no order effect in the model"); f.order > 0 {
		errors.Order = Known(spread(func(b both) float64 { return b.own[f.order] }))
	}
	for _, b := range fits {
		undefined += int(oneIf(b.own == nil))
	}
	return errors, undefined
}
