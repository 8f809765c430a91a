package stats

import (
	"gonum.org/v1/gonum/floats"
)

// scores are the gradients of a fit's clusters.
type scores struct {
	model   *model
	grouped *Grouped
	chances []chance // by cell
}

// chance is what is expected of one comparison: the score of the item shown first, and a tie.
type chance struct{ mu, tie float64 }

// newScores asks the fit once about each cell, however many clusters have a part in it.
func newScores(f *BTFit, g *Grouped) *scores {
	s := &scores{model: f.model, grouped: g, chances: make([]chance, len(g.cells))}
	at := f.model.point(f.beta, nil)
	for k, c := range g.cells {
		first, _, tie := at.chances(c.i, c.j)
		s.chances[k] = chance{first + tie/2, tie}
	}
	return s
}

// of fills in the gradient of one cluster.
func (s *scores) of(cluster int, grad []float64) {
	clear(grad)
	for _, part := range s.grouped.cluster(cluster) {
		at := s.chances[part.cell]
		first, second, tie := float64(part.first), float64(part.second), float64(part.tie)
		n := first + second + tie
		s.model.addGradient(grad, &s.grouped.cells[part.cell], pull{advantage: first + tie/2 - n*at.mu, nu: tie - n*at.tie})
	}
}

const (
	scoreBlock = 256 // clusters whose gradients are held at once
	scoreRows  = 16  // rows of the sum that stay close at hand while a block is added to them
)

// squares is the sum over clusters of the gradient times itself. Each element is added up in the order of the clusters, whichever goroutine does it.
func (s *scores) squares() *symmetric {
	size, clusters := s.model.size, s.grouped.Clusters()
	sum := newSymmetric(size)
	block := make([][]float64, min(scoreBlock, clusters))
	for k := range block {
		block[k] = make([]float64, size)
	}
	for from := 0; from < clusters; from += len(block) {
		held := block[:min(len(block), clusters-from)]
		together(len(held)*size, len(held), func(k int) { s.of(from+k, held[k]) })
		together(len(held)*size*size, (size+scoreRows-1)/scoreRows, func(tile int) {
			for _, grad := range held {
				for i := tile * scoreRows; i < min(size, (tile+1)*scoreRows); i++ {
					if v := grad[i]; v != 0 {
						floats.AddScaled(sum.data[i*size+i:(i+1)*size], v, grad[i:])
					}
				}
			}
		})
	}
	return sum
}

// together does so many pieces of work, on all cores where there is enough of it.
func together(work, pieces int, do func(piece int)) {
	const enough = 20_000
	if work < enough {
		for k := range pieces {
			do(k)
		}
		return
	}
	replicate(pieces, func() struct{} { return struct{}{} }, func(_ struct{}, k int) { do(k) })
}
