package jsontext

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = AppendText(dst, s)
	return append(dst, '"')
}

// AppendText appends s as the inside of a JSON string. Invalid UTF-8 becomes U+FFFD; what some reader takes for the end
// of a line (U+0085, U+2028, U+2029) is escaped; HTML is left alone.
func AppendText(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		i += plainPrefix(s[i:])
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				dst = append(dst, s[start:i]...)
				dst = AppendEscape(dst, c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if splitsLines(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = appendUnicode(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}

// plainPrefix counts the bytes that need no look: printable ASCII without quotes. It takes eight at a time and leaves
// the last few to its caller.
func plainPrefix(s string) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, slash := x^low*'"', x^low*'\\'
		// The lowest mark is always right; a borrow can only mark bytes above a right one.
		if m := (x | (x-low*' ')&^x | (quote-low)&^quote | (slash-low)&^slash) & high; m != 0 {
			return n + bits.TrailingZeros64(m)/8
		}
		n += 8
	}
	return n
}

func splitsLines(r rune) bool { return r == 0x85 || r == 0x2028 || r == 0x2029 }

// AppendEscape appends an ASCII character as a JSON string has it.
func AppendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return appendUnicode(dst, rune(c))
}

func appendUnicode(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// AppendFloat appends the shortest number that reads back as f: 1, 0.7, 1e-7. The caller sees to it that f is finite.
func AppendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
