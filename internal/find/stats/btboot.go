package stats

import (
	"fmt"
	"math"
	"slices"
)

// BTBootstrap are the fits of resampled clusters.
type BTBootstrap struct {
	Fit       *BTFit      // of the data as they are
	Theta     [][]float64 // strengths of each resample that has an estimate
	Order     []float64   // their order effects, if the model has one
	LogNu     []float64   // their tie parameters, if the model has one
	Clusters  int         // that were resampled
	Undefined int         // resamples whose likelihood has no finite maximum
}

// BootstrapBT fits the model to the data and to resamples of their clusters. The fits are those of [FitBT]; the numbers
// depend on the seed alone.
func BootstrapBT(g *Grouped, o BTOptions, resamples int, seed uint64) (*BTBootstrap, error) {
	if resamples < 1 {
		return nil, fmt.Errorf("bootstrap Bradley-Terry: %d resamples", resamples)
	}
	fit, err := FitBT(g.tally, o)
	if err != nil {
		return nil, err
	}
	betas := make([][]float64, resamples)
	replicate(resamples, func() *refit { return newRefit(g, fit) }, func(r *refit, k int) {
		resample(stream(seed, k), r.times)
		betas[k] = r.run()
	})
	out := &BTBootstrap{Fit: fit, Clusters: g.Clusters()}
	for _, beta := range betas {
		if beta == nil {
			out.Undefined++
			continue
		}
		out.Theta = append(out.Theta, beta[:fit.model.items:fit.model.items])
		if fit.model.order > 0 {
			out.Order = append(out.Order, beta[fit.model.order])
		}
		if fit.model.nu > 0 {
			out.LogNu = append(out.LogNu, beta[fit.model.nu])
		}
	}
	return out, nil
}

// coarser is how much larger the last step of a refit may be: what is left is still far below the noise of resampling.
const coarser = 100

// refit is the state of one goroutine that fits resamples in turn: cells and graph keep their shape.
type refit struct {
	grouped *Grouped
	whole   *BTFit
	model   *model
	graph   *graph
	work    *workspace
	times   []uint32 // how often each cluster was drawn
	cells   []int32  // the model's cell of a grouped cell, its sign bit set when turned round
	counts  [][3]uint32
}

func newRefit(g *Grouped, whole *BTFit) *refit {
	m := *whole.model
	m.cells = slices.Clone(m.cells)
	r := &refit{
		grouped: g, whole: whole, model: &m, graph: newGraph(m.items, m.cells), work: newWorkspace(m.size),
		times: make([]uint32, g.Clusters()), cells: make([]int32, len(g.cells)), counts: make([][3]uint32, len(g.cells)),
	}
	at := make(map[uint64]int32, len(m.cells))
	for k, c := range m.cells {
		at[arc(c.i, c.j)] = int32(k)
	}
	for k, c := range g.cells {
		if own, ok := at[arc(c.i, c.j)]; ok {
			r.cells[k] = own
		} else {
			r.cells[k] = ^at[arc(c.j, c.i)]
		}
	}
	return r
}

// run fits the resample that times describes; nil where there is no estimate.
func (r *refit) run() []float64 {
	r.count()
	r.graph.fill(r.model.cells)
	if r.graph.exists(r.model.cells, r.model.o) != nil {
		return nil
	}
	beta := slices.Clone(r.whole.beta)
	if r.model.o.plain() && r.graph.newman(beta) {
		return beta
	}
	if _, err := r.model.newton(beta, r.work, coarser*r.model.lastStep()); err != nil {
		return nil
	}
	return beta
}

// count fills the cells with the drawn clusters.
func (r *refit) count() {
	clear(r.counts)
	for c, times := range r.times {
		if times == 0 {
			continue
		}
		for s := range r.grouped.cluster(c) {
			n := &r.counts[s.cell]
			n[0] += times * s.first
			n[1] += times * s.second
			n[2] += times * s.tie
		}
	}
	cells := r.model.cells
	for k := range cells {
		cells[k].first, cells[k].second, cells[k].tie = 0, 0, 0
	}
	for k, n := range r.counts {
		if own := r.cells[k]; own >= 0 {
			c := &cells[own]
			c.first, c.second, c.tie = c.first+float64(n[0]), c.second+float64(n[1]), c.tie+float64(n[2])
		} else {
			c := &cells[^own]
			c.first, c.second, c.tie = c.first+float64(n[1]), c.second+float64(n[0]), c.tie+float64(n[2])
		}
	}
}

// Strength returns the values of one item's strength over the resamples.
func (b *BTBootstrap) Strength(i int) Replicates {
	return b.over(func(theta []float64) float64 { return theta[i] })
}

func (b *BTBootstrap) over(of func([]float64) float64) Replicates {
	r := Replicates{Values: make([]float64, len(b.Theta)), Undefined: b.Undefined}
	for k, theta := range b.Theta {
		r.Values[k] = of(theta)
	}
	return r
}

// Intervals returns the percentile intervals of all strengths.
func (b *BTBootstrap) Intervals(level float64) []Interval {
	all := make([]Interval, len(b.Fit.Theta))
	for i := range all {
		all[i] = b.Strength(i).Interval(level)
	}
	return all
}

// OrderEffect returns the values of the order effect over the resamples.
func (b *BTBootstrap) OrderEffect() Replicates {
	if !b.Fit.Order.OK {
		return Replicates{Undefined: len(b.Theta) + b.Undefined}
	}
	return Replicates{Values: b.Order, Undefined: b.Undefined}
}

// TieParameter returns the values of the log of the tie parameter over the resamples.
func (b *BTBootstrap) TieParameter() Replicates {
	if !b.Fit.LogNu.OK {
		return Replicates{Undefined: len(b.Theta) + b.Undefined}
	}
	return Replicates{Values: b.LogNu, Undefined: b.Undefined}
}

// Difference returns the error of the difference of two strengths: its standard deviation over the resamples.
func (b *BTBootstrap) Difference(i, j int) float64 {
	var n, m, s float64
	for _, theta := range b.Theta { // one pass, stable: the mean moves along
		n++
		d := theta[i] - theta[j]
		step := d - m
		m += step / n
		s += step * (d - m)
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(s / (n - 1))
}
