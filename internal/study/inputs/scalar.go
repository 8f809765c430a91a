package inputs

import (
	"encoding/json"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *parser) text() (any, error) {
	raw, err := p.raw()
	if err != nil {
		return nil, err
	}
	return string(raw), nil
}

// raw reads a string in quotes. What it returns is good until the next call.
func (p *parser) raw() ([]byte, error) {
	p.i++
	start := p.i
	p.i += plain(p.b[p.i:])
	if p.i < len(p.b) && p.b[p.i] == '"' {
		p.i++
		return p.b[start : p.i-1], nil
	}
	p.scratch = append(p.scratch[:0], p.b[start:p.i]...)
	return p.escaped()
}

// escaped goes on with a string from a byte that is not plain.
func (p *parser) escaped() ([]byte, error) {
	for p.i < len(p.b) {
		switch c := p.b[p.i]; c {
		case '"':
			p.i++
			return p.scratch, nil
		case '\\':
			if err := p.escape(); err != nil {
				return nil, err
			}
		default:
			return nil, p.fail("control character 0x%02X in a string", c)
		}
		n := plain(p.b[p.i:])
		p.scratch = append(p.scratch, p.b[p.i:p.i+n]...)
		p.i += n
	}
	return nil, p.unexpected("a closing quote")
}

// plain counts the bytes before the first quote, backslash or control character, eight at a time: text is most of what
// is read. In each word a byte's top bit is set where the byte is below a space, or is zero after the quote or the
// backslash was taken away; only the lowest such bit is sure, and only that is used.
func plain[T string | []byte](b T) int {
	const low, top = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
			uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
		quote, slash := x^low*'"', x^low*'\\'
		if found := ((x-low*' ')&^x | (quote-low)&^quote | (slash-low)&^slash) & top; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

func (p *parser) escape() error {
	if p.i+1 >= len(p.b) {
		p.i = len(p.b)
		return p.unexpected("an escape")
	}
	c := p.b[p.i+1]
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return p.unicode()
	default:
		r, _ := utf8.DecodeRune(p.b[p.i+1:])
		return p.fail("%q after a backslash is not an escape", r)
	}
	p.scratch = append(p.scratch, c)
	p.i += 2
	return nil
}

func (p *parser) unicode() error {
	c, ok := hex4(p.b, p.i)
	if !ok {
		return p.fail(`\u needs four hexadecimal digits`)
	}
	size := 6
	if utf16.IsSurrogate(c) {
		low, _ := hex4(p.b, p.i+6)
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return p.fail("%s is half a character", p.b[p.i:p.i+6])
		}
		size = 12
	}
	if c == 0 {
		return p.fail(`NUL (\u0000) in a string`)
	}
	p.scratch = utf8.AppendRune(p.scratch, c)
	p.i += size
	return nil
}

// hex4 reads \uXXXX at i.
func hex4(b []byte, i int) (rune, bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (p *parser) number() (any, error) {
	start := p.i
	if p.b[p.i] == '-' {
		p.i++
	}
	if p.i < len(p.b) && p.b[p.i] == '0' {
		p.i++
	} else if p.digits() == 0 {
		return nil, p.unexpected("a digit")
	}
	whole := true
	if p.i < len(p.b) && p.b[p.i] == '.' {
		whole = false
		p.i++
		if p.digits() == 0 {
			return nil, p.unexpected("a digit")
		}
	}
	if p.i < len(p.b) && (p.b[p.i] == 'e' || p.b[p.i] == 'E') {
		whole = false
		p.i++
		if p.i < len(p.b) && (p.b[p.i] == '+' || p.b[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.unexpected("a digit")
		}
	}
	return numberOf(string(p.b[start:p.i]), whole), nil
}

func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}

// numberOf keeps a number whose text is valid: int64 where it is whole and fits, float64 where it has a fraction or an
// exponent and fits, else as it is written.
func numberOf(text string, whole bool) any {
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return json.Number(text)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	return json.Number(text)
}
