package prompt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is one word of a tag.
type token struct {
	kind  tokenKind
	at    int
	text  string
	value any // of a literal
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokBad
	tokName
	tokLiteral
	tokOp
)

// is reports whether the token is one of these operators or names.
func (t token) is(words ...string) bool {
	if t.kind != tokOp && t.kind != tokName {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

// said is the token as messages quote it.
func (t token) said() string {
	return clip(t.text)
}

// clip shortens a foreign text for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// token reads one token; before are those of the same tag. A bad one has been reported.
func (l *lexer) token(pos int, before []token) (token, int) {
	rest := l.text[pos:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case isNameStart(r):
		n := nameLen(rest)
		return token{kind: tokName, at: pos, text: rest[:n]}, pos + n
	case '0' <= r && r <= '9':
		return l.number(pos, before)
	case r == '\'' || r == '"':
		return l.quoted(pos)
	}
	for _, op := range []string{"**", "//", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(rest, op) {
			return token{kind: tokOp, at: pos, text: op}, pos + 2
		}
	}
	if strings.ContainsRune("+-*/%~()[].,:|=<>", r) {
		return token{kind: tokOp, at: pos, text: rest[:size]}, pos + size
	}
	hint := ""
	switch r {
	case '{':
		hint = "records cannot be written in a template; to write braces as text, use {% raw %}"
	case '}':
		hint = "an expression ends with }}, a statement with %}"
	case '&':
		hint = "write and"
	case '!':
		hint = "write not"
	}
	l.fail(pos, hint, "unexpected %q", r)
	return token{kind: tokBad, at: pos}, pos
}

func (l *lexer) number(pos int, before []token) (token, int) {
	rest := l.text[pos:]
	n, read := nameLen(rest), readInt
	afterDot := len(before) > 0 && before[len(before)-1].is(".") // list.0.1 is no fraction
	if !afterDot && n+1 < len(rest) && rest[n] == '.' && isDigit(rest[n+1]) {
		n += 1 + nameLen(rest[n+1:])
		read = readFloat
	}
	if !strings.HasPrefix(rest, "0x") && strings.ContainsAny(rest[:n], "eE") {
		read = readFloat
		if (rest[n-1] == 'e' || rest[n-1] == 'E') && n+1 < len(rest) && (rest[n] == '+' || rest[n] == '-') {
			n += 1 + nameLen(rest[n+1:])
		}
	}
	value, ok := read(rest[:n])
	if !ok {
		l.fail(pos, "", "%s is not a number", clip(rest[:n]))
		return token{kind: tokBad, at: pos}, pos
	}
	return token{kind: tokLiteral, at: pos, text: rest[:n], value: value}, pos + n
}

func readFloat(word string) (any, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	return f, err == nil
}

func readInt(word string) (any, bool) {
	if len(word) > 1 && word[0] == '0' && isDigit(word[1]) {
		return nil, false // Go would read it as octal
	}
	i, err := strconv.ParseInt(word, 0, 64)
	return i, err == nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// quoted reads a text literal with Python's escapes.
func (l *lexer) quoted(pos int) (token, int) {
	quote := l.text[pos]
	var b strings.Builder
	for i := pos + 1; i < len(l.text); {
		c := l.text[i]
		switch {
		case c == quote:
			return token{kind: tokLiteral, at: pos, text: l.text[pos : i+1], value: b.String()}, i + 1
		case c == '\\' && i+1 < len(l.text):
			n := unescape(&b, l.text[i+1:])
			if n == 0 {
				l.fail(i, "", "unknown escape in a text")
				return token{kind: tokBad, at: i}, i
			}
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	l.fail(pos, "end it with "+string(quote), "this text is never closed")
	return token{kind: tokBad, at: pos}, pos
}

// unescape writes what an escape stands for (s begins behind the backslash) and returns its length, 0 when it is none.
func unescape(b *strings.Builder, s string) int {
	if i := strings.IndexByte(`ntrabfv\'"`, s[0]); i >= 0 {
		b.WriteByte("\n\t\r\a\b\f\v\\'\""[i])
		return 1
	}
	switch s[0] {
	case '\n':
		return 1
	case 'x':
		return unescapeRune(b, s, 2, 16)
	case 'u':
		return unescapeRune(b, s, 4, 16)
	case 'U':
		return unescapeRune(b, s, 8, 16)
	case 'N':
		return 0
	}
	if '0' <= s[0] && s[0] <= '7' {
		n := 1
		for n < 3 && n < len(s) && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		r, err := strconv.ParseUint(s[:n], 8, 32)
		if err != nil {
			return 0
		}
		b.WriteRune(rune(r))
		return n
	}
	b.WriteByte('\\') // Python keeps the backslash of an escape it does not know
	_, size := utf8.DecodeRuneInString(s)
	b.WriteString(s[:size])
	return size
}

func unescapeRune(b *strings.Builder, s string, digits, base int) int {
	if len(s) <= digits {
		return 0
	}
	r, err := strconv.ParseUint(s[1:1+digits], base, 32)
	if err != nil || !utf8.ValidRune(rune(r)) || r > utf8.MaxRune {
		return 0
	}
	b.WriteRune(rune(r))
	return 1 + digits
}
