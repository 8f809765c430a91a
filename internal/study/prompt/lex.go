package prompt

import (
	"strings"
	"unicode"
)

const (
	maxTags   = 10_000 // tags in a template
	maxTokens = 2_000  // words in one tag
)

// piece is a stretch of a template: text, or a tag cut into tokens.
type piece struct {
	kind   pieceKind
	at     int
	text   string
	tokens []token
	broken bool // a problem has been reported; the tokens stop before it
}

type pieceKind uint8

const (
	pieceEnd pieceKind = iota
	pieceText
	pieceOutput
	pieceStatement
)

// lexer cuts a template into pieces.
type lexer struct {
	text string
	pos  int
	tags int
	fail func(at int, hint, format string, args ...any)
}

// next gives the next piece; comments are skipped and raw blocks are text.
func (l *lexer) next() piece {
	for {
		start, open := l.pos, nextOpen(l.text, l.pos)
		data := l.text[start:open]
		if strings.HasPrefix(l.text[min(open+2, len(l.text)):], "-") {
			data = strings.TrimRightFunc(data, isSpace)
		}
		if data != "" {
			l.pos = open
			return piece{kind: pieceText, at: start, text: data}
		}
		if open == len(l.text) {
			l.pos = open
			return piece{kind: pieceEnd, at: open}
		}
		if l.tags++; l.tags > maxTags {
			l.fail(open, "", "the template has more than %d tags", maxTags)
			l.pos = len(l.text)
			continue
		}
		switch l.text[open+1] {
		case '#':
			l.comment(open)
		case '%':
			if body, ok := l.rawBegin(open); ok {
				if p := l.raw(open, body); p.text != "" {
					return p
				}
				continue
			}
			return l.tag(open, pieceStatement, "%}")
		default:
			return l.tag(open, pieceOutput, "}}")
		}
	}
}

// nextOpen is the offset of the next {{, {% or {#, or the length of the text.
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
func (l *lexer) sign(open int) int {
	if i := open + 2; i < len(l.text) && (l.text[i] == '-' || l.text[i] == '+') {
		return i + 1
	}
	return open + 2
}

// close goes on behind the end of a tag; where the end was signed -, the space behind it is dropped.
func (l *lexer) close(end int, sign byte) {
	l.pos = end
	if sign == '-' {
		l.pos = skipSpace(l.text, end)
	}
}

func (l *lexer) comment(open int) {
	body := l.sign(open)
	n := strings.Index(l.text[body:], "#}")
	if n < 0 {
		l.fail(open, "end it with #}", "this comment is never closed")
		l.pos = len(l.text)
		return
	}
	var sign byte
	if n > 0 {
		sign = l.text[body+n-1]
	}
	l.close(body+n+2, sign)
}

// rawBegin reports whether {% raw %} stands at open, and where its body begins.
func (l *lexer) rawBegin(open int) (int, bool) {
	i := skipSpace(l.text, l.sign(open))
	rest, ok := strings.CutPrefix(l.text[i:], "raw")
	if !ok {
		return 0, false
	}
	i = skipSpace(l.text, len(l.text)-len(rest))
	switch {
	case strings.HasPrefix(l.text[i:], "-%}"):
		return skipSpace(l.text, i+3), true
	case strings.HasPrefix(l.text[i:], "%}"):
		return i + 2, true
	}
	return 0, false
}

// raw is the text up to {% endraw %}.
func (l *lexer) raw(open, body int) piece {
	for from := body; ; {
		i := strings.Index(l.text[from:], "{%")
		if i < 0 {
			l.fail(open, "end it with {% endraw %}", "this raw block is never closed")
			l.pos = len(l.text)
			return piece{}
		}
		i += from
		from = i + 2
		end, ok := strings.CutPrefix(l.text[skipSpace(l.text, l.sign(i)):], "endraw")
		if !ok {
			continue
		}
		end = strings.TrimLeftFunc(end, isSpace)
		text := l.text[body:i]
		if l.text[i+2] == '-' {
			text = strings.TrimRightFunc(text, isSpace)
		}
		for _, closer := range []string{"%}", "-%}", "+%}"} {
			if strings.HasPrefix(end, closer) {
				l.close(len(l.text)-len(end)+len(closer), closer[0])
				return piece{kind: pieceText, at: body, text: text}
			}
		}
	}
}

// tag cuts a tag into tokens. The last one is always the end.
func (l *lexer) tag(open int, kind pieceKind, closer string) piece {
	p := piece{kind: kind, at: open}
	pos := l.sign(open)
	for {
		pos = skipSpace(l.text, pos)
		rest := l.text[pos:]
		if rest == "" {
			l.fail(open, "end it with "+closer+"; to write "+l.text[open:open+2]+" itself, use {% raw %}", "this %s is never closed", l.text[open:open+2])
			return l.breakOff(p, pos, closer)
		}
		if n := closes(rest, kind, closer); n > 0 {
			l.close(pos+n, rest[0])
			p.tokens = append(p.tokens, token{kind: tokEnd, at: pos, text: closer})
			return p
		}
		if len(p.tokens) == maxTokens {
			l.fail(open, "", "this tag has more than %d words", maxTokens)
			return l.breakOff(p, pos, closer)
		}
		tok, next := l.token(pos, p.tokens)
		if tok.kind == tokBad {
			return l.breakOff(p, pos, closer)
		}
		p.tokens = append(p.tokens, tok)
		pos = next
	}
}

// closes is the length of the end of a tag at the start of rest, or 0.
func closes(rest string, kind pieceKind, closer string) int {
	if strings.HasPrefix(rest, closer) {
		return len(closer)
	}
	if (rest[0] == '-' || rest[0] == '+' && kind == pieceStatement) && strings.HasPrefix(rest[1:], closer) {
		return 1 + len(closer)
	}
	return 0
}

// breakOff goes on behind a tag that cannot be read: at its end or at the next tag, whichever comes first.
func (l *lexer) breakOff(p piece, pos int, closer string) piece {
	p.broken = true
	p.tokens = append(p.tokens, token{kind: tokEnd, at: pos, text: closer})
	l.pos = len(l.text)
	if pos < len(l.text) {
		l.pos = nextOpen(l.text, pos+1)
	}
	if end := strings.Index(l.text[pos:l.pos], closer); end >= 0 {
		l.pos = pos + end + len(closer)
	}
	return p
}

func skipSpace(text string, from int) int {
	return len(text) - len(strings.TrimLeftFunc(text[from:], isSpace))
}

// isSpace is what Python calls white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool { return isNameStart(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func nameLen(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !isNamePart(r) })
	if n < 0 {
		return len(text)
	}
	return n
}
