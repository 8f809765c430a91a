package table

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/csvtext"
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

// head writes the names of the columns, once.
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

// readCSV yields the rows of a file under a heading. A row that cannot be read is reported, and the next one is read.
func readCSV[T any](r io.Reader, name string, columns Names, bad Report, yield func(*T, error) bool) error {
	in := newCSVReader(r)
	if !in.Scan() {
		switch err := in.Err(); {
		case err == nil:
			bad.At(assay.Place{File: name, Line: 1}, "the file is empty")
		case !in.Skip():
			return err
		default:
			bad.At(assay.Place{File: name, Line: in.Line()}, "the heading: %s", err)
		}
		return nil
	}
	head := cellsOf(in)
	places := map[string][][]int{}
	for _, c := range columnsOf(reflect.TypeFor[T]()) {
		places[columns.Of(c.name)] = append(places[columns.Of(c.name)], c.at)
	}
	into := make([][][]int, len(head))
	for i, column := range head {
		into[i] = places[column]
	}
	for {
		if !in.Scan() {
			err := in.Err()
			if err == nil || !in.Skip() {
				return err
			}
			bad.At(assay.Place{File: name, Line: in.Line()}, "%s", err)
			continue
		}
		at, row := assay.Place{File: name, Line: in.Line()}, new(T)
		if in.Fields() != len(head) {
			bad.At(at, "the row has %d fields, the heading %d", in.Fields(), len(head))
		} else if wrong := fillRow(row, cellsOf(in), head, into); wrong != nil {
			bad.At(at, "%v", wrong)
		} else if !yield(row, nil) {
			return errEnough
		}
	}
}

// newCSVReader returns a scanner that gives line ends inside quotes back as they are: an answer has to come back to the byte.
func newCSVReader(r io.Reader) *csvtext.Scanner {
	in := csvtext.NewScanner(r, ',')
	in.Verbatim, in.Max = true, MaxRecord
	return in
}

// cellsOf returns the fields of the record at hand.
func cellsOf(in *csvtext.Scanner) []string {
	cells := make([]string, in.Fields())
	for i := range cells {
		cells[i] = string(in.Field(i))
	}
	return cells
}

// fillRow sets the fields of a row from its cells; into has the fields of the row that each column is read into.
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
