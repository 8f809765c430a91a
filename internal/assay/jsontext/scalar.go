package jsontext

import (
	"encoding/json"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *Parser) text() (any, error) {
	raw, err := p.unquoted()
	if err != nil {
		return nil, err
	}
	return string(raw), nil
}

// unquoted reads a string and returns it without quotes and escapes. It is valid until the next call.
func (p *Parser) unquoted() ([]byte, error) {
	p.i++
	start := p.i
	p.i += Plain(p.b[p.i:])
	if p.i < len(p.b) && p.b[p.i] == '"' {
		p.i++
		return p.b[start : p.i-1], nil
	}
	p.scratch = append(p.scratch[:0], p.b[start:p.i]...)
	return p.unquotedRest()
}

// unquotedRest goes on with a string from its first byte that is not plain.
func (p *Parser) unquotedRest() ([]byte, error) {
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
		n := Plain(p.b[p.i:])
		p.scratch = append(p.scratch, p.b[p.i:p.i+n]...)
		p.i += n
	}
	return nil, p.unexpected("a closing quote")
}

// Plain counts the bytes before the first quote, backslash or control character, eight at a time: text is most of what
// is read. In each word a byte's top bit is set where the byte is below a space, or is zero after the quote or the
// backslash was taken away; only the lowest such bit is sure, and only that is used.
func Plain[T string | []byte](b T) int {
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

func (p *Parser) escape() error {
	if p.i+1 >= len(p.b) {
		p.i = len(p.b)
		return p.unexpected("an escape")
	}
	c := unescaped(p.b[p.i+1])
	if c == 0 && p.b[p.i+1] == 'u' {
		return p.unicode()
	}
	if c == 0 {
		r, _ := utf8.DecodeRune(p.b[p.i+1:])
		return p.fail("%q after a backslash is not an escape", r)
	}
	p.scratch = append(p.scratch, c)
	p.i += 2
	return nil
}

func (p *Parser) unicode() error {
	c := hex4(p.b[p.i:])
	if c < 0 {
		return p.fail(`\u needs four hexadecimal digits`)
	}
	size := 6
	if utf16.IsSurrogate(c) {
		if c = utf16.DecodeRune(c, hex4(p.b[p.i+6:])); c == utf8.RuneError {
			return p.fail("%s is half a character", p.b[p.i:p.i+6])
		}
		size = 12
	}
	if c == 0 && !p.NUL {
		return p.fail(`NUL (\u0000) in a string`)
	}
	p.scratch = utf8.AppendRune(p.scratch, c)
	p.i += size
	return nil
}

func (p *Parser) number() (any, error) {
	start := p.i
	end, whole, ok := numberEnd(p.b, p.i)
	if p.i = end; !ok {
		return nil, p.unexpected("a digit")
	}
	return NumberOf(string(p.b[start:p.i]), whole), nil
}

// numberEnd returns where the number at i ends and whether it is whole: without fraction and exponent. Where ok is
// false, end is the place of the digit that is missing.
func numberEnd(b []byte, i int) (end int, whole, ok bool) {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i, ok = digitsEnd(b, i); !ok {
		return i, false, false
	}
	whole = true
	if i < len(b) && b[i] == '.' {
		whole = false
		if i, ok = digitsEnd(b, i+1); !ok {
			return i, false, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i, ok = digitsEnd(b, i)
		return i, false, ok
	}
	return i, whole, true
}

// digitsEnd reads over at least one digit.
func digitsEnd(b []byte, i int) (end int, ok bool) {
	start := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i, i > start
}

// NumberOf converts the valid text of a number: to int64 if it is whole and fits, to float64 if it has a fraction or an
// exponent and fits, else to the text itself.
func NumberOf(text string, whole bool) any {
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
