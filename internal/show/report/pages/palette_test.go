package pages_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/internal/show/report/pages"
)

type colour [3]float64 // linear light

func parseColour(t *testing.T, hex string) colour {
	t.Helper()
	var c colour
	for i := range c {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		x := float64(v) / 255
		if x <= 0.04045 {
			c[i] = x / 12.92
		} else {
			c[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c colour) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// themes returns the colours of the style sheet, light and dark.
func themes(t *testing.T) map[string]map[string]colour {
	t.Helper()
	css := pages.Stylesheet()
	light, rest, ok := strings.Cut(css, "@media screen and (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "/* words */")
	if !ok {
		t.Fatal("the style sheet has no dark colours")
	}
	out := map[string]map[string]colour{}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		out[name] = map[string]colour{}
		for _, m := range regexp.MustCompile(`--([a-z0-9]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(part, -1) {
			out[name][m[1]] = parseColour(t, m[2])
		}
	}
	if len(out["light"]) != len(out["dark"]) {
		t.Errorf("%d light colours, %d dark ones", len(out["light"]), len(out["dark"]))
	}
	return out
}

func TestEveryColourCanBeReadInLightAndDark(t *testing.T) {
	t.Parallel()
	var pairs []string
	for _, text := range []string{"ink", "soft", "link", "good", "warn", "doubt"} {
		pairs = append(pairs, text+" paper 4.5", text+" panel 4.5")
	}
	pairs = append(pairs, "ink mark 4.5", "focus paper 3", "control paper 3")
	for i := range 6 {
		pairs = append(pairs, fmt.Sprintf("s%d paper 3", i+1), fmt.Sprintf("ink q%d 4.5", i))
	}
	for i := range 11 {
		pairs = append(pairs, fmt.Sprintf("ink h%d 4.5", i))
	}
	for theme, colours := range themes(t) {
		for _, p := range pairs {
			var front, back string
			var least float64
			if _, err := fmt.Sscan(p, &front, &back, &least); err != nil {
				t.Fatal(err)
			}
			f, ok := colours[front]
			b, too := colours[back]
			if !ok || !too {
				t.Errorf("%s: no colour %s or %s", theme, front, back)
				continue
			}
			if c := contrast(f, b); c < least {
				t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", theme, front, back, c, least)
			}
		}
	}
}

// seenBy are the transformations of linear light for eyes without one kind of cone (Viénot, Brettel and Mollon 1999).
var seenBy = map[string][3][3]float64{
	"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
}

func TestNeighbouringSeriesDifferForColourBlindEyes(t *testing.T) {
	t.Parallel()
	for theme, colours := range themes(t) {
		for eye, m := range seenBy {
			for i := range 3 { // most plots have no more series; shapes distinguish all of them
				a, b := seen(m, colours[fmt.Sprintf("s%d", i+1)]), seen(m, colours[fmt.Sprintf("s%d", i+2)])
				if d := distance(a, b); d < 12 {
					t.Errorf("%s, %s: s%d and s%d are %.1f apart", theme, eye, i+1, i+2, d)
				}
			}
		}
	}
}

func seen(m [3][3]float64, c colour) colour {
	var out colour
	for i := range out {
		out[i] = max(0, m[i][0]*c[0]+m[i][1]*c[1]+m[i][2]*c[2])
	}
	return out
}

// distance is CIE 1976 colour difference.
func distance(a, b colour) float64 {
	x, y := lab(a), lab(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

func lab(c colour) [3]float64 {
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}
