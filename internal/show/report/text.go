package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// The most bytes that are shown of foreign words.
const (
	maxName   = 240
	maxNote   = 600
	maxWords  = 1200
	maxText   = 4000 // one message of an example
	maxSource = 64 << 10
)

// CleanText is [assay.Clean] for a text of several lines: at most max bytes and a mark of the cut.
func CleanText(s string, max int) string {
	cut := ""
	if len(s) > max {
		s = s[:max]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		if r, size := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && size == 1 {
			s = s[:len(s)-1]
		}
		cut = "…"
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = assay.Clean(strings.ReplaceAll(l, "\t", "    "), 8*max)
	}
	return strings.Join(lines, "\n") + cut
}

const (
	unknownText = "unknown"
	noneText    = "–"
)

// shown is a number in its unit, or that it is not known.
func shown(u analysis.Unit, n stats.Number) string { return shownOr(u, n, unknownText) }

func shownOr(u analysis.Unit, n stats.Number, unknown string) string {
	if !n.OK {
		return unknown
	}
	return u.Show(n.Value)
}

// shownError is the standard error of a finding.
func shownError(f *analysis.Finding) string {
	if !f.SE.OK {
		return noneText
	}
	return f.Shown().ShowError(f.SE.Value)
}

// between is an interval in words, or nothing.
func between(u analysis.Unit, i stats.Interval) string {
	if !i.OK {
		return ""
	}
	return strings.TrimSuffix(u.Show(i.Low), " pt") + " to " + u.Show(i.High)
}

func shownP(n stats.Number) string {
	if !n.OK {
		return ""
	}
	return fmt.Sprintf("%.2g", n.Value)
}

// each is the cost of one of n; unknown where a price is, or where there is nothing to divide by.
func each(c assay.Cost, n int64) string {
	if n == 0 || !c.Known() {
		return unknownText
	}
	return assay.Dollars(c.Sum.Float() / float64(n)).String()
}

// CoverageLine says what became of what was planned.
func CoverageLine(c analysis.Coverage) string {
	share := "none planned"
	if s := c.Share(); s.OK {
		share = analysis.Share.Show(s.Value)
	}
	text := fmt.Sprintf("coverage %s: %s planned, %s valid, %s abstained, %s malformed, %s failed, %s missing", share, assay.Thousands(c.Planned), assay.Thousands(c.Valid),
		assay.Thousands(c.Abstained), assay.Thousands(c.Malformed), assay.Thousands(c.Failed), assay.Thousands(c.Missing))
	if c.Excluded > 0 {
		text += ", " + assay.Thousands(c.Excluded) + " left out by rule"
	}
	if c.Fallback > 0 {
		text += "; " + assay.Thousands(c.Fallback) + " of the valid ones came from a fallback"
	}
	return text
}

// widthOf guesses how wide a text is in a sans-serif font of a size, rather too wide than too narrow.
func widthOf(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("iljtf.,:;'|!()[] ", r):
			w += 0.36
		case strings.ContainsRune("mwMW%@…+", r):
			w += 0.95
		case r >= 'A' && r <= 'Z':
			w += 0.70
		case r >= 0x300 && r < 0x370 || r == 0x200c || r == 0x200d: // drawn on or between others
		case r >= 0x2e80:
			w += 1.05
		default:
			w += 0.61
		}
	}
	return w * size
}

// fit shortens a text in its middle until it is at most so wide: what distinguishes lanes stands at either end.
func fit(text string, width, size float64) string {
	if widthOf(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1; keep-- {
		head := (keep*3 + 4) / 5
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if widthOf(short, size) <= width {
			return short
		}
	}
	return "…"
}

// finite reports whether a number can be drawn.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
