package tokens

import (
	"unicode"
	"unicode/utf8"
)

// cut returns where the first piece of a text ends; no token reaches over the end of a piece. It does what this expression
// of o200k does, alternative by alternative:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func cut(text []byte) int {
	first, before := decode(text)
	if first&(letter|number|newline) != 0 {
		before = 0 // cannot precede a word
	}
	for _, word := range []func([]byte, int) int{lowerWord, upperWord} {
		for start := before; ; start = 0 {
			if end := word(text, start); end > 0 {
				return end
			}
			if start == 0 {
				break
			}
		}
	}
	if first&number != 0 {
		return digits(text)
	}
	if end := symbols(text); end > 0 {
		return end
	}
	return spaces(text)
}

// class is the class of a character in the expression.
type class uint8

const (
	upper   class = 1 << iota // may be in the first part of a word: Lu, Lt, Lm, Lo, M
	lower                     // may be in the second part: Ll, Lm, Lo, M
	letter                    // L
	number                    // N
	space                     // \s
	newline                   // \r, \n
)

// decode returns the class of the first character of a text, and its size. The end of the text has no class and no size.
func decode(text []byte) (class, int) {
	if len(text) == 0 {
		return 0, 0
	}
	if text[0] < utf8.RuneSelf {
		return ascii[text[0]], 1
	}
	r, size := utf8.DecodeRune(text)
	return classOf(r), size
}

// ascii are the classes of most characters.
var ascii = func() (of [utf8.RuneSelf]class) {
	for r := range of {
		of[r] = classOf(rune(r))
	}
	return of
}()

func classOf(r rune) class {
	switch {
	case unicode.Is(unicode.Ll, r):
		return lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower | letter
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	case r == '\r', r == '\n':
		return space | newline
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

// skip returns where the characters of a class that begin at a place end.
func skip(text []byte, at int, of class) int {
	for {
		c, size := decode(text[at:])
		if c&of == 0 {
			return at
		}
		at += size
	}
}

// lowerWord returns the end of a word that begins at a place, by the first alternative; 0: there is none.
func lowerWord(text []byte, start int) int {
	end, both := start, 0 // both: the end of the last character so far that may be in either part
	for {
		c, size := decode(text[end:])
		if c&upper == 0 {
			break
		}
		if end += size; c&lower != 0 {
			both = end
		}
	}
	if rest := skip(text, end, lower); rest > end {
		both = rest
	}
	if both == 0 {
		return 0
	}
	return both + contraction(text[both:])
}

// upperWord returns the end of a word that begins at a place and is none by the first alternative: by the second one it has
// a first part alone; 0: there is none.
func upperWord(text []byte, start int) int {
	end := skip(text, start, upper)
	if end == start {
		return 0
	}
	return end + contraction(text[end:])
}

// contraction returns the length of the short form that a text begins with: 's, 't, 're, 've, 'm, 'll or 'd; 0: none.
func contraction(text []byte) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(text) > 2 && text[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(text) > 2 && text[2]|0x20 == 'l' {
			return 3
		}
	}
	if r, size := utf8.DecodeRune(text[1:]); r == 'ſ' { // an s in all but case
		return 1 + size
	}
	return 0
}

// digits returns the end of at most three numbers.
func digits(text []byte) int {
	end := 0
	for range 3 {
		c, size := decode(text[end:])
		if c&number == 0 {
			break
		}
		end += size
	}
	return end
}

// symbols returns the end of what is no letter, number or space, with a blank before and newlines and slashes after it; 0:
// there is none.
func symbols(text []byte) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	end := start
	for {
		c, size := decode(text[end:])
		if size == 0 || c&(letter|number|space) != 0 {
			break
		}
		end += size
	}
	if end == start {
		return 0
	}
	for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
		end++
	}
	return end
}

// spaces returns the end of space: its last newline, or all but its last character, which belongs to what follows.
func spaces(text []byte) int {
	end, last, newlines := 0, 0, 0
	for {
		c, size := decode(text[end:])
		if c&space == 0 {
			break
		}
		last = end
		if end += size; c&newline != 0 {
			newlines = end
		}
	}
	switch {
	case newlines > 0:
		return newlines
	case end < len(text) && last > 0:
		return last
	}
	return end
}
