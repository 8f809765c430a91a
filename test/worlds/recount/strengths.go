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
	strengths  map[string]float64
	order, tie *float64 // tie is the logarithm of the parameter
}

// fit climbs to the most likely strengths; false: they grow without end, and there are none.
func fit(a *arena, order, ties bool) (*model, bool) {
	at := map[string]int{}
	for i, name := range a.names {
		at[name] = i - 1 // the first is 0 until all are centred
	}
	n := len(a.names) - 1
	place, size := n, n
	if order {
		size++
	}
	if ties {
		size++
	}
	x := make([]float64, size)
	for range 200 {
		gradient, hessian := climb(a, at, x, place, order, ties)
		step := solve(hessian, gradient)
		if step == nil {
			return nil, false
		}
		largest := 0.0
		for i := range x {
			largest = max(largest, math.Abs(step[i]))
		}
		for i := range x {
			x[i] += step[i] * min(1, 2/largest)
			if math.Abs(x[i]) > 25 {
				return nil, false
			}
		}
		if largest < 1e-11 {
			return centred(a, x, order, ties), true
		}
	}
	return nil, false
}

// climb returns the slope of the likelihood and how it bends.
func climb(a *arena, at map[string]int, x []float64, place int, order, ties bool) (gradient []float64, bends [][]float64) {
	gradient = make([]float64, len(x))
	bends = make([][]float64, len(x))
	for i := range bends {
		bends[i] = make([]float64, len(x))
	}
	for _, b := range a.bouts {
		weight := make([]float64, len(x)) // of the advantage of the one shown first
		if i := at[b.first]; i >= 0 {
			weight[i]++
		}
		if i := at[b.second]; i >= 0 {
			weight[i]--
		}
		if order {
			weight[place] = 1
		}
		advantage := 0.0
		for i, w := range weight {
			advantage += w * x[i]
		}
		tie := 0.0
		if ties {
			tie = math.Exp(x[len(x)-1])
		}
		win, lose := math.Exp(advantage/2), math.Exp(-advantage/2)
		all := win + lose + tie
		win, lose, tie = win/all, lose/all, tie/all
		slope, bend := b.got-0.5-(win-lose)/2, (win+lose-(win-lose)*(win-lose))/4
		for i, w := range weight {
			gradient[i] += w * slope
			for k, v := range weight {
				bends[i][k] += w * v * bend
			}
		}
		if last := len(x) - 1; ties {
			gradient[last] += one(b.got == 0.5) - tie
			bends[last][last] += tie * (1 - tie)
			for i, w := range weight {
				bends[i][last] -= w * (win - lose) / 2 * tie
				bends[last][i] -= w * (win - lose) / 2 * tie
			}
		}
	}
	return gradient, bends
}

// solve returns the solution of linear equations; nil: there is not one.
func solve(m [][]float64, right []float64) []float64 {
	n := len(right)
	x := slices.Clone(right)
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

// centred returns the model with a mean strength of 0.
func centred(a *arena, x []float64, order, ties bool) *model {
	m := &model{strengths: map[string]float64{}}
	n := len(a.names) - 1
	mean := total(x[:n]) / float64(n+1)
	for i, name := range a.names {
		m.strengths[name] = -mean
		if i > 0 {
			m.strengths[name] = x[i-1] - mean
		}
	}
	if order {
		m.order = &x[n]
	}
	if ties {
		m.tie = &x[len(x)-1]
	}
	return m
}

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
	var value *float64
	switch {
	case !ok:
	case f.What == "strength":
		value = some(m.strengths[who])
	case f.What == "order effect":
		value = m.order
	case f.What == "tie parameter":
		value = m.tie
	case f.What == "reliability":
		return c.reliability(t, f, m)
	}
	c.same(f.What, f.What, value, f.Value)
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
	c.student(f, a.clusters)
	if f.Rank != nil && ok && f.What == "strength" {
		rank := 1
		for _, x := range m.strengths {
			rank += int(one(x > m.strengths[who]+1e-7))
		}
		c.count("strength: rank", "rank", rank, f.Rank.Rank)
	}
	return true
}

// student checks that bounds and p-value belong to a standard error of so many clusters: where it comes from resamples, it
// cannot be computed again.
func (c *checker) student(f *Finding, clusters int) {
	if f.Value == nil || f.SE == nil {
		c.same(f.What+": interval", f.What+", low bound without an error", nil, f.Low)
		return
	}
	if f.Low == nil {
		c.differ(f.What+", an error without an interval", "none", fmt.Sprint(*f.SE))
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
	noise, n := 0.0, 0.0
	var all []float64
	for i := range t.Findings {
		s := &t.Findings[i]
		field := "lane"
		if s.By["item"] != "" {
			field = "item"
		}
		x, ours := m.strengths[s.By[field]]
		for name, value := range f.By {
			ours = ours && s.By[name] == value
		}
		if !ours || s.What != "strength" {
			continue
		}
		if s.SE == nil {
			return false
		}
		all, noise, n = append(all, x), noise+*s.SE**s.SE, n+1
	}
	spread := 0.0
	for _, x := range all {
		spread += (x - total(all)/n) * (x - total(all)/n) / (n - 1)
	}
	c.same("reliability", "reliability", some(1-noise/n/spread), f.Value)
	return true
}
