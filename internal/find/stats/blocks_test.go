package stats

import (
	"math"
	"testing"
)

func TestEffectsOfColumnsDoNotDependOnWhichRowsTheyHave(t *testing.T) {
	t.Parallel()
	b := NewBlocks(3)
	common := [][]float64{{1, 0, 0}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}} // rows that all have
	for _, v := range common {
		b.Add([]int{0, 1, 2}, v)
	}
	for _, v := range [][]float64{{0, 0}, {0, 0}, {1, 0}, {0, 0}} { // hard ones, of the first two alone
		b.Add([]int{1, 0}, []float64{v[1], v[0]})
	}
	got, ok := b.Effects()
	if !ok {
		t.Fatal("the columns are not connected")
	}
	// The first two keep together what they have on the rows of all, and differ by what they differ on all their rows.
	first, second, third := 3.0/4, 2.0/4, 2.0/4
	apart := 2.0 / 8
	want := []float64{(first+second)/2 + apart/2, (first+second)/2 - apart/2, third}
	mean := (want[0] + want[1] + want[2]) / 3
	for i := range want {
		if math.Abs(got[i]-(want[i]-mean)) > 1e-12 {
			t.Errorf("column %d: %g, want %g", i, got[i], want[i]-mean)
		}
	}
	alone := NewBlocks(3)
	alone.Add([]int{0, 1}, []float64{1, 0})
	alone.Add([]int{2}, []float64{1})
	if e, ok := alone.Effects(); ok {
		t.Errorf("columns that share no row: %v", e)
	}
}
