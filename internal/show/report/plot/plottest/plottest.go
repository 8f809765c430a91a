// Package plottest checks scenes.
package plottest

import (
	"strings"
	"testing"

	"assay/internal/show/report/plot"
)

// Inside checks that every shape of a scene lies on it and is a number.
func Inside(t *testing.T, s *plot.Scene) {
	t.Helper()
	if s == nil {
		t.Fatal("nothing is drawn")
	}
	for _, sh := range s.Shapes {
		for _, x := range []plot.Px{sh.X, sh.X2, sh.X + sh.W} {
			if !plot.Finite(float64(x)) || x < -0.5 || x > s.Width+0.5 {
				t.Errorf("%s %q at x %v of %v", sh.Kind, sh.Class+" "+sh.Text, float64(x), s.Width)
			}
		}
		for _, y := range []plot.Px{sh.Y, sh.Y2, sh.Y + sh.H} {
			if !plot.Finite(float64(y)) || y < -0.5 || y > s.Height+0.5 {
				t.Errorf("%s %q at y %v of %v", sh.Kind, sh.Class+" "+sh.Text, float64(y), s.Height)
			}
		}
		if strings.Contains(sh.D, "NaN") || strings.Contains(sh.D, "Inf") {
			t.Errorf("a path is no path: %s", sh.D)
		}
		if sh.Kind == plot.Text && sh.Turn == 0 {
			end := float64(sh.X)
			if strings.Contains(sh.Class, "end") {
				end -= plot.WidthOf(sh.Text, plot.SmallSize)
				if end < -20 {
					t.Errorf("%q begins at %g", sh.Text, end)
				}
			}
		}
	}
}

// Has reports whether a shape has a class.
func Has(s *plot.Scene, class string) bool {
	for _, sh := range s.Shapes {
		if strings.Contains(sh.Class, class) {
			return true
		}
	}
	return false
}
