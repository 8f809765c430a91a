package analysis

import (
	"math"
	"testing"

	"assay/internal/find/stats"
)

// TestQuotesBelieveInTheSpreadOfLanesWithoutError has four lanes whose errors go up and down together: a difference of two has a smaller
// error than theirs would make if they were independent.
func TestQuotesBelieveInTheSpreadOfLanesWithoutError(t *testing.T) {
	t.Parallel()
	s := &Leaderboard{Verb: Judged, Field: ByLane, Test: ExactPairs, Level: 0.95, Clusters: 40, Unit: Share}
	for i, value := range []float64{0.4, 0.5, 0.6, 0.7} {
		s.Places = append(s.Places, Place{Name: string(rune('a' + i)), Value: stats.Known(value),
			Interval: stats.Between(value-0.15, value+0.15)})
		for j := range i {
			c := Contrast{First: j, Second: i, Difference: stats.Known(s.Places[j].Value.Value - value), SE: stats.Known(0.08),
				Clusters: 40, Information: stats.Known(4), P: stats.Known(0.3 / float64(i-j)), Ahead: 4, Behind: 4 + 4*(i-j)}
			s.Tests = append(s.Tests, c)
		}
	}
	q, ok := s.Quote(0, 1)
	if want := 0.05/3 - 0.08*0.08/2; !ok || math.Abs(q.Spread-want) > 1e-12 {
		t.Errorf("spread %g, want %g", q.Spread, want)
	}
	// Three pairs are clearer (p 0.1 and 0.15, twice): Holm tests them before.
	if want := 0.05 * LookAt(2) / 3; q.Exact == nil || math.Abs(q.Exact.Level-want) > 1e-12 {
		t.Errorf("level %v, want %g", q.Exact, want)
	}
}
