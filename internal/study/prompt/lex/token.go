package lex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Token is one word of a tag.
type Token struct {
	Kind  Kind
	At    int
	Text  string
	Value any // of a literal
}

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Bad
	Name
	Literal
	Op
)

// Is reports whether the token is one of these operators or names.
func (t Token) Is(words ...string) bool {
	if t.Kind != Op && t.Kind != Name {
		return false
	}
	for _, w := range words {
		if t.Text == w {
			return true
		}
	}
	return false
}

// Quoted returns the token as messages quote it.
func (t Token) Quoted() string {
	return Clip(t.Text)
}

// Clip shortens a foreign text for a message.
func Clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// token reads one token; before are those of the same tag. A bad one has been reported.
func (l *Lexer) token(pos int, before []Token) (Token, int) {
	rest := l.Text[pos:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case isNameStart(r):
		n := NameLen(rest)
		return Token{Kind: Name, At: pos, Text: rest[:n]}, pos + n
	case '0' <= r && r <= '9':
		return l.number(pos, before)
	case r == '\'' || r == '"':
		return l.quoted(pos)
	}
	for _, op := range []string{"**", "//", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(rest, op) {
			return Token{Kind: Op, At: pos, Text: op}, pos + 2
		}
	}
	if strings.ContainsRune("+-*/%~()[].,:|=<>", r) {
		return Token{Kind: Op, At: pos, Text: rest[:size]}, pos + size
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
	l.Fail(pos, hint, "unexpected %q", r)
	return Token{Kind: Bad, At: pos}, pos
}

func (l *Lexer) number(pos int, before []Token) (Token, int) {
	rest := l.Text[pos:]
	n, read := NameLen(rest), readInt
	afterDot := len(before) > 0 && before[len(before)-1].Is(".") // list.0.1 is no fraction
	if !afterDot && n+1 < len(rest) && rest[n] == '.' && isDigit(rest[n+1]) {
		n += 1 + NameLen(rest[n+1:])
		read = readFloat
	}
	if !strings.HasPrefix(rest, "0x") && strings.ContainsAny(rest[:n], "eE") {
		read = readFloat
		if (rest[n-1] == 'e' || rest[n-1] == 'E') && n+1 < len(rest) && (rest[n] == '+' || rest[n] == '-') {
			n += 1 + NameLen(rest[n+1:])
		}
	}
	value, ok := read(rest[:n])
	if !ok {
		l.Fail(pos, "", "%s is not a number", Clip(rest[:n]))
		return Token{Kind: Bad, At: pos}, pos
	}
	return Token{Kind: Literal, At: pos, Text: rest[:n], Value: value}, pos + n
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
func (l *Lexer) quoted(pos int) (Token, int) {
	quote := l.Text[pos]
	var b strings.Builder
	for i := pos + 1; i < len(l.Text); {
		c := l.Text[i]
		switch {
		case c == quote:
			return Token{Kind: Literal, At: pos, Text: l.Text[pos : i+1], Value: b.String()}, i + 1
		case c == '\\' && i+1 < len(l.Text):
			n := unescape(&b, l.Text[i+1:])
			if n == 0 {
				l.Fail(i, "", "unknown escape in a text")
				return Token{Kind: Bad, At: i}, i
			}
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	l.Fail(pos, "end it with "+string(quote), "this text is never closed")
	return Token{Kind: Bad, At: pos}, pos
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
