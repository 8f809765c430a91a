package export

import (
	"assay/internal/assay"
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

func readLines[T any](r io.Reader, name string, columns columnNames, bad Bad, yield func(*T, error) bool) error {
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
			if wrong := unmarshalAs(line, row, columns); wrong != nil {
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

// unmarshalAs reads a row whose fields have other names.
func unmarshalAs[T any](line []byte, row *T, columns columnNames) error {
	if len(columns) == 0 {
		return json.Unmarshal(line, row)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	fields := map[string]any{}
	if err := d.Decode(&fields); err != nil {
		return err
	}
	return fromFields(row, fields, columns)
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
