package gather

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
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
		"in their order":     inOrder(1 << 31),
		"in order, then not": inOrder(500),
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
				if k := p.Of(id); k != want[id]-1 || p.ID(k) != id {
					t.Fatalf("%d got place %d, want %d", id, k, want[id]-1)
				}
			}
			if p.Len() != len(want) || len(p.dense) > emptiest*p.Len() {
				t.Errorf("%d places for %d numbers, a table of %d", p.Len(), len(want), len(p.dense))
			}
			if name == "in their order" && len(p.ids)+len(p.dense) > 0 {
				t.Errorf("numbers that are their own places are kept: %d", len(p.ids))
			}
		})
	}
}

// inOrder draws the numbers from 0 on, and again and again from 700 on once there are so many.
func inOrder(many uint32) func() uint32 {
	next := uint32(0)
	return func() uint32 {
		if next++; next > many {
			return 1400 - next%700
		}
		return next - 1
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

func TestSumsHoldAnyValues(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, values := range [][]float64{{0, 1}, {0, 1, 0.25, -3}} {
		var s Sums
		want := make([]float64, 100)
		for i := range 3000 {
			k, value := r.IntN(len(want)), values[r.IntN(min(len(values), 2+i/1000))]
			s.Add(k, value)
			want[k] += value
			if got := s.At(k); got != want[k] {
				t.Fatalf("%v: %v at %d, want %v", values, got, k, want[k])
			}
		}
		for k := range want {
			if got := s.At(k); got != want[k] {
				t.Errorf("%v: %v at %d, want %v", values, got, k, want[k])
			}
		}
		if s.At(len(want)) != 0 || len(values) == 2 && len(s.sums) > 0 {
			t.Errorf("%v: %v where nothing is, %d sums", values, s.At(len(want)), len(s.sums))
		}
	}
}

func TestNamesAreNumberedOnce(t *testing.T) {
	t.Parallel()
	var n Names
	if _, ok := n.Find("none"); ok || n.Len() != 0 {
		t.Error("a name that nobody gave")
	}
	text := func(i int) string { return strings.Repeat("x", i%5) + strconv.Itoa(i) }
	many := 5*block + 7
	for i := range many {
		for _, got := range []uint32{n.Of(text(i)), n.OfBytes([]byte(text(i)))} {
			if got != uint32(i) {
				t.Fatalf("%q has number %d, want %d", text(i), got, i)
			}
		}
	}
	if _, ok := n.Within([]byte("one more"), many); ok || n.Len() != many {
		t.Errorf("%d names, %v", n.Len(), ok)
	}
	for i := range many {
		if i%1000 == 0 {
			if n.Rest(); n.Of(text(i+1)) != uint32(i+1) || n.Len() != many {
				t.Fatalf("after a rest %q has number %d of %d", text(i+1), n.Of(text(i+1)), n.Len())
			}
		}
		if got, ok := n.Find(text(i)); !ok || got != uint32(i) || n.Text(got) != text(i) {
			t.Fatalf("%q has number %d, %v, %q", text(i), got, ok, n.Text(got))
		}
	}
	n.Rest()
	if got, ok := n.Within([]byte(""), many+1); !ok || n.Text(got) != "" || n.Of("") != got {
		t.Errorf("an empty name has number %d, %v", got, ok)
	}
}
