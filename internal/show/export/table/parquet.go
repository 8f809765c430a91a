package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"assay/internal/assay"
	"assay/internal/study/inputs"
)

// A row group is cut when it has so many rows, or texts of so many bytes: a parquet table holds one in memory.
const (
	groupRows  = 50_000
	groupBytes = 16 << 20
)

type parquetTable[T any] struct {
	out   *parquet.GenericWriter[any]
	plain *parquet.Schema // of the Go type
	typed []typedColumn
	row   parquet.Row
	rows  int
	bytes int
}

func newParquetTable[T any](w io.Writer) *parquetTable[T] {
	plain := parquet.SchemaOf(new(T))
	t := &parquetTable[T]{plain: plain, typed: typedColumns(plain)}
	schema := parquet.NewSchema(plain.Name(), typedNode{plain, t.typed})
	t.out = parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows))
	return t
}

func (t *parquetTable[T]) Write(row *T) error {
	t.row = t.plain.Deconstruct(t.row[:0], row)
	for _, c := range t.typed {
		for i, v := range t.row {
			if v.Column() == c.index {
				t.row[i] = c.value(v)
			}
		}
	}
	if _, err := t.out.WriteRows([]parquet.Row{t.row}); err != nil {
		return err
	}
	t.rows++
	for _, v := range t.row {
		if v.Kind() == parquet.ByteArray {
			t.bytes += len(v.ByteArray())
		}
	}
	if t.rows < groupRows && t.bytes < groupBytes {
		return nil
	}
	t.rows, t.bytes = 0, 0
	return t.out.Flush()
}

func (t *parquetTable[T]) Close() error { return t.out.Close() }

// readParquet reads rows through the reader of inputs, which knows broken files.
func readParquet[T any](ctx context.Context, files fs.FS, name string, columns Names, bad Report, yield func(*T, error) bool) {
	source, into := inputs.Open(files, map[string]inputs.Spec{"rows": {File: name, Format: "parquet"}}), columnsOf(reflect.TypeFor[T]())
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
			err = fromFields(row, into, it.Fields, columns)
			if err != nil {
				bad.At(it.Place, "%v", err)
				continue
			}
		}
		if !yield(row, err) || err != nil {
			return
		}
	}
}

// fromFields fills a row from the values of a record. A JSON value is there as its text.
func fromFields[T any](row *T, into []column, fields map[string]any, columns Names) error {
	v := reflect.ValueOf(row).Elem()
	for _, c := range into {
		value, ok := fields[columns.Of(c.name)]
		if !ok || value == nil {
			continue
		}
		field := v.FieldByIndex(c.at)
		if text, isText := value.(string); isText && field.Kind() == reflect.String {
			field.SetString(text)
			continue
		}
		if n, isNumber := value.(json.Number); isNumber && field.Kind() == reflect.String { // such as an id
			field.SetString(n.String())
			continue
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, field.Addr().Interface())
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return nil
}
