package simulator

import (
	"fmt"
	"strings"
)

// The ways in which providers write ids. Each makes one of a random number.

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// letters writes n letters of an alphabet.
func letters(alphabet string, n int) func(uint64) string {
	return func(x uint64) string {
		var b strings.Builder
		for range n {
			x = mix(x)
			b.WriteByte(alphabet[x%uint64(len(alphabet))])
		}
		return b.String()
	}
}

// prefixed puts something in front of an id.
func prefixed(prefix string, id func(uint64) string) func(uint64) string {
	return func(x uint64) string { return prefix + id(x) }
}

func hexID(x uint64) string { return fmt.Sprintf("%016x%016x", x, mix(x)) }

func uuid(x uint64) string {
	h := hexID(x)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
