package jsontext

import (
	"bufio"
	"bytes"
	"io"
)

const space = " \t\r\n"

// scanner cuts values out of a stream.
type scanner struct {
	in        *bufio.Reader
	line, col int // of the next byte
	text      []byte
	over      bool // the value that was cut last was longer than it may be
}

// next reads over white space and shows the byte after it. The end of the stream is ErrCut.
func (s *scanner) next() (byte, error) {
	for {
		window, err := s.window()
		if err != nil {
			return 0, err
		}
		rest := bytes.TrimLeft(window, space)
		s.skip(len(window) - len(rest))
		if len(rest) > 0 {
			return rest[0], nil
		}
	}
}

// cut reads a value up to one of two bytes outside of its brackets and quotes, which it leaves unread. The text is valid until the
// next one is cut. A value of more than most bytes is read over, and over is set; 0: there is no limit.
func (s *scanner) cut(a, b byte, most int) (text []byte, end byte, err error) {
	s.text, s.over = s.text[:0], false
	var at place
	for {
		window, err := s.window()
		if err != nil {
			return nil, 0, err
		}
		n, done := at.walk(window, a, b)
		if s.over = s.over || most > 0 && len(s.text)+n > most; !s.over {
			s.text = append(grown(s.text, n, most), window[:n]...)
		}
		if done {
			end = window[n]
		}
		s.skip(n)
		if done {
			return bytes.TrimRight(s.text, space), end, nil
		}
	}
}

// grown makes room for n more bytes by doubling, up to what may be held at most.
func grown(b []byte, n, most int) []byte {
	need := len(b) + n
	if need <= cap(b) {
		return b
	}
	room := 2 * need
	if most > 0 {
		room = min(room, most)
	}
	return append(make([]byte, 0, max(need, room)), b...)
}

// place is the position of a walk in a value.
type place struct {
	depth          int
	quoted, escape bool
}

// walk counts the bytes of a window that belong to the value, and reports whether it ends there.
func (p *place) walk(window []byte, a, b byte) (n int, done bool) {
	for i := 0; i < len(window); i++ {
		c := window[i]
		switch {
		case p.escape:
			p.escape = false
		case p.quoted:
			if c != '"' && c != '\\' {
				i += max(1, Plain(window[i:])) - 1
				continue
			}
			p.escape, p.quoted = c == '\\', c != '"'
		case c == '"':
			p.quoted = true
		case p.depth == 0 && (c == a || c == b):
			return i, true
		case c == '{' || c == '[':
			p.depth++
		case p.depth > 0 && (c == '}' || c == ']'):
			p.depth--
		}
	}
	return len(window), false
}

// window returns the bytes in the buffer, at least one.
func (s *scanner) window() ([]byte, error) {
	if _, err := s.in.Peek(1); err != nil {
		if err == io.EOF {
			err = ErrCut
		}
		return nil, s.wrong(err)
	}
	return s.in.Peek(s.in.Buffered())
}

// skip reads over bytes of the window and keeps count of lines.
func (s *scanner) skip(n int) {
	window, _ := s.in.Peek(n)
	if lines := bytes.Count(window, []byte{'\n'}); lines > 0 {
		s.line += lines
		s.col = len(window) - bytes.LastIndexByte(window, '\n')
	} else {
		s.col += len(window)
	}
	s.in.Discard(n) // cannot fail: the buffer holds them
}

func (s *scanner) wrong(err error) error { return &Error{Line: s.line, Col: s.col, Err: err} }
