package assay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Clean makes foreign words fit to print: at most max bytes, valid UTF-8 on one line, and every character that could
// steer a terminal or turn the reading direction shown as an escape.
func Clean(s string, max int) string {
	var b []byte
	whole := 0 // length before the mark of a cut
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case steers(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
		switch {
		case len(b) > max && max < len(ellipsis):
			return ""
		case len(b) > max:
			return string(b[:whole]) + ellipsis
		case len(b)+len(ellipsis) <= max:
			whole = len(b)
		}
	}
	return string(b)
}

// CleanLines makes a foreign text of several lines fit to print, whole: as Clean does, but line ends stay, and tabs become
// spaces.
func CleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Clean(strings.ReplaceAll(line, "\t", "    "), math.MaxInt)
	}
	return strings.Join(lines, "\n")
}

// steers reports whether a character acts rather than shows. The two joiners that scripts and emoji need are left alone.
func steers(r rune) bool {
	switch r {
	case 0x200c, 0x200d:
		return false
	case 0x2028, 0x2029:
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}

// Thousands returns a number with its groups of three digits apart: 32,000.
func Thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Listed joins names as a sentence does: a, b and c.
func Listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Count returns a number with its noun: 1 item, 1,200 items.
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Verb returns the form of a verb that goes with a number: 1 request has, 2 requests have.
func Verb[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Size returns a number of bytes in its largest unit: 1.5 MB.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

// formulas are the characters with which a spreadsheet lets a formula begin.
const formulas = "=+-@\t\r\n＝＋－＠"

// SafeCell marks a text that a spreadsheet would take for a formula with an apostrophe. A text that looks marked already gets
// one more, so that PlainCell gives back every text as it was.
func SafeCell(text string) string {
	if begins(strings.TrimLeft(text, "'")) {
		return "'" + text
	}
	return text
}

// begins reports whether a formula may begin with a text.
func begins(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && strings.ContainsRune(formulas, r)
}

// PlainCell takes the mark of SafeCell away.
func PlainCell(text string) string {
	if rest := strings.TrimLeft(text, "'"); len(rest) < len(text) && begins(rest) {
		return text[1:]
	}
	return text
}

// KnownTime returns a time that is known, else nil.
func KnownTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// LowerASCII returns a text with the letters of ASCII in lower case, and all other bytes as they are.
func LowerASCII(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}
