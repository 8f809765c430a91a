// Package table writes and reads rows of Go structs as CSV, JSON lines and parquet.
package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"assay/internal/assay"
)

// Form is how a table is written.
type Form string

// The forms of our own tables.
const (
	CSV     Form = "csv"
	JSONL   Form = "jsonl"
	Parquet Form = "parquet"
)

// Table takes rows one after the other. Close ends it; it does not close the file.
type Table[T any] interface {
	Write(row *T) error
	Close() error
}

// NewTable begins a table in a form. A row is not kept.
func NewTable[T any](f Form, w io.Writer) (Table[T], error) {
	switch f {
	case CSV:
		return newCSVTable[T](w), nil
	case JSONL:
		return NewLines[T](w), nil
	case Parquet:
		return newParquetTable[T](w), nil
	}
	return nil, fmt.Errorf("no table has the form %q", f)
}

// MaxRecord bounds one record of a table.
const MaxRecord = 64 << 20

// Report takes a problem of what is read; reading goes on after it.
type Report func(assay.Problem)

func (b Report) At(p assay.Place, format string, args ...any) {
	b(assay.Problem{Place: p, What: fmt.Sprintf(format, args...)})
}

// Rows reads a table in a form. A record that cannot be read is noted with its place and left out; an error ends
// the reading. A row is used again for the next one.
func Rows[T any](ctx context.Context, f Form, files fs.FS, name string, bad Report) iter.Seq2[*T, error] {
	return RowsAs[T](ctx, f, files, name, nil, bad)
}

// RowsAs reads a table whose columns have other names.
func RowsAs[T any](ctx context.Context, f Form, files fs.FS, name string, columns Names, bad Report) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if f == Parquet {
			readParquet(ctx, files, name, columns, bad, yield)
			return
		}
		file, err := files.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		if f == CSV {
			err = readCSV(file, name, columns, bad, yield)
		} else {
			err = readLines(file, name, columns, bad, yield)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, fmt.Errorf("read %s: %w", name, err))
		}
	}
}

// errEnough ends a reading of which no more rows are wanted.
var errEnough = errors.New("enough")
