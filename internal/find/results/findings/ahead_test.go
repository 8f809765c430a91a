package findings

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAWalkAheadHandsOutTheSame(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, n := range []int{0, 1, aheadBlock, 10*aheadBlock + 7} {
		var want, got []int
		walk := func(yield func(int, error) bool) {
			for i := range n {
				if !yield(i, nil) {
					return
				}
			}
			yield(0, broken)
		}
		for i := range n {
			want = append(want, i)
		}
		var failed error
		for v, err := range ahead(walk) {
			if failed = err; err == nil {
				got = append(got, v)
			}
		}
		if d := cmp.Diff(want, got); d != "" || !errors.Is(failed, broken) {
			t.Errorf("of %d, then %v: %s", n, failed, d)
		}
	}
}

func TestAWalkAheadEndsWithWhoReads(t *testing.T) {
	t.Parallel()
	ended := false
	walk := func(yield func(int, error) bool) {
		defer func() { ended = true }()
		for yield(1, nil) {
		}
	}
	n := 0
	for range ahead(walk) {
		if n++; n == 3*aheadBlock+1 {
			break
		}
	}
	if !ended {
		t.Error("the walk goes on")
	}
}
