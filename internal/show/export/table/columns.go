package table

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"assay/internal/study/inputs"
)

// Names maps our columns to those of a table; a column that is not in it has the same name.
type Names map[string]string

func (c Names) Of(column string) string { return cmp.Or(c[column], column) }

// Head returns the columns of the one table that is read: of JSON lines, the fields of the first. None, where it has no row that
// can be read: the reader reports why.
func (f Form) Head(ctx context.Context, files fs.FS, name string) ([]string, error) {
	if f == Parquet {
		names, _, _ := inputs.Open(files, map[string]inputs.Spec{"rows": {File: name, Format: string(Parquet)}}).Fields("rows")
		return names, ctx.Err()
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if f == CSV {
		return csvHead(file)
	}
	line, err := readLine(bufio.NewReader(file))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(line, &fields) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(fields)), nil
}

func csvHead(file fs.File) ([]string, error) {
	in := newCSVReader(file)
	if !in.Scan() {
		return nil, nil
	}
	return cellsOf(in), nil
}

// ColumnsOf returns the names of a row's columns.
func ColumnsOf[T any]() []string {
	var names []string
	for _, c := range columnsOf(reflect.TypeFor[T]()) {
		names = append(names, c.name)
	}
	return names
}

// column is a field of a row: its name in JSON, and where it is. The fields of an embedded struct are the row's own.
type column struct {
	name string
	at   []int
}

// columnsOf returns the columns of a type of rows.
func columnsOf(t reflect.Type) (out []column) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out = append(out, column{name, f.Index})
		}
	}
	return out
}
