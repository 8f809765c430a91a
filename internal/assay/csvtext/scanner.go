// Package csvtext cuts CSV into records: fast, with the line of each, and on after a broken one.
package csvtext

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
)

const (
	firstBuffer = 256 << 10
	maxRecord   = 16 << 20 // where the reader names no other length
)

// Scanner cuts a stream into records and fields. Fields may be quoted, hold separators, line ends and doubled quotes;
// lines end in \n or \r\n, which inside quotes reads as \n unless the scanner is verbatim. A byte order mark is
// skipped, blank lines are no records, and a quote inside an unquoted field is a character like any other.
type Scanner struct {
	Verbatim bool // line ends inside quotes are read as they are
	Max      int  // bytes of a record, at most; 0: 16 MB

	in       io.Reader
	comma    byte
	buf      []byte
	pos, end int // what of buf is not read yet
	begun    bool
	eof      bool
	err      error

	line int    // where the record begins
	next int    // the line after it
	rec  []byte // the record, one byte between fields; in buf or in text
	ends []int  // where each field ends in rec
	text []byte // a record without its quotes
	bad  int    // how far behind pos the quotes of a record are broken; 0: they are not
}

// NewScanner reads records from in whose fields are separated by comma.
func NewScanner(in io.Reader, comma byte) *Scanner {
	return newScanner(in, comma, firstBuffer)
}

func newScanner(in io.Reader, comma byte, buffer int) *Scanner {
	return &Scanner{in: in, comma: comma, buf: make([]byte, buffer), next: 1}
}

// Scan goes to the next record; false is the end, or a problem, which [Scanner.Err] returns.
func (s *Scanner) Scan() bool {
	if !s.begun && !s.begin() {
		return false
	}
	for {
		var got verdict
		if got = s.plain(); got == quoted {
			got = s.unquote()
		}
		switch got {
		case found:
			return true
		case nothing:
			return false
		}
		if !s.fill() {
			return false
		}
	}
}

// Skip goes behind the record whose quotes ended the scan, so that the scan can go on. It reports false where anything else ended it.
func (s *Scanner) Skip() bool {
	if s.bad == 0 {
		return false
	}
	s.pos, s.bad, s.err = s.pos+s.bad, 0, nil
	for {
		n := bytes.IndexByte(s.buf[s.pos:s.end], '\n')
		if n >= 0 {
			s.pos, s.next = s.pos+n+1, s.line+1
			return true
		}
		if s.pos = s.end; s.eof {
			return true
		}
		if !s.fill() {
			return false
		}
	}
}

// Fields returns the number of fields of the record.
func (s *Scanner) Fields() int { return len(s.ends) }

// Field returns one field of the record, valid until the next [Scanner.Scan].
func (s *Scanner) Field(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1] + 1
	}
	return s.rec[from:s.ends[i]]
}

// Line returns where the record begins, from 1; after an error, where that is.
func (s *Scanner) Line() int { return s.line }

// Err returns the error that ended the records early; nil at the end of the stream.
func (s *Scanner) Err() error { return s.err }

// verdict is the outcome of an attempt to cut the next record out of the buffer.
type verdict uint8

const (
	found   verdict = iota
	starved         // the record goes on behind the buffer
	quoted          // there is a quoted field
	nothing         // the end, or an error
)

// begin fills the buffer for the first time and skips a byte order mark.
func (s *Scanner) begin() bool {
	s.begun = true
	for s.end < 3 && !s.eof {
		if !s.fill() {
			return false
		}
	}
	head := s.buf[:s.end]
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		s.pos = 3
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		s.line, s.err = 1, errors.New("the file is UTF-16: save it as UTF-8")
		return false
	}
	return true
}

// plain cuts out a record without quoted fields, in one pass.
func (s *Scanner) plain() verdict {
	for {
		data, ends, start := s.buf[s.pos:s.end], s.ends[:0], 0
		last := max(s.comma, '"')
		for i, c := range data {
			if c > last { // no byte of meaning is above the comma, and most bytes of text are
				continue
			}
			switch c {
			case s.comma:
				ends = append(ends, i)
				start = i + 1
			case '"':
				if i == start {
					s.ends = ends
					return quoted
				}
			case '\n':
				s.ends = ends
				if s.cut(data[:i], i+1) {
					return found
				}
				goto next
			}
		}
		s.ends = ends
		switch {
		case !s.eof:
			return starved
		case len(data) == 0 || !s.cut(data, len(data)):
			return nothing
		}
		return found
	next:
	}
}

// cut takes a line that needs so many bytes of the buffer as a record; false when it is blank.
func (s *Scanner) cut(line []byte, used int) bool {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	s.line = s.next
	s.next++
	s.pos += used
	s.rec, s.ends = line, append(s.ends, len(line))
	return len(line) > 0
}

// fill gets more bytes behind those that are not read yet; false on an error.
func (s *Scanner) fill() bool {
	if s.pos > 0 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if most := cmp.Or(s.Max, maxRecord); len(s.buf) >= most {
			s.line, s.err = s.next, fmt.Errorf("the row is longer than %d MB: is a closing quote missing?", most>>20)
			return false
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := io.ReadFull(s.in, s.buf[s.end:]) // whole, so that a long record is looked at few times
	s.end += n
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		s.eof = true
	default:
		s.line, s.err = s.next, fmt.Errorf("read: %w", err)
		return false
	}
	return true
}
