package export

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"assay/store"
)

// Rows walks over the rows of one table.
func (b *Bundle) Rows(table string) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		if err := b.rows(table, yield); err != nil && !errors.Is(err, errEnough) {
			yield(store.DumpRow{}, fmt.Errorf("unpack %s: %w", table, err))
		}
	}
}

func (b *Bundle) rows(table string, yield func(store.DumpRow, error) bool) error {
	entry, err := b.zip.Open(table + ".jsonl")
	if err != nil {
		return err
	}
	defer entry.Close()
	in := bufio.NewReaderSize(&bounded{entry, b}, 1<<16)
	var columns []string
	n := int64(0)
	for {
		line, err := boundedLine(in)
		switch {
		case errors.Is(err, io.EOF):
			if want := b.Manifest.Rows[table]; n != want {
				return fmt.Errorf("it has %d rows, and the manifest says %d", n, want)
			}
			return nil
		case err != nil:
			return err
		}
		if columns == nil {
			if err := json.Unmarshal(line, &columns); err != nil {
				return fmt.Errorf("its columns: %w", err)
			}
			continue
		}
		n++
		values, err := unpackRow(line, len(columns))
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if !yield(store.DumpRow{Columns: columns, Values: values}, nil) {
			return errEnough
		}
	}
}

// bounded stops a bundle that unpacks to far more than it is.
type bounded struct {
	in io.Reader
	b  *Bundle
}

func (r *bounded) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.b.unpacked += int64(n); r.b.unpacked > freeBytes && r.b.unpacked > maxRatio*r.b.size {
		return n, errors.New("it unpacks to far more than any results do")
	}
	return n, err
}

// boundedLine reads one line, without its end.
func boundedLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line has more than %d MB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		return line[:len(line)-1], nil
	}
}

// unpackRow reads the values of a row.
func unpackRow(line []byte, columns int) ([]any, error) {
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	var values []any
	if err := in.Decode(&values); err != nil {
		return nil, err
	}
	if len(values) != columns {
		return nil, fmt.Errorf("%d values in %d columns", len(values), columns)
	}
	for i, v := range values {
		var err error
		if values[i], err = unpacked(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func unpacked(v any) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case map[string]any:
		if text, ok := v["base64"].(string); ok && len(v) == 1 {
			return base64.StdEncoding.DecodeString(text)
		}
	}
	return nil, fmt.Errorf("a value of type %T", v)
}
