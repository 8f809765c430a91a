package study

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOfSaysWhichTurnsAreRead(t *testing.T) {
	t.Parallel()
	three, on, none := Turns{N: 3}, Turns{N: 3, GoesOn: true}, Turns{}
	for _, c := range []struct {
		of   Of
		in   Turns
		want []int
		one  int
	}{
		{Of{}, three, []int{3}, 3},
		{Of{Which: OfLast}, three, []int{3}, 3},
		{Of{Which: OfConversation}, three, []int{3}, 3},
		{Of{Which: OfFirst}, three, []int{1}, 1},
		{Of{Which: OfFirst}, on, []int{1}, 1},
		{Of{Which: OfEach}, three, []int{1, 2, 3}, 3},
		{Of{Which: OfLater}, three, []int{2, 3}, 3},
		{Of{Which: OfLater}, on, []int{1, 2, 3}, 3},
		{Of{Which: OfLater}, Turns{N: 1}, nil, 1},
		{Of{Turn: 2}, three, []int{2}, 2},
		{Of{Turn: 7}, three, nil, 3},
		{Of{Which: OfEach}, none, nil, 0},
	} {
		var got []int
		for turn := -1; turn <= 8; turn++ {
			if c.of.Reads(turn, c.in) {
				got = append(got, turn)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" || c.of.One(c.in) != c.one {
			t.Errorf("of %q in %+v: one is %d, want %d; %s", c.of, c.in, c.of.One(c.in), c.one, d)
		}
	}
	if s := fmt.Sprint(Of{}, Of{Turn: 2}, Of{Which: OfEach}); s != " 2 each" {
		t.Errorf("written as %q", s)
	}
}
