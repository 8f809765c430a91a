package recount

import (
	"fmt"
	"math"
)

// precision is the errors of strengths: a covariance of the parameters, and as many clusters as Student's t has.
type precision struct {
	covariance [][]float64
	units      int
}

// of returns the standard error of a combination of the parameters.
func (e *precision) of(combination []float64) *float64 {
	return some(math.Sqrt(max(0, form(e.covariance, combination))))
}

func form(m [][]float64, x []float64) float64 {
	sum := 0.0
	for i := range x {
		for k := range x {
			sum += x[i] * m[i][k] * x[k]
		}
	}
	return sum
}

// errors returns those of a fit; nil: they come from resamples, which cannot be computed again.
func (m *model) errors() *precision {
	switch {
	case m.byPair():
		return m.scattered()
	case m.clusters >= 40 && m.clusters > len(m.names):
		return m.robust()
	}
	return nil
}

// information returns how the likelihood of all bouts bends, and its inverse.
func (m *model) information() (inverse [][]float64) {
	bends := square(len(m.x))
	for _, b := range m.bouts {
		_, bend := m.pull(b)
		for i := range bend {
			for k := range bend {
				bends[i][k] += bend[i][k]
			}
		}
	}
	inverse = square(len(m.x))
	for k := range m.x {
		unit := make([]float64, len(m.x))
		unit[k] = 1
		for i, v := range solve(bends, unit) {
			inverse[i][k] = v
		}
	}
	return inverse
}

// inClusters returns the bouts cluster by cluster.
func (a *arena) inClusters() map[string][]bout {
	out := map[string][]bout{}
	for _, b := range a.bouts {
		out[b.cluster] = append(out[b.cluster], b)
	}
	return out
}

// byPair reports whether each cluster holds one pair, and there are too few of them for each lane: then the scatter of pairs
// gives the errors.
func (m *model) byPair() bool {
	pairs, shared := map[string]bool{}, false
	for _, bouts := range m.inClusters() {
		pair := ""
		for _, b := range bouts {
			two := fmt.Sprintf("%q %q", min(b.first, b.second), max(b.first, b.second))
			if pair != "" && two != pair {
				return false
			}
			pair = two
		}
		shared = shared || pairs[pair]
		pairs[pair] = true
	}
	return len(pairs) > 1 && (!shared || len(m.names) >= 4 && m.clusters < 20*len(m.names))
}

// scattered returns the model's errors, widened by how far clusters scatter round the strengths: Pearson's statistic by what
// the fit leaves of their variances.
func (m *model) scattered() *precision {
	inverse := m.information()
	squares, free := 0.0, 0.0
	for _, bouts := range m.inClusters() {
		score, own, cross := 0.0, 0.0, make([]float64, len(m.x))
		for _, b := range bouts {
			win, lose, tie := m.chances(b)
			sign := 1.0
			if b.first > b.second {
				sign = -1
			}
			bend := (win + lose - (win-lose)*(win-lose)) / 4
			score, own = score+sign*(b.got-0.5-(win-lose)/2), own+bend
			for i, w := range m.weights(b) {
				cross[i] += sign * w * bend
			}
			if m.ties {
				cross[len(cross)-1] -= sign * (win - lose) / 2 * tie
			}
		}
		if left := 1 - form(inverse, cross)/own; left > 1e-9 {
			squares, free = squares+score*score/own, free+left
		}
	}
	factor := 1.0
	if free >= 0.5 {
		factor = max(1, squares/free)
	}
	e := &precision{covariance: inverse, units: 1 + int(math.Floor(free+1e-6))}
	if factor == 1 && free >= 0.5 { // nothing is widened: as good as normal
		e.units = 10_001
	}
	for i := range inverse {
		for k := range inverse {
			inverse[i][k] *= factor
		}
	}
	return e
}

// robust returns the cluster-robust errors (CR1).
func (m *model) robust() *precision {
	inverse := m.information()
	g := float64(m.clusters)
	e := &precision{covariance: square(len(m.x)), units: m.clusters}
	for _, bouts := range m.inClusters() {
		sum := make([]float64, len(m.x))
		for _, b := range bouts {
			slope, _ := m.pull(b)
			for i := range sum {
				sum[i] += slope[i]
			}
		}
		pulled := make([]float64, len(m.x))
		for i := range pulled {
			for k := range sum {
				pulled[i] += inverse[i][k] * sum[k]
			}
		}
		for i := range pulled {
			for k := range pulled {
				e.covariance[i][k] += g / (g - 1) * pulled[i] * pulled[k]
			}
		}
	}
	return e
}

// byStrength returns the standing of lanes by their strengths in the group of a finding; where there are none, by shares of
// wins, every two tested on the clusters in which they met. Nil: errors come from resamples, or pairs were bought in rounds.
func (s *stage) byStrength(t *Table, f *Finding) *standing {
	if s.rubric.Rounds {
		return nil
	}
	level := f.Level
	a, _, ok := s.arenaOf(t, f)
	if !ok || len(a.bouts) == 0 {
		return nil
	}
	out := newStanding(a.names, false, level)
	m, ok := a.modelOf(t.Method == "davidson", false)
	if !ok {
		a.bySigns(out)
		return out
	}
	e := m.errors()
	if e == nil || e.units < 2 {
		return nil
	}
	for i, x := range a.names {
		out.values[x] = some(m.strength(x))
		for _, y := range a.names[i+1:] {
			first, second := m.combination("strength", x), m.combination("strength", y)
			for k := range first {
				first[k] -= second[k]
			}
			d, se := m.value(first), e.of(first)
			if *se > 1e-9 {
				out.tests[[2]string{x, y}] = estimate{value: some(d), p: some(tail(d / *se, e.units-1))}
			}
		}
	}
	return out
}

// bySigns ranks by shares of wins. A cluster counts for the one that won more of the comparisons of two in it.
func (a *arena) bySigns(out *standing) {
	for i, x := range a.names {
		var got []float64
		for _, b := range a.of(x) {
			got = append(got, b.got)
		}
		out.values[x] = mean(got)
		for _, y := range a.names[i+1:] {
			net := map[string]float64{}
			for _, b := range a.of(x) {
				if b.second == y {
					net[b.cluster] += 2*b.got - 1
				}
			}
			ahead, behind := 0, 0
			for _, n := range net {
				ahead, behind = ahead+int(one(n > 0)), behind+int(one(n < 0))
			}
			if len(net) > 0 {
				out.tests[[2]string{x, y}] = estimate{value: some(float64(ahead-behind) / float64(len(net))),
					p: some(signTest(ahead, behind))}
			}
		}
	}
}
