package plot

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// The most bytes that are shown of foreign words.
const (
	MaxName   = 240
	MaxNote   = 600
	MaxWords  = 1200
	MaxText   = 4000 // one message of an example
	MaxSource = 64 << 10
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
	UnknownText = "unknown"
	NoneText    = "–"
)

// Shown returns a number in its unit, or that it is not known.
func Shown(u analysis.Unit, n stats.Number) string { return ShownOr(u, n, UnknownText) }

// ShownOr returns a number in its unit, or other words where it is not known.
func ShownOr(u analysis.Unit, n stats.Number, unknown string) string {
	if !n.OK {
		return unknown
	}
	return u.Show(n.Value)
}

// Between returns an interval in words, or nothing.
func Between(u analysis.Unit, i stats.Interval) string {
	if !i.OK {
		return ""
	}
	return strings.TrimSuffix(u.Show(i.Low), " pt") + " to " + u.Show(i.High)
}

// WidthOf guesses how wide a text is in a sans-serif font of a size, rather too wide than too narrow.
func WidthOf(text string, size float64) float64 {
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

// fit shortens a text in its middle until it is at most so wide: what distinguishes lanes is at either end.
func fit(text string, width, size float64) string {
	if WidthOf(text, size) <= width {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1; keep-- {
		head := (keep*3 + 4) / 5
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if WidthOf(short, size) <= width {
			return short
		}
	}
	return "…"
}

// Finite reports whether a number can be drawn.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Capital returns the text with a capital at its beginning.
func Capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Span returns one value, or from one to another.
func Span(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// Stamp returns a time to the minute, in UTC.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return NoneText
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
