package recount

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// model is a fit of strengths: log odds of who is shown first are its strength less the other's plus the order effect; a tie
// is as likely as its parameter times the middle of the two.
type model struct {
	*arena
	order, ties bool
	x           []float64 // strengths but the first, which is 0; the order effect; the logarithm of the tie parameter
}

// fit climbs to the most likely strengths; false: they grow without end, and there are none.
func fit(a *arena, order, ties bool) (*model, bool) {
	m := &model{arena: a, order: order, ties: ties, x: make([]float64, len(a.names)-1+int(one(order)+one(ties)))}
	for range 200 {
		gradient, bends := make([]float64, len(m.x)), square(len(m.x))
		for _, b := range a.bouts {
			slope, bend := m.pull(b)
			for i := range slope {
				gradient[i] += slope[i]
				for k := range slope {
					bends[i][k] += bend[i][k]
				}
			}
		}
		step := solve(bends, gradient)
		if step == nil {
			return nil, false
		}
		largest := 0.0
		for i := range m.x {
			largest = max(largest, math.Abs(step[i]))
		}
		for i := range m.x {
			if m.x[i] += step[i] * min(1, 2/largest); math.Abs(m.x[i]) > 25 {
				return nil, false
			}
		}
		if largest < 1e-11 {
			return m, true
		}
	}
	return nil, false
}

func square(n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	return out
}

// weights returns how the advantage of the one shown first depends on the parameters.
func (m *model) weights(b bout) []float64 {
	out := make([]float64, len(m.x))
	if i := slices.Index(m.names, b.first); i > 0 {
		out[i-1]++
	}
	if i := slices.Index(m.names, b.second); i > 0 {
		out[i-1]--
	}
	if m.order {
		out[len(m.names)-1] = 1
	}
	return out
}

// chances returns how likely each result of a bout is.
func (m *model) chances(b bout) (win, lose, tie float64) {
	advantage := 0.0
	for i, w := range m.weights(b) {
		advantage += w * m.x[i]
	}
	if m.ties {
		tie = math.Exp(m.x[len(m.x)-1])
	}
	win, lose = math.Exp(advantage/2), math.Exp(-advantage/2)
	all := win + lose + tie
	return win / all, lose / all, tie / all
}

// pull returns the slope of a bout's likelihood, and how it bends.
func (m *model) pull(b bout) (slope []float64, bend [][]float64) {
	win, lose, tie := m.chances(b)
	weights := m.weights(b)
	slope, bend = make([]float64, len(m.x)), square(len(m.x))
	for i, w := range weights {
		slope[i] = w * (b.got - 0.5 - (win-lose)/2)
		for k, v := range weights {
			bend[i][k] = w * v * (win + lose - (win-lose)*(win-lose)) / 4
		}
	}
	if last := len(m.x) - 1; m.ties {
		slope[last] = one(b.got == 0.5) - tie
		bend[last][last] = tie * (1 - tie)
		for i, w := range weights {
			if i < last {
				bend[i][last] = -w * (win - lose) / 2 * tie
				bend[last][i] = bend[i][last]
			}
		}
	}
	return slope, bend
}

// solve returns the solution of linear equations; nil: there is not one.
func solve(of [][]float64, right []float64) []float64 {
	n := len(right)
	x, m := slices.Clone(right), square(n)
	for i := range m {
		copy(m[i], of[i])
	}
	for i := range n {
		best := i
		for k := i; k < n; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[best][i]) {
				best = k
			}
		}
		m[i], m[best], x[i], x[best] = m[best], m[i], x[best], x[i]
		if math.Abs(m[i][i]) < 1e-12 {
			return nil
		}
		for k := i + 1; k < n; k++ {
			by := m[k][i] / m[i][i]
			for j := i; j < n; j++ {
				m[k][j] -= by * m[i][j]
			}
			x[k] -= by * x[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x
}

// combination returns the weights of the parameters in a number of the model: the strength of one less the mean of all, the
// order effect, or the logarithm of the tie parameter; nil: the model does not have it.
func (m *model) combination(what, who string) []float64 {
	out := make([]float64, len(m.x))
	switch n := len(m.names); {
	case what == "strength":
		for i, name := range m.names[1:] {
			out[i] = one(name == who) - 1/float64(n)
		}
	case what == "order effect" && m.order:
		out[n-1] = 1
	case what == "tie parameter" && m.ties:
		out[len(m.x)-1] = 1
	default:
		return nil
	}
	return out
}

// value returns a combination of the parameters.
func (m *model) value(combination []float64) float64 {
	sum := 0.0
	for i, w := range combination {
		sum += w * m.x[i]
	}
	return sum
}

// strength returns that of one, where the mean of all is 0.
func (m *model) strength(who string) float64 { return m.value(m.combination("strength", who)) }

// modelOf returns the model that a table has: with an order effect where both orders were shown and it can be told, and with a
// tie parameter where there are ties.
func (a *arena) modelOf(davidson, needsOrder bool) (*model, bool) {
	forth, back, ties := false, false, davidson
	for _, b := range a.bouts {
		forth, back, ties = forth || b.first < b.second, back || b.first > b.second, ties || b.got == 0.5
	}
	if forth && back {
		if m, ok := fit(a, true, ties); ok || needsOrder {
			return m, ok
		}
	}
	if needsOrder {
		return nil, false
	}
	return fit(a, false, ties)
}

// fitted checks strengths and what their model has besides.
func (c *checker) fitted(s *stage, t *Table, f *Finding, a *arena, who string) bool {
	if s.rubric.Rounds || strings.Contains(f.Method, "ridge") || strings.Contains(f.Method, "Firth") {
		return false
	}
	m, ok := a.modelOf(t.Method == "davidson", t.Method == "positional-bias")
	if ok && f.What == "reliability" {
		return c.reliability(t, f, m)
	}
	n, clusters := len(a.bouts), a.clusters
	if who != "" {
		own := map[string]bool{}
		for _, b := range a.of(who) {
			own[b.cluster] = true
		}
		n, clusters = len(a.of(who)), len(own)
	}
	c.count(f.What+": n", f.What+", n", n, f.N)
	c.count(f.What+": clusters", f.What+", clusters", clusters, f.Clusters)
	combination := []float64(nil)
	if ok {
		combination = m.combination(f.What, who)
	}
	if combination == nil {
		c.same(f.What, f.What, nil, f.Value)
		return true
	}
	c.same(f.What, f.What, some(m.value(combination)), f.Value)
	units := a.clusters
	if e := m.errors(); e != nil {
		units = e.units
		c.same(f.What+": standard error", f.What+", standard error", e.of(combination), f.SE)
	}
	c.student(f, units)
	if f.Rank != nil && f.What == "strength" {
		rank := 1
		for _, other := range m.names {
			rank += int(one(m.strength(other) > m.strength(who)+1e-7))
		}
		c.count("strength: rank", "rank", rank, f.Rank.Rank)
	}
	return true
}

// student checks that bounds and p-value belong to a standard error of so many clusters: one that comes from resamples cannot
// be computed again.
func (c *checker) student(f *Finding, clusters int) {
	if f.Value == nil || f.SE == nil {
		c.same(f.What+": interval", f.What+", low bound without an error", nil, f.Low)
		return
	}
	if f.Low == nil {
		c.differ(f.What+", an error without an interval", "none", fmt.Sprint(*f.SE))
		return
	}
	if clusters < 2 {
		c.differ(f.What+", an interval of one cluster", "none", fmt.Sprint(*f.Low))
		return
	}
	t := critical(f.Level, clusters-1)
	c.same(f.What+": interval", f.What+", low bound", some(*f.Value-t**f.SE), f.Low)
	c.same(f.What+": interval", f.What+", high bound", some(*f.Value+t**f.SE), f.High)
	if f.P != nil {
		c.same(f.What+": test", "p of "+f.What, some(tail(*f.Value / *f.SE, clusters-1)), f.P)
	}
}

// reliability checks the share of the spread of strengths that is not error, from the errors that are claimed.
func (c *checker) reliability(t *Table, f *Finding, m *model) bool {
	var all, noise []float64
	for i := range t.Findings {
		s := &t.Findings[i]
		ours := s.What == "strength"
		for name, value := range f.By {
			ours = ours && s.By[name] == value
		}
		if !ours {
			continue
		}
		if s.SE == nil {
			return false
		}
		all, noise = append(all, m.strength(s.By["lane"]+s.By["item"])), append(noise, *s.SE**s.SE)
	}
	spread, n := 0.0, float64(len(all))
	for _, x := range all {
		spread += (x - total(all)/n) * (x - total(all)/n) / (n - 1)
	}
	if spread == 0 { // there is nothing to have a share of
		c.same("reliability", "reliability", nil, f.Value)
		return true
	}
	c.same("reliability", "reliability", some(1-total(noise)/n/spread), f.Value)
	return true
}
