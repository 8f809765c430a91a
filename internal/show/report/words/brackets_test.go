package words

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Brackets join what shares a group, side by side where they overlap, and mark what lies between without belonging.
func TestBracketsJoinWhatCannotBeToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tiers [][]int
		want  []string
	}{
		"all apart":             {[][]int{{0}, {1}}, []string{"", ""}},
		"two that overlap":      {[][]int{{0}, {0, 1}, {1}}, []string{"┌ ", "└┌", " └"}},
		"one after another":     {[][]int{{0}, {0}, {1}, {2}, {2}}, []string{"┌", "└", " ", "┌", "└"}},
		"neighbours stay apart": {[][]int{{0}, {0}, {1}, {1}}, []string{"┌ ", "└ ", " ┌", " └"}},
		"one is left out":       {[][]int{{0}, {1}, {0}}, []string{"┌", "┆", "└"}},
	} {
		var got []string
		for _, joins := range (&ranked{tiers: c.tiers}).brackets() {
			got = append(got, BoardRow{Joins: joins}.Bracket())
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	var many [][]int // every neighbour but one is apart: more brackets than are read
	for k := range 40 {
		own := []int{}
		for g := max(0, k-12); g <= k; g++ {
			own = append(own, g)
		}
		many = append(many, own)
	}
	if got := (&ranked{tiers: many}).brackets(); got != nil {
		t.Error(got)
	}
}
