package dialect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxLine is the length from which on a line or an element is usually left in its file.
const MaxLine = 64 << 20

// RawLine is one line of a file, or one element of a document, and its position.
type RawLine struct {
	Offset  int64
	Length  int64
	Bytes   []byte // until the next one is asked for; nil if it is too long
	TooLong bool
	Head    []byte // the beginning of a line that is too long, with its id
}

const (
	readSize   = 64 << 10
	keepBuffer = 1 << 20 // a buffer that grew beyond this is not kept for the next line
)

// Lines yields the lines of r. Only the byte 0x0A ends a line, so that no character inside a JSON string does; a carriage
// return before it, blank lines and a byte order mark at the start are left out, a last line without an end is a line.
// The bytes of a line longer than max (MaxLine where max is 0) are skipped: memory stays bounded whatever r holds. An
// error ends the sequence; the line it interrupts is not yielded.
func Lines(r io.Reader, max int) iter.Seq2[RawLine, error] {
	if max <= 0 {
		max = MaxLine
	}
	return func(yield func(RawLine, error) bool) {
		s := splitter{r: bufio.NewReaderSize(r, readSize), max: max}
		for {
			line, err := s.next()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(RawLine{Offset: s.offset}, fmt.Errorf("read line at byte %d: %w", s.offset, err))
				return
			}
			if (line.Length > 0 || line.TooLong) && !yield(line, nil) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// splitter reads lines and counts bytes.
type splitter struct {
	r      *bufio.Reader
	max    int
	buf    []byte // a line that does not fit into the reader's own buffer
	offset int64  // of the next line
}

// next returns the next line, trimmed, empty if it is blank. io.EOF comes with the last.
func (s *splitter) next() (RawLine, error) {
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	s.buf = s.buf[:0]
	line := RawLine{Offset: s.offset}
	for {
		part, err := s.r.ReadSlice('\n')
		line.Length += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case line.TooLong:
		case line.Length > int64(s.max)+readSize: // with room for space around the line
			line.TooLong, line.Head, s.buf = true, beginning(s.buf), nil
		case full || len(s.buf) > 0:
			s.buf = append(s.buf, part...)
			line.Bytes = s.buf
		default:
			line.Bytes = part
		}
		if full {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return RawLine{}, err
		}
		start := s.offset
		s.offset += line.Length
		return s.trim(line, start, part), err
	}
}

// trim takes the end of the line, the space around it and a byte order mark off.
func (s *splitter) trim(line RawLine, start int64, end []byte) RawLine {
	if line.TooLong {
		line.Length -= int64(len(end) - len(bytes.TrimRight(end, "\r\n")))
		line.Bytes = nil
		return line
	}
	b := line.Bytes
	if start == 0 {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	b = bytes.TrimLeft(b, " \t\r\n")
	line.Offset = start + int64(len(line.Bytes)-len(b))
	b = bytes.TrimRight(b, " \t\r\n")
	line.Bytes, line.Length = b, int64(len(b))
	if len(b) > s.max {
		line.TooLong, line.Head, line.Bytes = true, beginning(b), nil
	}
	return line
}

// beginning returns a copy of the first bytes of a line.
func beginning(line []byte) []byte { return bytes.Clone(line[:min(len(line), 1000)]) }
