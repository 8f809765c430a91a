package plan

import (
	"testing"

	"assay/internal/assay"
)

// TestTheCanaryIsNotAmongThoseThatFillABatch has a part of a later wave that is just large enough for a batch: one request goes ahead, and
// what is left is too few and goes live.
func TestTheCanaryIsNotAmongThoseThatFillABatch(t *testing.T) {
	t.Parallel()
	price := func(each assay.Money) Price {
		c := assay.Cost{Sum: 100 * each, Priced: 100}
		return Price{Low: c, Expected: c, High: c}
	}
	for canary, want := range map[int64]assay.Money{0: 20 * 5, 1: 20 * 10} {
		p := Part{Mode: assay.ModeBatch, Requests: 100, Few: 20, Canary: canary, Plain: price(5), Live: price(10)}
		if got := p.CostOf(20).Expected.Sum; got != want {
			t.Errorf("with %d ahead: %d, want %d", canary, got, want)
		}
		if got := p.CostOf(21).Expected.Sum; got != 21*5+5*assay.Money(canary) {
			t.Errorf("one more, with %d ahead: %d", canary, got)
		}
	}
}
