package jsontext

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Parser reads one JSON value into the types of an item's fields. It is as strict as the standard, and also refuses a
// name that occurs twice in one object, an escape that is half a character, and NUL. The text must be valid UTF-8.
type Parser struct {
	b       []byte
	i       int
	depth   int
	names   map[string]string // one string for each field name seen
	scratch []byte
	width   int  // fields of the last object at the top: a good guess for the next
	Deepest int  // levels that a value may have
	NUL     bool // may stand in a text, as it may in what is kept
}

// SyntaxError describes a fault of a JSON text and the byte before which it was found.
type SyntaxError struct {
	At   int
	What string
}

// Error describes the fault.
func (e *SyntaxError) Error() string { return e.What }

// RowDepth is how many levels a row may have; a joined row or an encoded item may be deeper.
const RowDepth = 500

const maxNames = 4096

// NewParser returns a parser of rows.
func NewParser() *Parser { return &Parser{names: map[string]string{}, Deepest: RowDepth} }

// Parse reads a text that holds exactly one value.
func (p *Parser) Parse(b []byte) (any, error) {
	p.b, p.i, p.depth = b, 0, 0
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.b) {
		return nil, p.fail("text follows the value")
	}
	return v, nil
}

func (p *Parser) fail(format string, args ...any) error {
	return &SyntaxError{p.i, fmt.Sprintf(format, args...)}
}

// unexpected returns the error for the next bytes where something else was wanted.
func (p *Parser) unexpected(want string) error {
	if p.i >= len(p.b) {
		return p.fail("the text ends where %s should stand", want)
	}
	c, _ := utf8.DecodeRune(p.b[p.i:])
	return p.fail("%q stands where %s should", c, want)
}

func (p *Parser) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *Parser) value() (any, error) {
	if p.i >= len(p.b) {
		return nil, p.unexpected("a value")
	}
	switch c := p.b[p.i]; {
	case c == '"':
		return p.text()
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return true, p.word("true")
	case c == 'f':
		return false, p.word("false")
	case c == 'n':
		return nil, p.word("null")
	}
	return nil, p.unexpected("a value")
}

func (p *Parser) word(w string) error {
	for j := range len(w) {
		if p.i >= len(p.b) || p.b[p.i] != w[j] {
			return p.unexpected("the word " + w)
		}
		p.i++
	}
	return nil
}

func (p *Parser) enter() error {
	if p.depth++; p.depth > p.Deepest {
		return p.fail("more than %d levels deep", p.Deepest)
	}
	p.i++
	p.space()
	return nil
}

func (p *Parser) object() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	fields := make(map[string]any, p.guess())
	if p.i < len(p.b) && p.b[p.i] == '}' {
		return fields, p.leave()
	}
	for {
		start := p.i
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		before := len(fields)
		if fields[name] = v; len(fields) == before {
			p.i = start
			return nil, p.fail("the name %s stands twice", short(name))
		}
		p.space()
		if more, err := p.comma('}'); err != nil || !more {
			if p.depth == 0 {
				p.width = len(fields)
			}
			return fields, err
		}
	}
}

func (p *Parser) guess() int {
	if p.depth == 1 {
		return p.width
	}
	return 0
}

// name reads a name and the colon after it.
func (p *Parser) name() (string, error) {
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return "", p.unexpected("a name in quotes")
	}
	raw, err := p.unquoted()
	if err != nil {
		return "", err
	}
	name, known := p.names[string(raw)]
	if !known {
		name = string(raw)
		if len(p.names) < maxNames {
			p.names[name] = name
		}
	}
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != ':' {
		return "", p.unexpected("a colon")
	}
	p.i++
	p.space()
	return name, nil
}

func (p *Parser) list() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	list := []any{}
	if p.i < len(p.b) && p.b[p.i] == ']' {
		return list, p.leave()
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.space()
		if more, err := p.comma(']'); err != nil || !more {
			return list, err
		}
	}
}

func (p *Parser) leave() error {
	p.i++
	p.depth--
	return nil
}

// comma reads the separator of two members: a comma, or the end.
func (p *Parser) comma(end byte) (more bool, err error) {
	switch {
	case p.i < len(p.b) && p.b[p.i] == ',':
		p.i++
		p.space()
		return true, nil
	case p.i < len(p.b) && p.b[p.i] == end:
		return false, p.leave()
	}
	return false, p.unexpected("a comma or " + string(end))
}

// short shows a name in a message: escaped, and not at length.
func short(name string) string {
	const most = 60
	if len(name) <= most {
		return strconv.Quote(name)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strconv.Quote(name[:cut]) + "…"
}
