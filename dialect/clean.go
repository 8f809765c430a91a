package dialect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Clean makes foreign words fit to print: at most max bytes, valid UTF-8 on one line, and every character that could
// steer a terminal or turn the reading direction shown as an escape.
func Clean(s string, max int) string {
	var b []byte
	whole := 0 // how much may stand before the mark of a cut
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case r == '\n' || r == '\r' || r == '\t':
			b = appendEscape(b, byte(r))
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

// steers tells whether a character acts rather than shows. The two joiners that scripts and emoji need are left alone.
func steers(r rune) bool {
	switch r {
	case 0x200c, 0x200d:
		return false
	case 0x2028, 0x2029:
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}

// withoutSecrets takes out of a provider's words what looks like a key, and the query of any URL: some providers repeat
// what they were sent.
func withoutSecrets(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexAny(s, " \t\r\n\"'`,;()<>[]{}")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(withoutSecret(s[:end]))
		if end < len(s) {
			b.WriteByte(s[end])
			end++
		}
		s = s[end:]
	}
	return b.String()
}

const secretMark = "[secret]"

func withoutSecret(word string) string {
	if scheme := strings.Index(word, "://"); scheme >= 0 {
		if query := strings.IndexByte(word, '?'); query > scheme {
			return word[:query+1] + secretMark
		}
		return word
	}
	const shortest = 16
	for _, prefix := range []string{"sk-", "sk_", "xai-", "gsk_", "AIza", "fw_", "tgp_", "ya29.", "pplx-", "key-"} {
		if i := strings.Index(word, prefix); i >= 0 && len(word)-i >= shortest && (i == 0 || !isLetter(word[i-1])) {
			return word[:i] + secretMark
		}
	}
	return word
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
