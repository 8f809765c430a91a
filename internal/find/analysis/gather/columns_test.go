package gather

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"assay/internal/find/analysis"
)

func TestPlacesAreDenseInTheOrderOfAppearance(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() uint32{
		"nearly all numbers": func() uint32 { return uint32(r.IntN(300)) },
		"a few of many":      func() uint32 { return 7919 * uint32(r.IntN(300)) },
		"both":               func() uint32 { return uint32(r.IntN(200) + r.IntN(2)*1_000_000) },
	} {
		t.Run(name, func(t *testing.T) {
			var p Places
			want := map[uint32]int{}
			for range 2000 {
				id := draw()
				if k, ok := p.At(id); ok != (want[id] > 0) || ok && k != want[id]-1 {
					t.Fatalf("%d stands at %d, %v, want %d", id, k, ok, want[id]-1)
				}
				if want[id] == 0 {
					want[id] = len(want) + 1
				}
				if k := p.Of(id); k != want[id]-1 || p.IDs[k] != id {
					t.Fatalf("%d got place %d, want %d", id, k, want[id]-1)
				}
			}
			if len(p.IDs) != len(want) || len(p.dense) > emptiest*len(p.IDs) {
				t.Errorf("%d places for %d numbers, a table of %d", len(p.IDs), len(want), len(p.dense))
			}
		})
	}
}

func TestCountsGoBeyondAByte(t *testing.T) {
	t.Parallel()
	var c Counts
	for n := range 1000 {
		if got := c.At(3); got != n {
			t.Fatalf("%d after %d", got, n)
		}
		c.Add(3)
	}
	if c.At(2) != 0 || c.At(4) != 0 {
		t.Errorf("%d and %d that were not counted", c.At(2), c.At(4))
	}
}

func TestTextsAreOrderedAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "b", "1", "12", "123456789", "1234567890", "twelve chars", "a much longer text, of more than twenty"}
	for _, a := range texts {
		for _, b := range texts {
			want := cmp.Compare(string(analysis.AppendText(nil, a)), string(analysis.AppendText(nil, b)))
			if got := analysis.CompareTexts(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}
