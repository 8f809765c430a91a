package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"

	"assay"
	"assay/inputs"
)

// maxRecord bounds one record of a table.
const maxRecord = 64 << 20

// Bad takes note of what could not be read; reading goes on after it.
type Bad func(assay.Problem)

func (b Bad) at(p assay.Place, format string, args ...any) {
	b(assay.Problem{Place: p, What: fmt.Sprintf(format, args...)})
}

// Rows reads a table in a form. A record that cannot be read is told with its place and left out; the error is what ends
// the reading. A row is used again for the next one.
func Rows[T any](ctx context.Context, f Format, files fs.FS, name string, bad Bad) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if f == Parquet {
			readParquet(ctx, files, name, bad, yield)
			return
		}
		file, err := files.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		if f == CSV {
			err = readCSV(file, name, bad, yield)
		} else {
			err = readLines(file, name, bad, yield)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, fmt.Errorf("read %s: %w", name, err))
		}
	}
}

// errEnough says that nobody wants more rows.
var errEnough = errors.New("enough")

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

func readCSV[T any](r io.Reader, name string, bad Bad, yield func(*T, error) bool) error {
	c := newCSVReader(r)
	head, err := c.record()
	var broken *brokenRecord
	switch {
	case errors.Is(err, io.EOF):
		bad.at(assay.Place{File: name, Line: 1}, "the file is empty")
		return nil
	case errors.As(err, &broken):
		bad.at(assay.Place{File: name, Line: c.begun}, "the heading: %s", broken.why)
		return nil
	case err != nil:
		return err
	}
	head = slices.Clone(head)
	places := map[string]int{}
	for i, column := range columnsOf[T]() {
		places[column] = i
	}
	into := make([]int, len(head))
	for i, column := range head {
		at, ok := places[strings.TrimPrefix(column, "\ufeff")]
		if into[i] = at; !ok {
			into[i] = -1
		}
	}
	for {
		cells, err := c.record()
		at := assay.Place{File: name, Line: c.begun}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			bad.at(at, "%s", broken.why)
			continue
		case err != nil:
			return err
		case len(cells) != len(head):
			bad.at(at, "the row has %d fields, the heading %d", len(cells), len(head))
			continue
		}
		row := new(T)
		if wrong := fillRow(row, cells, head, into); wrong != nil {
			bad.at(at, "%v", wrong)
		} else if !yield(row, nil) {
			return errEnough
		}
	}
}

func fillRow[T any](row *T, cells, head []string, into []int) error {
	v := reflect.ValueOf(row).Elem()
	for i, cell := range cells {
		if into[i] < 0 {
			continue
		}
		if err := setCell(v.Field(into[i]), cell); err != nil {
			return fmt.Errorf("column %s: %w", head[i], err)
		}
	}
	return nil
}

// readParquet reads rows through the reader of inputs, which knows broken files.
func readParquet[T any](ctx context.Context, files fs.FS, name string, bad Bad, yield func(*T, error) bool) {
	source := inputs.Open(files, map[string]inputs.Spec{"rows": {File: name, Format: "parquet"}})
	for it, err := range source.Items(ctx, "rows") {
		var problems assay.Problems
		if errors.As(err, &problems) {
			for _, p := range problems {
				bad(p)
			}
			return
		}
		row := new(T)
		if err == nil {
			err = fromFields(row, it.Fields)
			if err != nil {
				bad.at(it.Place, "%v", err)
				continue
			}
		}
		if !yield(row, err) || err != nil {
			return
		}
	}
}

// fromFields fills a row from the values of a record. A JSON value stands there as its text.
func fromFields[T any](row *T, fields map[string]any) error {
	v := reflect.ValueOf(row).Elem()
	for i, name := range columnsOf[T]() {
		value, ok := fields[name]
		if !ok || value == nil {
			continue
		}
		field := v.Field(i)
		if text, isText := value.(string); isText && field.Kind() == reflect.String {
			field.SetString(text)
			continue
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, field.Addr().Interface())
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	return nil
}
