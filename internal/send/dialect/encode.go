package dialect

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendText(dst, s)
	return append(dst, '"')
}

// appendText appends s as the inside of a JSON string. Invalid UTF-8 becomes U+FFFD; what some reader takes for the end
// of a line (U+0085, U+2028, U+2029) is escaped; HTML is left alone.
func appendText(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		i += plainPrefix(s[i:])
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				dst = append(dst, s[start:i]...)
				dst = appendEscape(dst, c)
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

func appendEscape(dst []byte, c byte) []byte {
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

// appendFloat appends the shortest number that reads back as f: 1, 0.7, 1e-7. The caller sees to it that f is finite.
func appendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// appendRaw appends valid JSON without the space between its tokens, so that it never breaks a line.
func appendRaw(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			end := i + stringEnd(raw[i:])
			dst = appendRawString(dst, raw[i:end])
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// appendRawString copies a JSON string, quotes and escapes included, and escapes what appendText would have.
func appendRawString(dst, raw []byte) []byte {
	start := 0
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if splitsLines(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, raw[start:i]...)
			dst = appendUnicode(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, raw[start:]...)
}

// stringEnd is the index after the closing quote of the string that raw begins with.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// valueEnd is the index after the value that raw, valid JSON without leading space, begins with.
func valueEnd(raw []byte) int {
	depth, i := 0, 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i += stringEnd(raw[i:])
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
			for depth == 0 && i < len(raw) && !endsScalar(raw[i]) {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '"', '{', '[', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}

func skipSpace(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\n' || raw[0] == '\r' || raw[0] == '\t') {
		raw = raw[1:]
	}
	return raw
}

// members calls f for every member of a valid JSON object; the key comes without its quotes, as it was written. Of any
// other value it makes nothing.
func members(raw []byte, f func(key, value []byte) error) error {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	for raw = skipSpace(raw[1:]); len(raw) > 0 && raw[0] == '"'; {
		end := stringEnd(raw)
		key := raw[1 : end-1]
		raw = skipSpace(raw[end:])
		if len(raw) == 0 {
			return nil
		}
		raw = skipSpace(raw[1:]) // the colon
		end = valueEnd(raw)
		if err := f(key, raw[:end]); err != nil {
			return err
		}
		if raw = skipSpace(raw[end:]); len(raw) > 0 {
			raw = skipSpace(raw[1:]) // the comma, or the end
		}
	}
	return nil
}

// elements calls f for every element of a valid JSON array. Of any other value it makes nothing.
func elements(raw []byte, f func(value []byte) error) error {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	for raw = skipSpace(raw[1:]); len(raw) > 0 && raw[0] != ']'; {
		end := valueEnd(raw)
		if err := f(raw[:end]); err != nil {
			return err
		}
		if raw = skipSpace(raw[end:]); len(raw) > 0 && raw[0] == ',' {
			raw = skipSpace(raw[1:])
		}
	}
	return nil
}
