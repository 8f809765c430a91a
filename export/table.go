package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Format is a form of table.
type Format string

// The forms of our own tables.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// Formats lists the forms of our own tables.
func Formats() []Format { return []Format{CSV, JSONL, Parquet} }

// Table takes rows one after the other. Close ends it; it does not close the file.
type Table[T any] interface {
	Write(row *T) error
	Close() error
}

// NewTable begins a table in a form. A row is not kept.
func NewTable[T any](f Format, w io.Writer) (Table[T], error) {
	switch f {
	case CSV:
		return newCSVTable[T](w), nil
	case JSONL:
		return newLines[T](w), nil
	case Parquet:
		return newParquetTable[T](w), nil
	}
	return nil, fmt.Errorf("no table has the form %q", f)
}

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

// A row group is cut when it has so many rows, or texts of so many bytes: this is what a parquet table holds in memory.
const (
	groupRows  = 10_000
	groupBytes = 16 << 20
)

type parquetTable[T any] struct {
	out   *parquet.GenericWriter[T]
	one   [1]T
	rows  int
	bytes int
}

func newParquetTable[T any](w io.Writer) *parquetTable[T] {
	return &parquetTable[T]{out: parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows))}
}

func (t *parquetTable[T]) Write(row *T) error {
	t.one[0] = *row
	if _, err := t.out.Write(t.one[:]); err != nil {
		return err
	}
	t.rows++
	t.bytes += sizeOf(row)
	if t.rows < groupRows && t.bytes < groupBytes {
		return nil
	}
	t.rows, t.bytes = 0, 0
	return t.out.Flush()
}

func (t *parquetTable[T]) Close() error { return t.out.Close() }

// sizeOf is about how much of a row is text.
func sizeOf(row any) int {
	switch r := row.(type) {
	case *Request:
		n := len(r.Text) + len(r.Thoughts) + len(r.FaultMessage)
		for _, v := range r.Verdicts {
			n += len(v.Reason)
		}
		return n
	case *Verdict:
		return len(r.Reason) + len(r.Fields)
	case *Item:
		return len(r.Fields)
	}
	return 0
}
