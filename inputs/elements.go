package inputs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// elements cuts the elements out of a JSON array without holding the array. It only counts brackets and quotes; whether
// an element is good JSON is for the parser to say.
type elements struct {
	in  *bufio.Reader
	cap int

	line, col         int // of the next byte
	fromLine, fromCol int // of the element read last
	begun, ended      bool

	text   []byte
	depth  int
	quoted bool
	escape bool
}

var (
	errOpen  = errors.New("the array does not end")
	errAfter = errors.New("text follows the array")
)

// next is the text of the next element, good until the next call; io.EOF after the last.
func (e *elements) next() ([]byte, error) {
	if !e.begun {
		e.begun = true
		e.skip(1) // the bracket
		if c, err := e.first(); err == nil && c == ']' {
			e.ended = true
			e.skip(1)
		}
	}
	if e.ended {
		return nil, e.end()
	}
	if _, err := e.first(); err != nil {
		return nil, open(err)
	}
	e.fromLine, e.fromCol = e.line, e.col
	return e.element()
}

// element reads up to the comma or the bracket that ends an element, and over it.
func (e *elements) element() ([]byte, error) {
	e.text, e.depth, e.quoted, e.escape = e.text[:0], 0, false, false
	over := false
	for {
		window, err := e.window()
		if err != nil {
			return nil, open(err)
		}
		n, done := e.scan(window)
		if over = over || len(e.text)+n > e.cap; !over {
			e.text = append(grown(e.text, n, e.cap), window[:n]...)
		}
		if done {
			e.ended = window[n] == ']'
			n++
		}
		e.skip(n)
		switch {
		case !done:
		case over:
			return nil, errLong
		default:
			return e.text, nil
		}
	}
}

// scan tells how many bytes of a window belong to the element, and whether it ends there.
func (e *elements) scan(window []byte) (n int, done bool) {
	for i := 0; i < len(window); i++ {
		if e.quoted && !e.escape {
			if i += plain(window[i:]); i == len(window) {
				break
			}
		}
		switch c := window[i]; {
		case e.escape:
			e.escape = false
		case e.quoted:
			e.escape = c == '\\'
			e.quoted = c != '"'
		case c == '"':
			e.quoted = true
		case c == '{' || c == '[':
			e.depth++
		case e.depth == 0 && (c == ',' || c == ']'):
			return i, true
		case e.depth > 0 && (c == '}' || c == ']'):
			e.depth--
		}
	}
	return len(window), false
}

// end makes sure that nothing follows the array.
func (e *elements) end() error {
	_, err := e.first()
	if err == nil {
		return errAfter
	}
	return err
}

// first reads over white space and shows the byte after it.
func (e *elements) first() (byte, error) {
	for {
		window, err := e.window()
		if err != nil {
			return 0, err
		}
		rest := bytes.TrimLeft(window, " \t\r\n")
		e.skip(len(window) - len(rest))
		if len(rest) > 0 {
			return rest[0], nil
		}
	}
}

// window is what the buffer holds, at least one byte.
func (e *elements) window() ([]byte, error) {
	if _, err := e.in.Peek(1); err != nil {
		return nil, err
	}
	return e.in.Peek(e.in.Buffered())
}

// skip consumes bytes of the window and keeps count of lines.
func (e *elements) skip(n int) {
	window, _ := e.in.Peek(n)
	e.line, e.col = position(window, e.line, e.col)
	e.in.Discard(n) // cannot fail: the buffer holds them
}

func open(err error) error {
	if err == io.EOF {
		return errOpen
	}
	return err
}
