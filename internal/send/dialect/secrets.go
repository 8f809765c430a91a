package dialect

import (
	"strings"
)

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
