package assay_test

import (
	"testing"

	"assay/internal/assay"
)

func TestThePlaceBehindATextCountsLinesAndCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   assay.Place
		text string
		want assay.Place
	}{
		{assay.Place{File: "f", Line: 3, Col: 5}, "", assay.Place{File: "f", Line: 3, Col: 5}},
		{assay.Place{File: "f", Line: 3, Col: 5}, "né", assay.Place{File: "f", Line: 3, Col: 7}},
		{assay.Place{File: "f", Line: 3, Col: 5}, "one\ntwo", assay.Place{File: "f", Line: 4, Col: 8}},
		{assay.Place{File: "f", Line: 3}, "one\ntwo", assay.Place{File: "f", Line: 4}},
		{assay.Place{File: "f"}, "one\ntwo", assay.Place{File: "f"}},
	} {
		if got := c.at.After(c.text); got != c.want {
			t.Errorf("%v after %q: %v, want %v", c.at, c.text, got, c.want)
		}
	}
}
