// Package lex cuts a prompt template into text and tags, and tags into tokens.
package lex

import (
	"strings"
	"unicode"
)

const (
	maxTags   = 10_000 // tags in a template
	maxTokens = 2_000  // words in one tag
)

// Piece is a stretch of a template: text, or a tag cut into tokens.
type Piece struct {
	Kind   PieceKind
	At     int
	Text   string
	Tokens []Token
	Broken bool // a problem has been reported; the tokens stop before it
}

// PieceKind is the kind of a piece of a template.
type PieceKind uint8

// The kinds of pieces.
const (
	PieceEnd PieceKind = iota
	PieceText
	PieceOutput
	PieceStatement
)

// Lexer cuts a template into pieces.
type Lexer struct {
	Text string
	pos  int
	tags int
	Fail func(at int, hint, format string, args ...any)
}

// Next returns the next piece; comments are skipped and raw blocks are text.
func (l *Lexer) Next() Piece {
	for {
		start, open := l.pos, nextOpen(l.Text, l.pos)
		data := l.Text[start:open]
		if strings.HasPrefix(l.Text[min(open+2, len(l.Text)):], "-") {
			data = strings.TrimRightFunc(data, IsSpace)
		}
		if data != "" {
			l.pos = open
			return Piece{Kind: PieceText, At: start, Text: data}
		}
		if open == len(l.Text) {
			l.pos = open
			return Piece{Kind: PieceEnd, At: open}
		}
		if l.tags++; l.tags > maxTags {
			l.Fail(open, "", "the template has more than %d tags", maxTags)
			l.Stop()
			continue
		}
		switch l.Text[open+1] {
		case '#':
			l.comment(open)
		case '%':
			if body, ok := l.rawBegin(open); ok {
				if p := l.raw(open, body); p.Text != "" {
					return p
				}
				continue
			}
			return l.tag(open, PieceStatement, "%}")
		default:
			return l.tag(open, PieceOutput, "}}")
		}
	}
}

// Stop goes to the end of the template: what is left of it is not read.
func (l *Lexer) Stop() { l.pos = len(l.Text) }

// nextOpen returns the offset of the next {{, {% or {#, or the length of the text.
func nextOpen(text string, from int) int {
	for {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 || from+i+1 == len(text) {
			return len(text)
		}
		from += i
		if c := text[from+1]; c == '{' || c == '%' || c == '#' {
			return from
		}
		from++
	}
}

// sign skips the - or + that may follow the opening of a tag.
func (l *Lexer) sign(open int) int {
	if i := open + 2; i < len(l.Text) && (l.Text[i] == '-' || l.Text[i] == '+') {
		return i + 1
	}
	return open + 2
}

// close goes on behind the end of a tag; where the end was signed -, the space behind it is dropped.
func (l *Lexer) close(end int, sign byte) {
	l.pos = end
	if sign == '-' {
		l.pos = skipSpace(l.Text, end)
	}
}

func (l *Lexer) comment(open int) {
	body := l.sign(open)
	n := strings.Index(l.Text[body:], "#}")
	if n < 0 {
		l.Fail(open, "end it with #}", "this comment is never closed")
		l.Stop()
		return
	}
	var sign byte
	if n > 0 {
		sign = l.Text[body+n-1]
	}
	l.close(body+n+2, sign)
}

// rawBegin reports whether {% raw %} stands at open, and where its body begins.
func (l *Lexer) rawBegin(open int) (int, bool) {
	i := skipSpace(l.Text, l.sign(open))
	rest, ok := strings.CutPrefix(l.Text[i:], "raw")
	if !ok {
		return 0, false
	}
	i = skipSpace(l.Text, len(l.Text)-len(rest))
	switch {
	case strings.HasPrefix(l.Text[i:], "-%}"):
		return skipSpace(l.Text, i+3), true
	case strings.HasPrefix(l.Text[i:], "%}"):
		return i + 2, true
	}
	return 0, false
}

// raw returns the text up to {% endraw %}.
func (l *Lexer) raw(open, body int) Piece {
	for from := body; ; {
		i := strings.Index(l.Text[from:], "{%")
		if i < 0 {
			l.Fail(open, "end it with {% endraw %}", "this raw block is never closed")
			l.Stop()
			return Piece{}
		}
		i += from
		from = i + 2
		end, ok := strings.CutPrefix(l.Text[skipSpace(l.Text, l.sign(i)):], "endraw")
		if !ok {
			continue
		}
		end = strings.TrimLeftFunc(end, IsSpace)
		text := l.Text[body:i]
		if l.Text[i+2] == '-' {
			text = strings.TrimRightFunc(text, IsSpace)
		}
		for _, closer := range []string{"%}", "-%}", "+%}"} {
			if strings.HasPrefix(end, closer) {
				l.close(len(l.Text)-len(end)+len(closer), closer[0])
				return Piece{Kind: PieceText, At: body, Text: text}
			}
		}
	}
}

// tag cuts a tag into tokens. The last one is always the end.
func (l *Lexer) tag(open int, kind PieceKind, closer string) Piece {
	p := Piece{Kind: kind, At: open}
	pos := l.sign(open)
	for {
		pos = skipSpace(l.Text, pos)
		rest := l.Text[pos:]
		if rest == "" {
			l.Fail(open, "end it with "+closer+"; to write "+l.Text[open:open+2]+" itself, use {% raw %}", "this %s is never closed",
				l.Text[open:open+2])
			return l.breakOff(p, pos, closer)
		}
		if n := closes(rest, kind, closer); n > 0 {
			l.close(pos+n, rest[0])
			p.Tokens = append(p.Tokens, Token{Kind: End, At: pos, Text: closer})
			return p
		}
		if len(p.Tokens) == maxTokens {
			l.Fail(open, "", "this tag has more than %d words", maxTokens)
			return l.breakOff(p, pos, closer)
		}
		tok, next := l.token(pos, p.Tokens)
		if tok.Kind == Bad {
			return l.breakOff(p, pos, closer)
		}
		p.Tokens = append(p.Tokens, tok)
		pos = next
	}
}

// closes returns the length of the end of a tag at the start of rest, or 0.
func closes(rest string, kind PieceKind, closer string) int {
	if strings.HasPrefix(rest, closer) {
		return len(closer)
	}
	if (rest[0] == '-' || rest[0] == '+' && kind == PieceStatement) && strings.HasPrefix(rest[1:], closer) {
		return 1 + len(closer)
	}
	return 0
}

// breakOff goes on behind a tag that cannot be read: at its end or at the next tag, whichever comes first.
func (l *Lexer) breakOff(p Piece, pos int, closer string) Piece {
	p.Broken = true
	p.Tokens = append(p.Tokens, Token{Kind: End, At: pos, Text: closer})
	l.pos = len(l.Text)
	if pos < len(l.Text) {
		l.pos = nextOpen(l.Text, pos+1)
	}
	if end := strings.Index(l.Text[pos:l.pos], closer); end >= 0 {
		l.pos = pos + end + len(closer)
	}
	return p
}

func skipSpace(text string, from int) int {
	return len(text) - len(strings.TrimLeftFunc(text[from:], IsSpace))
}

// IsSpace reports whether Python calls a character white space.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool { return isNameStart(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// NameLen returns the length of the name at the start of a text, or 0.
func NameLen(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !isNamePart(r) })
	if n < 0 {
		return len(text)
	}
	return n
}
