package csvtext

import (
	"bytes"
	"errors"
	"fmt"
)

// unquote cuts out a record that has quoted fields: its text goes to a buffer of its own, one byte between fields.
func (s *Scanner) unquote() verdict {
	s.text, s.ends = s.text[:0], s.ends[:0]
	at, lines := 0, 0
	for {
		data := s.buf[s.pos:s.end]
		var got verdict
		if at < len(data) && data[at] == '"' {
			at, lines, got = s.inQuotes(data, at+1, lines)
		} else {
			at, got = s.outside(data, at)
		}
		if got != found {
			return got
		}
		s.ends = append(s.ends, len(s.text))
		switch more, used := s.after(data[at:]); {
		case more == starved && !s.eof:
			return starved
		case more == quoted: // neither a separator nor a line end
			s.bad = at
			s.line, s.err = s.next+lines, errors.New("text follows a closing quote (a quote inside a quoted field is written twice)")
			return nothing
		case used == 1 && data[at] == s.comma:
			at++
			s.text = append(s.text, s.comma)
		default:
			s.line = s.next
			s.next += lines + 1
			s.pos += at + used
			s.rec = s.text
			return found
		}
	}
}

// inQuotes reads a field from behind its opening quote to behind its closing one.
func (s *Scanner) inQuotes(data []byte, at, lines int) (int, int, verdict) {
	opened := s.next + lines
	for {
		n := bytes.IndexByte(data[at:], '"')
		if n < 0 || at+n+1 == len(data) && !s.eof {
			if !s.eof {
				return at, lines, starved
			}
			s.bad = len(data)
			s.line, s.err = opened, fmt.Errorf("the quote that opens in this row is never closed")
			return at, lines, nothing
		}
		lines += s.appendLines(data[at : at+n])
		at += n + 1
		if at == len(data) || data[at] != '"' {
			return at, lines, found
		}
		s.text = append(s.text, '"')
		at++
	}
}

// appendLines takes quoted text, with \n for every line end unless it is read verbatim, and counts them.
func (s *Scanner) appendLines(b []byte) (lines int) {
	if s.Verbatim {
		s.text = append(s.text, b...)
		return bytes.Count(b, []byte("\n"))
	}
	for {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			s.text = append(s.text, b...)
			return lines
		}
		s.text = append(append(s.text, bytes.TrimSuffix(b[:n], []byte("\r"))...), '\n')
		b = b[n+1:]
		lines++
	}
}

// outside reads a field without quotes up to the separator or line end behind it.
func (s *Scanner) outside(data []byte, at int) (int, verdict) {
	n := 0
	for n < len(data)-at && data[at+n] != s.comma && data[at+n] != '\n' {
		n++
	}
	field := data[at : at+n]
	if at+n == len(data) {
		if !s.eof {
			return at, starved
		}
	}
	if (at+n == len(data) || data[at+n] == '\n') && bytes.HasSuffix(field, []byte("\r")) {
		n--
		field = field[:n]
	}
	s.text = append(s.text, field...)
	return at + n, found
}

// after looks at what follows a field: a separator, or a line end of so many bytes.
func (s *Scanner) after(rest []byte) (verdict, int) {
	switch {
	case len(rest) == 0:
		return starved, 0
	case rest[0] == s.comma || rest[0] == '\n':
		return found, 1
	case rest[0] != '\r':
		return quoted, 0
	case len(rest) == 1:
		return starved, 1
	case rest[1] == '\n':
		return found, 2
	}
	return quoted, 0
}
