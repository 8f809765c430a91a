package dice

import (
	"fmt"
	"strings"
)

// Alphabets of ids. Below are the ways in which providers write them; each makes one of a random number.
const (
	Base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	Base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// Letters writes n letters of an alphabet.
func Letters(alphabet string, n int) func(uint64) string {
	return func(x uint64) string {
		var b strings.Builder
		for range n {
			x = Mix(x)
			b.WriteByte(alphabet[x%uint64(len(alphabet))])
		}
		return b.String()
	}
}

// Prefixed puts something in front of an id.
func Prefixed(prefix string, id func(uint64) string) func(uint64) string {
	return func(x uint64) string { return prefix + id(x) }
}

// Hex writes 32 hexadecimal digits.
func Hex(x uint64) string { return fmt.Sprintf("%016x%016x", x, Mix(x)) }

// UUID writes a random UUID.
func UUID(x uint64) string {
	h := Hex(x)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}
