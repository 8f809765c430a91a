package adaptive

import (
	"math"

	"assay/internal/find/stats"
)

// Misfit is how far the direct comparisons of two lanes depart from those that all strengths predict.
type Misfit struct {
	I, J   int
	N      float64 // their comparisons
	Score  float64 // what the first has of them, a tie is half
	Fitted float64 // by the strengths
	Z      float64 // the difference, in standard errors
}

// Large reports whether strengths alone hardly explain it, where it is the largest of so many lanes.
func (m Misfit) Large(lanes int) bool {
	const usual, level = 3.5, 0.01
	pairs := max(1, lanes*(lanes-1)/2)
	return math.Abs(m.Z) > max(usual, quantile(1-level/2/float64(pairs)))
}

// misfit returns the largest departure of a pair that met often enough.
func (l *Look) misfit(t *stats.Tally) Misfit {
	const fewest = 10
	var largest Misfit
	if !l.Finite || l.Thin {
		return largest
	}
	order := 0.0
	if l.Order.OK {
		order = l.Order.Value
	}
	for _, p := range l.Pairs {
		m := Misfit{I: p.I, J: p.J}
		d := l.Theta[p.I] - l.Theta[p.J]
		won, lost, tied := t.Of(p.I, p.J)
		m.N, m.Score, m.Fitted = won+lost+tied, won+tied/2, (won+lost+tied)*l.score(d+order)
		lost, won, tied = t.Of(p.J, p.I)
		m.N, m.Score, m.Fitted = m.N+won+lost+tied, m.Score+won+tied/2, m.Fitted+(won+lost+tied)*l.score(d-order)
		one := p.Information * l.Effect
		fixed := m.N * one * variance(l.covariance, [2]int{p.I, p.J}) // the part that the fit follows
		if m.N < fewest || fixed > 0.999 {
			continue
		}
		m.Z = (m.Score - m.Fitted) / math.Sqrt(m.N*one*(1-fixed)*max(1, l.Effect))
		m.Score, m.Fitted = m.Score/m.N, m.Fitted/m.N
		if math.Abs(m.Z) > math.Abs(largest.Z) {
			largest = m
		}
	}
	return largest
}
