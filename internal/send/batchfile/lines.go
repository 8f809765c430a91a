package batchfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// line is one line of a file that is not blank.
type line struct {
	no     int   // from 1, blank ones counted
	offset int64 // of its first byte in the file
	text   []byte
	long   bool // longer than maxLine: text is how it begins
	open   bool // the file ends before the line does
}

const (
	maxLine  = 64 << 20
	readSize = 1 << 20
	keepSize = 4 << 20 // a buffer that grew beyond this is not kept for the next line
)

var byteOrderMark = []byte("\ufeff")

// lines walks over the lines of a file that are not blank. Only the byte 0x0A ends a line, so that no character inside a
// JSON string does. The text is good until the next line is asked for; of a line beyond maxLine only the beginning is
// kept, so that memory stays bounded whatever the file holds.
func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, readSize)
		var buf []byte
		offset := int64(0)
		for no := 1; ; no++ {
			if cap(buf) > keepSize {
				buf = nil
			}
			l, n, err := readLine(in, buf[:0])
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, fmt.Errorf("read line %d: %w", no, err))
				return
			}
			buf = l.text
			l.no, l.offset, l.open = no, offset, err != nil
			offset += n
			l.trim()
			if len(l.text) > 0 && !yield(l, nil) || err != nil {
				return
			}
		}
	}
}

// readLine reads up to and with the next newline. It returns how many bytes that was; io.EOF with the last.
func readLine(in *bufio.Reader, buf []byte) (l line, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if l.long = n > maxLine; !l.long {
			buf = append(buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.text = buf
			return l, n, err
		}
	}
}

// trim takes away what surrounds the JSON of a line.
func (l *line) trim() {
	text := l.text
	if l.offset == 0 {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	start := len(l.text) - len(text)
	left := bytes.TrimLeft(text, " \t\r\n")
	start += len(text) - len(left)
	l.offset += int64(start)
	l.text = bytes.TrimRight(left, " \t\r\n")
}
