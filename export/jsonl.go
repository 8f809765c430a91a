package export

import (
	"assay"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

type lines[T any] struct {
	buffer *bufio.Writer
	out    *json.Encoder
}

func newLines[T any](w io.Writer) *lines[T] {
	b := bufio.NewWriterSize(w, 1<<16)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return &lines[T]{b, e}
}

func (l *lines[T]) Write(row *T) error { return l.out.Encode(row) }
func (l *lines[T]) Close() error       { return l.buffer.Flush() }

func readLines[T any](r io.Reader, name string, bad Bad, yield func(*T, error) bool) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(in)
		at := assay.Place{File: name, Line: n}
		switch {
		case errors.Is(err, errLong):
			bad.at(at, "the line has more than %d MB", maxRecord>>20)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			row := new(T)
			if wrong := json.Unmarshal(line, row); wrong != nil {
				bad.at(at, "not a row of JSON: %v", wrong)
			} else if !yield(row, nil) {
				return errEnough
			}
		}
		if err != nil {
			return nil
		}
	}
}

var errLong = errors.New("too long")

// readLine reads up to a line end. A line that is too long is skipped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRecord; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLong
		}
		return line, err
	}
}
