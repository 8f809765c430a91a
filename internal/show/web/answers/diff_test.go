package answers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADiffSharesWhatTwoTextsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want []change
	}{
		{"", "", nil},
		{"same words", "same words", []change{{"same", "same words"}}},
		{"", "new", []change{{"right", "new"}}},
		{"old", "", []change{{"left", "old"}}},
		{"the cat sat", "the dog sat", []change{{"same", "the "}, {"left", "cat "}, {"right", "dog "}, {"same", "sat"}}},
		{"a b c d", "b c x d", []change{{"left", "a "}, {"same", "b c "}, {"right", "x "}, {"same", "d"}}},
		{"one", "two three", []change{{"left", "one"}, {"right", "two three"}}},
	} {
		a, _ := cutWords(c.a)
		b, _ := cutWords(c.b)
		if d := cmp.Diff(c.want, diffWords(a, b)); d != "" {
			t.Errorf("%q and %q: %s", c.a, c.b, d)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("the cat sat on the mat", "a cat lay on a mat")
	f.Add("\xff \u202e", "a\n\nb  c")
	f.Add(strings.Repeat("x ", 50), strings.Repeat("y ", 50))
	f.Fuzz(func(t *testing.T, left, right string) {
		a, cutA := cutWords(left)
		b, cutB := cutWords(right)
		var gotA, gotB strings.Builder
		for _, c := range diffWords(a, b) {
			if c.Kind != "right" {
				gotA.WriteString(c.Text)
			}
			if c.Kind != "left" {
				gotB.WriteString(c.Text)
			}
		}
		if !cutA && gotA.String() != left || !cutB && gotB.String() != right {
			t.Errorf("%q, %q: the two sides read %q, %q", left, right, gotA.String(), gotB.String())
		}
	})
}
