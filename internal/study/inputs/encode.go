package inputs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// maxEncoded is how deep an encoded item may be.
const maxEncoded = 10 * jsontext.RowDepth

// Encode appends an item as one line of canonical JSON, without a line end: the same item always gives the same bytes,
// and reading them gives the same item back, with its types. A float64 carries a point or an exponent, an int64
// neither. Text that is not UTF-8 or holds NUL, numbers that are none, and other Go types than those of an item's
// fields are errors.
func Encode(dst []byte, it assay.Item) ([]byte, error) {
	e := encoder{out: dst}
	e.raw(`{"id":`)
	e.text(it.ID)
	if it.Cluster != it.ID {
		e.raw(`,"cluster":`)
		e.text(it.Cluster)
	}
	if it.Expect != "" {
		e.raw(`,"expect":`)
		e.text(it.Expect)
	}
	if it.Fields != nil {
		e.raw(`,"fields":`)
		e.value(it.Fields, 0)
	}
	if len(it.Files) > 0 {
		e.raw(`,"files":`)
		files, err := assay.EncodeFiles(it.Files)
		if err != nil {
			e.fail("%w", err)
		}
		e.raw(files)
	}
	if it.Place != (assay.Place{}) {
		e.raw(`,"place":[`)
		e.text(it.Place.File)
		e.raw(",")
		e.out = strconv.AppendInt(e.out, int64(it.Place.Line), 10)
		e.raw(",")
		e.out = strconv.AppendInt(e.out, int64(it.Place.Col), 10)
		e.raw("]")
	}
	e.raw("}")
	if e.err != nil {
		return dst, fmt.Errorf("encode item %s: %w", quote(it.ID), e.err)
	}
	return e.out, nil
}

// encoder appends JSON and keeps its first error.
type encoder struct {
	out []byte
	err error
}

func (e *encoder) raw(s string) { e.out = append(e.out, s...) }

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) value(v any, depth int) {
	if depth > maxEncoded-2 { // it is nested in the item and its fields
		e.fail("more than %d levels deep", maxEncoded)
		return
	}
	switch v := v.(type) {
	case nil:
		e.raw("null")
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case string:
		e.text(v)
	case int64:
		e.out = strconv.AppendInt(e.out, v, 10)
	case float64:
		e.float(v)
	case json.Number:
		if n, err := jsontext.NewParser().Parse([]byte(v)); err != nil || kindOf(n) != "a number" {
			e.fail("%s is not a number", quote(v.String()))
		}
		e.raw(v.String())
	case []any:
		e.list(v, depth)
	case map[string]any:
		e.record(v, depth)
	default:
		e.fail("a value of type %T cannot be a field", v)
	}
}

func (e *encoder) list(list []any, depth int) {
	e.raw("[")
	for i, v := range list {
		if i > 0 {
			e.raw(",")
		}
		e.value(v, depth+1)
	}
	e.raw("]")
}

func (e *encoder) record(fields map[string]any, depth int) {
	e.raw("{")
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			e.raw(",")
		}
		e.text(name)
		e.raw(":")
		e.value(fields[name], depth+1)
	}
	e.raw("}")
}

// float writes the shortest text that reads back as the same float64, and never as an integer.
func (e *encoder) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.fail("%v is not a number", f)
		return
	}
	start := len(e.out)
	e.out = strconv.AppendFloat(e.out, f, 'g', -1, 64)
	for _, c := range e.out[start:] {
		if c == '.' || c == 'e' {
			return
		}
	}
	e.raw(".0")
}

// text writes a string with as few escapes as JSON allows; line ends are among them, so that an item is one line.
func (e *encoder) text(s string) {
	if !utf8.ValidString(s) {
		e.fail("%s is not UTF-8", quote(s))
	}
	e.raw(`"`)
	for {
		n := jsontext.Plain(s)
		e.raw(s[:n])
		if n == len(s) {
			break
		}
		c := s[n]
		s = s[n+1:]
		if c == 0 {
			e.fail("NUL in a text")
		}
		e.out = jsontext.AppendEscape(e.out, c)
	}
	e.raw(`"`)
}
