package words

import (
	"assay/internal/find/analysis"
)

// Neighbours returns the names of every two that follow each other in a ranking and cannot be told apart.
func Neighbours(s *analysis.Leaderboard) (out [][2]string) {
	r := rank(s)
	for k := range r.order[min(1, len(r.order)):] {
		if a, b := r.order[k], r.order[k+1]; !r.differ(a, b) {
			out = append(out, [2]string{r.Places[a].Name, r.Places[b].Name})
		}
	}
	return out
}
