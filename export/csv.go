package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// formulas are the characters with which a spreadsheet lets a formula begin.
const formulas = "=+-@\t\r\n"

// Safe marks a text that a spreadsheet would take for a formula with an apostrophe. A text that looks marked already gets
// one more, so that Plain gives back every text as it was.
func Safe(text string) string {
	if rest := strings.TrimLeft(text, "'"); rest != "" && strings.IndexByte(formulas, rest[0]) >= 0 {
		return "'" + text
	}
	return text
}

// Plain takes the mark of Safe away.
func Plain(text string) string {
	if rest := strings.TrimLeft(text, "'"); len(rest) < len(text) && rest != "" && strings.IndexByte(formulas, rest[0]) >= 0 {
		return text[1:]
	}
	return text
}

// csvTable writes rows of a struct under the names of its JSON fields.
type csvTable[T any] struct {
	out   *csv.Writer
	cells []string
	begun bool
}

func newCSVTable[T any](w io.Writer) *csvTable[T] {
	return &csvTable[T]{out: csv.NewWriter(bufio.NewWriterSize(w, 1<<16))}
}

func (t *csvTable[T]) head() error {
	if t.begun {
		return nil
	}
	t.begun = true
	return t.out.Write(columnsOf[T]())
}

func (t *csvTable[T]) Write(row *T) error {
	if err := t.head(); err != nil {
		return err
	}
	v := reflect.ValueOf(row).Elem()
	t.cells = t.cells[:0]
	for i := range v.NumField() {
		text, err := cellOf(v.Field(i))
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

// columnsOf are the names of a row's columns.
func columnsOf[T any]() []string {
	var names []string
	for f := range fieldsOf[T]() {
		names = append(names, f)
	}
	return names
}

func fieldsOf[T any]() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		t := reflect.TypeFor[T]()
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if !yield(name) {
				return
			}
		}
	}
}

// cellOf is one value of a row as a cell.
func cellOf(v reflect.Value) (string, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return Safe(v.String()), nil
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
		v.SetString(Plain(cell))
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
