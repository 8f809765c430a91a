package prompt

import (
	"maps"
	"slices"
)

// Kind is what sort of value a name stands for.
type Kind uint8

// The kinds of value. Any is what is known only when the data is read.
const (
	Any Kind = iota
	Text
	Number
	Bool
	List
	Record
)

// String is the kind as messages say it, with its article.
func (k Kind) String() string {
	return [...]string{"any value", "text", "a number", "true or false", "a list", "a record"}[k]
}

// Shape is what is known of a value before there is one. The zero value knows nothing.
type Shape struct {
	Kind   Kind
	Fields map[string]Shape // of a record
	Open   bool             // a record may have further fields
	Elem   *Shape           // of a list; nil: anything
}

// Scope is what a template may use. Fields are those of the item, found bare and under item; Open says that the item may have more
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

// either is what is known of a value that has one of two shapes.
func either(a, b Shape) Shape {
	if a.Kind != b.Kind || a.Kind == List || a.Kind == Record {
		return Shape{}
	}
	return a
}
