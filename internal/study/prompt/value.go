package prompt

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of value that a name stands for.
type Kind uint8

// The kinds of value. Any is one that is known only when the data is read.
const (
	Any Kind = iota
	Text
	Number
	Bool
	List
	Record
)

// String returns the kind as messages say it, with its article.
func (k Kind) String() string {
	return [...]string{"any value", "text", "a number", "true or false", "a list", "a record"}[k]
}

// Shape holds what is known of a value before there is one. The zero value knows nothing.
type Shape struct {
	Kind   Kind
	Fields map[string]Shape // of a record
	Open   bool             // a record may have further fields
	Elem   *Shape           // of a list; nil: anything
}

// Scope holds what a template may use. Fields are those of the item, found bare and under item; Open says that the item may have more
// of them than are known yet. Names are all others (answer, trait …); where a field has the same name, the field is found under item only.
type Scope struct {
	Fields map[string]Shape
	Open   bool
	Names  map[string]Shape
}

func (s Scope) lookup(name string) (Shape, bool) {
	if shape, ok := s.Names[name]; ok {
		return shape, true
	}
	if name == "item" && (s.Fields != nil || s.Open) {
		return Shape{Kind: Record, Fields: s.Fields, Open: s.Open}, true
	}
	if shape, ok := s.Fields[name]; ok {
		return shape, true
	}
	return Shape{}, s.Open
}

// known lists every name of the scope in order.
func (s Scope) known() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(s.Names)), maps.Keys(s.Fields))
	if s.Fields != nil || s.Open {
		all = append(all, "item")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Values fill a template. Fields are the item's own map, found bare and under item without a copy; Names come first. A value is a
// string, bool, int, int64, float64, json.Number, nil, or a list ([]any, []string) or record (map[string]any, map[string]string) of them.
// Rendering only reads them.
type Values struct {
	Fields map[string]any
	Names  map[string]any
}

func (v Values) lookup(name string) (any, bool) {
	if value, ok := v.Names[name]; ok {
		return value, true
	}
	if name == "item" && v.Fields != nil {
		return v.Fields, true
	}
	value, ok := v.Fields[name]
	return value, ok
}

func element(s Shape) Shape {
	switch {
	case s.Kind == Text || s.Kind == Record:
		return Shape{Kind: Text}
	case s.Kind == List && s.Elem != nil:
		return *s.Elem
	}
	return Shape{}
}

// either returns what is known of a value that has one of two shapes.
func either(a, b Shape) Shape {
	if a.Kind != b.Kind || a.Kind == List || a.Kind == Record {
		return Shape{}
	}
	return a
}

// kindOf returns what a value is, as messages say it.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "none"
	case string:
		return Text.String()
	case int, int64, float64, json.Number:
		return Number.String()
	case bool:
		return Bool.String()
	case []any, []string:
		return List.String()
	case map[string]any, map[string]string, *loopState:
		return Record.String()
	}
	return "a value of an unknown type"
}

// appendPlain appends a value as text. Lists and records are not ok.
func appendPlain(dst []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
	case string:
		dst = append(dst, v...)
	case bool:
		dst = strconv.AppendBool(dst, v)
	case int:
		dst = strconv.AppendInt(dst, int64(v), 10)
	case int64:
		dst = strconv.AppendInt(dst, v, 10)
	case float64:
		dst = appendFloat(dst, v)
	case json.Number:
		dst = append(dst, v...)
	default:
		return dst, false
	}
	return dst, true
}

// appendFloat writes a number as JSON does: whole numbers below 1e21 without point or exponent.
func appendFloat(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f+0, 'f', -1, 64) // +0 takes the sign from -0
}

// plain returns a value as text.
func plain(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	b, ok := appendPlain(nil, v)
	return string(b), ok
}

func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case bool:
		return v
	case []any:
		return len(v) > 0
	case []string:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	case map[string]string:
		return len(v) > 0
	}
	if n, ok := numberOf(v); ok {
		return n.float() != 0
	}
	return true
}

// number is an int64 or a float64.
type number struct {
	i       int64
	f       float64
	isFloat bool
}

func (n number) float() float64 {
	if n.isFloat {
		return n.f
	}
	return float64(n.i)
}

func (n number) value() any {
	if n.isFloat {
		return n.f
	}
	return n.i
}

// whole returns the number as an integer, if it is one.
func (n number) whole() (int64, bool) {
	if !n.isFloat {
		return n.i, true
	}
	if n.f != math.Trunc(n.f) || math.Abs(n.f) >= 1<<53 {
		return 0, false
	}
	return int64(n.f), true
}

// numberOf reads a number; true and false are none.
func numberOf(v any) (number, bool) {
	switch v := v.(type) {
	case int:
		return number{i: int64(v)}, true
	case int64:
		return number{i: v}, true
	case float64:
		return number{f: v, isFloat: true}, true
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return number{i: i}, true
		}
		f, err := v.Float64()
		return number{f: f, isFloat: true}, err == nil
	}
	return number{}, false
}

// scalarOf reads a number, and true and false as 1 and 0, which is how Python compares them.
func scalarOf(v any) (number, bool) {
	if b, ok := v.(bool); ok {
		if b {
			return number{i: 1}, true
		}
		return number{}, true
	}
	return numberOf(v)
}

func compareNumbers(a, b number) int {
	if !a.isFloat && !b.isFloat {
		return cmp.Compare(a.i, b.i)
	}
	return cmp.Compare(a.float(), b.float())
}

// listOf returns a list, or the keys of a record in order.
func listOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		return boxed(v), true
	case map[string]any:
		return boxed(slices.Sorted(maps.Keys(v))), true
	case map[string]string:
		return boxed(slices.Sorted(maps.Keys(v))), true
	}
	return nil, false
}

// sequenceOf returns a list, the keys of a record, or the characters of a text.
func sequenceOf(v any) ([]any, bool) {
	if s, ok := v.(string); ok {
		return boxed(strings.Split(s, "")), true
	}
	return listOf(v)
}

func boxed(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// fieldOf returns a field of a record.
func fieldOf(v any, name string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		f, ok := v[name]
		return f, ok
	case map[string]string:
		f, ok := v[name]
		return f, ok
	case *loopState:
		return v.field(name)
	}
	return nil, false
}

// inside returns an index, counted from the end when negative, if it is one of n.
func inside(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), 0 <= i && i < int64(n)
}

func wholeOf(v any) (int64, bool) {
	n, ok := numberOf(v)
	if !ok {
		return 0, false
	}
	return n.whole()
}

func listOnly(v any) ([]any, bool) {
	switch v.(type) {
	case []any, []string:
		return listOf(v)
	}
	return nil, false
}

// clamp turns an index, counted from the end when negative, into one within 0 and n.
func clamp(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n)))
}

// span returns the characters of a text from one up to another.
func span(s string, from, to int) string {
	start := runeOffset(s, from)
	return s[start : start+runeOffset(s[start:], to-from)]
}

// runeOffset returns the offset behind the first n characters.
func runeOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// orderOf compares two numbers or two texts.
func orderOf(a, b any) (int, bool) {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		return strings.Compare(s, t), ok
	}
	m, ok1 := scalarOf(a)
	n, ok2 := scalarOf(b)
	return compareNumbers(m, n), ok1 && ok2
}

// loopState is the value of loop.
type loopState struct{ index, length int }

// loopFields are the fields of loop.
var loopFields = map[string]Shape{
	"index": {Kind: Number}, "index0": {Kind: Number}, "revindex": {Kind: Number}, "revindex0": {Kind: Number},
	"length": {Kind: Number}, "first": {Kind: Bool}, "last": {Kind: Bool},
}

func (l *loopState) field(name string) (any, bool) {
	switch name {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return l.length - l.index, true
	case "revindex0":
		return l.length - l.index - 1, true
	case "length":
		return l.length, true
	case "first":
		return l.index == 0, true
	case "last":
		return l.index == l.length-1, true
	}
	return nil, false
}
