package term

import (
	"strings"
	"unicode"
)

// fitted returns a text of exactly so many columns.
func fitted(text string, width int) string {
	text = clipped(text, width)
	return text + strings.Repeat(" ", width-textWidth(text))
}

// clipped returns a text of at most so many columns.
func clipped(text string, width int) string {
	if textWidth(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used >= width {
			if width < 1 {
				return ""
			}
			return text[:i] + "…"
		}
	}
	return text
}

// shortened returns a text of at most so many columns. A name is cut in its middle: what distinguishes names stands at either end.
func shortened(text string, width int) string {
	if textWidth(text) <= width || width < shortest || strings.ContainsAny(text, " ") {
		return clipped(text, width)
	}
	tail, runes := 0, []rune(text)
	from := len(runes)
	for from > 0 && tail+runeWidth(runes[from-1]) <= width*2/5 {
		from--
		tail += runeWidth(runes[from])
	}
	return clipped(text, width-tail) + string(runes[from:])
}

func textWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns how many columns a terminal gives a character: none to marks on others, two to those of East Asia and emoji.
func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Wrapped breaks a text between words, so that no line is wider than so many columns; 0: it stays on one line. Further lines begin
// with the indent.
func Wrapped(text string, width int, indent string) string {
	if width <= 0 || textWidth(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		n := textWidth(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n" + indent)
			used = textWidth(indent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
