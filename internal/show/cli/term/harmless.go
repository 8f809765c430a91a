package term

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// Harmless is a writer for a terminal: what would steer it is written as an escape, and all else as it is.
type Harmless struct {
	To   io.Writer
	rest []byte // the beginning of a character whose end has not come yet
}

// Write passes text on.
func (h *Harmless) Write(p []byte) (int, error) {
	text := append(h.rest, p...)
	out := make([]byte, 0, len(text))
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || r == 0x200c || r == 0x200d:
			out = append(out, text[:size]...)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	h.rest = append([]byte(nil), text...)
	if _, err := h.To.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
