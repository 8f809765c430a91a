package table

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// csvTable writes rows of a struct under the names of its JSON fields.
type csvTable[T any] struct {
	out     *assay.CSV
	columns []column
	cells   []string
	begun   bool
}

func newCSVTable[T any](w io.Writer) *csvTable[T] {
	return &csvTable[T]{out: assay.NewCSV(w), columns: columnsOf(reflect.TypeFor[T]())}
}

func (t *csvTable[T]) head() error {
	if t.begun {
		return nil
	}
	t.begun = true
	return t.out.Write(ColumnsOf[T]())
}

func (t *csvTable[T]) Write(row *T) error {
	if err := t.head(); err != nil {
		return err
	}
	v := reflect.ValueOf(row).Elem()
	t.cells = t.cells[:0]
	for i := range t.columns {
		text, err := cellOf(v.FieldByIndex(t.columns[i].at))
		if err != nil {
			return err
		}
		t.cells = append(t.cells, text)
	}
	return t.out.Write(t.cells)
}

func (t *csvTable[T]) Close() error {
	if err := t.head(); err != nil {
		return err
	}
	t.out.Flush()
	return t.out.Error()
}

// cellOf returns one value of a row as a cell.
func cellOf(v reflect.Value) (string, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return assay.SafeCell(v.String()), nil
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Slice:
		if v.Len() == 0 {
			return "", nil
		}
		text, err := json.Marshal(v.Interface())
		return string(text), err
	}
	return "", fmt.Errorf("a column of kind %s cannot be written", v.Kind())
}

// setCell reads a cell into a value of a row.
func setCell(v reflect.Value, cell string) error {
	if cell == "" {
		v.SetZero()
		return nil
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(assay.PlainCell(cell))
	case reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(cell, 10, 64)
		v.SetInt(n)
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(cell, 64)
		v.SetFloat(x)
	case reflect.Bool:
		var yes bool
		yes, err = strconv.ParseBool(strings.ToLower(cell))
		v.SetBool(yes)
	case reflect.Slice:
		err = json.Unmarshal([]byte(cell), v.Addr().Interface())
	}
	return err
}

func readCSV[T any](r io.Reader, name string, columns Names, bad Report, yield func(*T, error) bool) error {
	c := newCSVReader(r)
	head, err := c.record()
	var broken *brokenRecord
	switch {
	case errors.Is(err, io.EOF):
		bad.At(assay.Place{File: name, Line: 1}, "the file is empty")
		return nil
	case errors.As(err, &broken):
		bad.At(assay.Place{File: name, Line: c.begun}, "the heading: %s", broken.why)
		return nil
	case err != nil:
		return err
	}
	head = slices.Clone(head)
	places := map[string][][]int{}
	for _, c := range columnsOf(reflect.TypeFor[T]()) {
		places[columns.Of(c.name)] = append(places[columns.Of(c.name)], c.at)
	}
	into := make([][][]int, len(head))
	for i, column := range head {
		into[i] = places[strings.TrimPrefix(column, "\ufeff")]
	}
	for {
		cells, err := c.record()
		at := assay.Place{File: name, Line: c.begun}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			bad.At(at, "%s", broken.why)
			continue
		case err != nil:
			return err
		case len(cells) != len(head):
			bad.At(at, "the row has %d fields, the heading %d", len(cells), len(head))
			continue
		}
		row := new(T)
		if wrong := fillRow(row, cells, head, into); wrong != nil {
			bad.At(at, "%v", wrong)
		} else if !yield(row, nil) {
			return errEnough
		}
	}
}

func fillRow[T any](row *T, cells, head []string, into [][][]int) error {
	v := reflect.ValueOf(row).Elem()
	for i, cell := range cells {
		for _, at := range into[i] {
			if err := setCell(v.FieldByIndex(at), cell); err != nil {
				return fmt.Errorf("column %s: %w", head[i], err)
			}
		}
	}
	return nil
}

// csvReader reads records whose fields may be quoted and may span lines. Unlike encoding/csv it gives line ends inside
// quotes back as they are, because an answer has to come back to the byte; and it goes on after a broken record.
type csvReader struct {
	in    *bufio.Reader
	line  int // the line that is read
	begun int // the line on which the record begins
	cells []string
	cell  []byte
	size  int
}

// brokenRecord is the error of a record that cannot be read; the next one can.
type brokenRecord struct{ why string }

func (b *brokenRecord) Error() string { return b.why }

func newCSVReader(r io.Reader) *csvReader {
	return &csvReader{in: bufio.NewReaderSize(r, 1<<16), line: 1}
}

// record reads the next record; blank lines are none. The cells are valid until the next one.
func (c *csvReader) record() ([]string, error) {
	for {
		c.begun, c.cells, c.size = c.line, c.cells[:0], 0
		end, err := c.field()
		for err == nil && !end {
			end, err = c.field()
		}
		if err != nil {
			return nil, err
		}
		if len(c.cells) == 1 && c.cells[0] == "" && c.size == 0 {
			if _, err := c.in.Peek(1); errors.Is(err, io.EOF) {
				return nil, io.EOF
			}
			continue
		}
		return c.cells, nil
	}
}

// field reads one field and what ends it; end reports whether the record ends with it.
func (c *csvReader) field() (end bool, err error) {
	c.cell = c.cell[:0]
	b, err := c.next()
	if err == nil && b == '"' {
		c.size++
		return c.quoted()
	}
	for ; err == nil && b != ',' && b != '\n'; b, err = c.next() {
		if err := c.put(b); err != nil {
			return false, err
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if err != nil || b == '\n' {
		if n := len(c.cell); n > 0 && c.cell[n-1] == '\r' {
			c.cell = c.cell[:n-1]
			if n == 1 {
				c.size--
			}
		}
		c.cells = append(c.cells, string(c.cell))
		return true, nil
	}
	c.size++
	c.cells = append(c.cells, string(c.cell))
	return false, nil
}

// quoted reads the rest of a field that began with a quote.
func (c *csvReader) quoted() (end bool, err error) {
	for {
		b, err := c.next()
		if errors.Is(err, io.EOF) {
			return true, &brokenRecord{"a quote is never closed"}
		}
		if err != nil {
			return false, err
		}
		if b != '"' {
			if err := c.put(b); err != nil {
				return false, err
			}
			continue
		}
		b, err = c.next()
		if err == nil && b == '"' {
			if err := c.put(b); err != nil {
				return false, err
			}
			continue
		}
		c.cells = append(c.cells, string(c.cell))
		return c.after(b, err)
	}
}

// after looks at what follows a closing quote.
func (c *csvReader) after(b byte, err error) (end bool, _ error) {
	if err == nil && b == '\r' {
		b, err = c.next()
		if err == nil && b != '\n' {
			return false, c.skip(b)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, err
	case b == '\n':
		return true, nil
	case b == ',':
		return false, nil
	}
	return false, c.skip(b)
}

// skip goes to the end of the line after text that follows a closing quote.
func (c *csvReader) skip(b byte) error {
	for b != '\n' {
		var err error
		if b, err = c.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	return &brokenRecord{"text follows a closing quote"}
}

func (c *csvReader) put(b byte) error {
	if c.size++; c.size > MaxRecord {
		return fmt.Errorf("the record at line %d has more than %d MB", c.begun, MaxRecord>>20)
	}
	c.cell = append(c.cell, b)
	return nil
}

func (c *csvReader) next() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil && b == '\n' {
		c.line++
	}
	return b, err
}
