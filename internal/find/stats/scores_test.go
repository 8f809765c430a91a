package stats

import (
	"slices"
	"testing"
)

// TestTheSquaresOfScoresAreThoseOfClusterByCluster adds up as the definition does; not a digit may depend on who added.
func TestTheSquaresOfScoresAreThoseOfClusterByCluster(t *testing.T) {
	t.Parallel()
	for _, o := range []BTOptions{{}, {Order: true, Ties: Davidson}} {
		g := grouped(t, 40, 20_000, 3*scoreBlock+5)
		fit, err := FitBT(g.Tally(), o)
		if err != nil {
			t.Fatal(err)
		}
		m, at := fit.model, fit.model.point(fit.beta, nil)
		want, grad := newSymmetric(m.size), make([]float64, m.size)
		for c := range g.Clusters() {
			clear(grad)
			for s := range g.cluster(c) {
				own := g.cells[s.cell]
				own.first, own.second, own.tie = float64(s.first), float64(s.second), float64(s.tie)
				m.addGradient(grad, &own, at.pull(&own))
			}
			for i := range grad {
				for j := i; j < len(grad); j++ {
					want.set(i, j, want.at(i, j)+grad[i]*grad[j])
				}
			}
		}
		if got := newScores(fit, g).squares(); !slices.Equal(want.data, got.data) {
			t.Errorf("%+v: another sum", o)
		}
	}
}
