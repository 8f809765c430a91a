package adaptive

import (
	"math"
	"testing"
)

// TestAnExactTestIsForetold: 7 items only the first has right, none the second. One more discordant item settles it; of one
// more item a quarter is discordant, so that no quote of one item promises 80%.
func TestAnExactTestIsForetold(t *testing.T) {
	t.Parallel()
	x := &Discordant{Ahead: 7, Behind: 0, Items: 30, Level: 0.05 / 3}
	if p := x.resolved(0, 0.9); p != 1 {
		t.Errorf("7 to 0 is p = 0.0156, below %.4f: %g", x.Level, p)
	}
	x.Level = 0.05 / 6
	if p := x.resolved(0, 0.9); p != 0 {
		t.Errorf("7 to 0 is not below %.4f: %g", x.Level, p)
	}
	if p := x.resolved(1, 0.9); math.Abs(p-0.9) > 1e-9 {
		t.Errorf("8 to 0 is p = 0.0078, and comes with 0.9: %g", p)
	}
	q := Quote{Pair: Pair{Difference: 7. / 30, Variance: 0.006}, Spread: 0.01, Exact: x}
	n, ok := q.Needed(0.8)
	if !ok || n < 10 || q.Chance(1) > 0.3 || q.Chance(n) < 0.8 || q.Chance(n-1) >= 0.8 {
		t.Errorf("%g more: %.3f, one more: %.3f", n, q.Chance(n), q.Chance(1))
	}
	if bold, _ := q.AsFound().Needed(0.8); bold > n {
		t.Errorf("%g as found, %g else", bold, n)
	}
}
