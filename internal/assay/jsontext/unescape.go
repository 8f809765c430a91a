package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends the inside of a JSON string without its escapes. A lone surrogate becomes U+FFFD and takes
// nothing else with it; an unknown escape is kept.
func AppendUnescaped(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 || i == len(src)-1 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		if c := unescaped(src[i+1]); c != 0 {
			dst, src = append(dst, c), src[i+2:]
			continue
		}
		var size int
		dst, size = appendUnicodeEscape(dst, src[i:])
		src = src[i+size:]
	}
}

// unescaped returns the character that a backslash makes of c; 0 for \u and for unknown escapes.
func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case '"', '\\', '/':
		return c
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// appendUnicodeEscape appends the character of the \u escape at the front of b, and returns the length of the escape.
func appendUnicodeEscape(dst, b []byte) ([]byte, int) {
	r := hex4(b)
	if r < 0 {
		return append(dst, b[:2]...), 2
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
		return utf8.AppendRune(dst, pair), 12
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// hex4 reads the \uXXXX that b begins with; -1 if there is none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
