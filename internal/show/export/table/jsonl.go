package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"assay/internal/assay"
)

type lines[T any] struct {
	buffer *bufio.Writer
	out    *json.Encoder
}

func NewLines[T any](w io.Writer) *lines[T] {
	b := bufio.NewWriterSize(w, 1<<16)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return &lines[T]{b, e}
}

func (l *lines[T]) Write(row *T) error { return l.out.Encode(row) }
func (l *lines[T]) Close() error       { return l.buffer.Flush() }

func readLines[T any](r io.Reader, name string, columns Names, bad Report, yield func(*T, error) bool) error {
	in, into := bufio.NewReaderSize(r, 1<<16), columnsOf(reflect.TypeFor[T]())
	for n := 1; ; n++ {
		line, err := readLine(in)
		at := assay.Place{File: name, Line: n}
		switch {
		case errors.Is(err, errLong):
			bad.At(at, "the line has more than %d MB", MaxRecord>>20)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			row := new(T)
			if wrong := unmarshalAs(line, row, into, columns); wrong != nil {
				bad.At(at, "not a row of JSON: %v", wrong)
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
func unmarshalAs[T any](line []byte, row *T, into []column, columns Names) error {
	if len(columns) == 0 {
		return json.Unmarshal(line, row)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	fields := map[string]any{}
	if err := d.Decode(&fields); err != nil {
		return err
	}
	return fromFields(row, into, fields, columns)
}

var errLong = errors.New("too long")

// readLine reads up to a line end. A line that is too long is skipped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxRecord; !long {
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

// EachLine hands on the lines of a file that are not empty.
func EachLine(file io.Reader, name string, bad Report, take func(assay.Place, []byte) error) error {
	in := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLong):
			bad.At(assay.Place{File: name, Line: n}, "the line has more than %d MB", MaxRecord>>20)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if len(strings.TrimSpace(string(line))) > 0 {
			if err := take(assay.Place{File: name, Line: n, Col: 1}, line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}
