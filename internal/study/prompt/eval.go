package prompt

import (
	"strings"
	"unicode/utf8"

	"assay/internal/study/prompt/lex"
)

// undefined is the value of what is not there. Only default and the tests defined and undefined take it.
type undefined struct {
	at         int
	what, hint string
}

// value evaluates what must be there.
func (x *run) value(e expr) (any, error) {
	v, err := e.eval(x)
	if u, ok := v.(*undefined); ok && err == nil {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	return v, err
}

func (e literalExpr) eval(*run) (any, error) { return e.value, nil }

func (e nameExpr) eval(x *run) (any, error) {
	for i := len(x.locals) - 1; i >= 0; i-- {
		if x.locals[i].name == e.name {
			return x.locals[i].value, nil
		}
	}
	if v, ok := x.values.lookup(e.name); ok {
		return v, nil
	}
	return &undefined{at: e.at(), what: "\"" + e.name + "\" is not defined", hint: "where it may be missing, write | default('')"}, nil
}

func (e fieldExpr) eval(x *run) (any, error) {
	of, err := x.value(e.of)
	if err != nil {
		return nil, err
	}
	return field(e.at(), e.of, of, e.name), nil
}

// field returns a field of a value, or undefined.
func field(at int, e expr, of any, name string) any {
	if v, ok := fieldOf(of, name); ok {
		return v
	}
	what := said(e) + " has no field \"" + lex.Clip(name) + "\""
	if kindOf(of) != Record.String() {
		what += ": it is " + kindOf(of)
	}
	return &undefined{at: at, what: what, hint: "where it may be missing, write | default('')"}
}

// said names an expression in a message.
func said(e expr) string {
	if path, _, ok := pathOf(e); ok {
		return lex.Clip(strings.Join(path, "."))
	}
	return "this value"
}

func (e indexExpr) eval(x *run) (any, error) {
	of, err := x.value(e.of)
	if err != nil {
		return nil, err
	}
	key, err := x.value(e.key)
	if err != nil {
		return nil, err
	}
	if name, ok := key.(string); ok {
		return field(e.at(), e.of, of, name), nil
	}
	i, whole := wholeOf(key)
	if !whole {
		return nil, x.fail(e.key.at(), "", "an element is chosen by a whole number or a name, not by %s", kindOf(key))
	}
	if s, ok := of.(string); ok {
		if err := x.read(e.at(), len(s)); err != nil {
			return nil, err
		}
		if i, ok := inside(i, utf8.RuneCountInString(s)); ok {
			return span(s, i, i+1), nil
		}
	} else if list, ok := listOnly(of); ok {
		if i, ok := inside(i, len(list)); ok {
			return list[i], nil
		}
	}
	return &undefined{at: e.at(), what: said(e.of) + " has no such element"}, nil
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

func (e sliceExpr) eval(x *run) (any, error) {
	of, err := x.value(e.of)
	if err != nil {
		return nil, err
	}
	from, err := x.bound(e.from, 0)
	if err != nil {
		return nil, err
	}
	to, err := x.bound(e.to, 1<<53)
	if err != nil {
		return nil, err
	}
	if s, ok := of.(string); ok {
		n := utf8.RuneCountInString(s)
		return span(s, clamp(from, n), clamp(to, n)), x.read(e.at(), len(s))
	}
	list, ok := listOnly(of)
	if !ok {
		return nil, x.fail(e.at(), "", "a slice is of text or of a list, not of %s", kindOf(of))
	}
	a, b := clamp(from, len(list)), clamp(to, len(list))
	return list[min(a, b):b], x.spend(e.at(), 1)
}

// bound evaluates an end of a slice.
func (x *run) bound(e expr, absent int64) (int64, error) {
	if e == nil {
		return absent, nil
	}
	v, err := x.value(e)
	if err != nil || v == nil {
		return absent, err
	}
	i, ok := wholeOf(v)
	if !ok {
		return 0, x.fail(e.at(), "", "the ends of a slice are whole numbers")
	}
	return i, nil
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

func (e listExpr) eval(x *run) (any, error) {
	list := make([]any, len(e.items))
	for i, item := range e.items {
		v, err := x.value(item)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, x.spend(e.at(), 1+len(list))
}

func (e notExpr) eval(x *run) (any, error) {
	v, err := x.value(e.of)
	return !truth(v), err
}

func (e logicExpr) eval(x *run) (any, error) {
	left, err := x.value(e.left)
	if err != nil || truth(left) == (e.op == "or") {
		return left, err
	}
	return x.value(e.right)
}

func (e choiceExpr) eval(x *run) (any, error) {
	when, err := x.value(e.when)
	switch {
	case err != nil:
		return nil, err
	case truth(when):
		return x.value(e.then)
	case e.otherwise == nil:
		return nil, nil
	}
	return x.value(e.otherwise)
}

func (e concatExpr) eval(x *run) (any, error) {
	var out []byte
	for _, part := range e.parts {
		v, err := x.value(part)
		if err != nil {
			return nil, err
		}
		var ok bool
		if out, ok = appendPlain(out, v); !ok {
			return nil, x.notText(part.at(), v)
		}
		if err := x.fits(part.at(), len(out)); err != nil {
			return nil, err
		}
	}
	return string(out), x.read(e.at(), len(out))
}

func (e testExpr) eval(x *run) (any, error) {
	v, err := e.of.eval(x)
	if err != nil {
		return nil, err
	}
	u, missing := v.(*undefined)
	if missing && e.test.holds != nil {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	if e.test.holds == nil { // defined and undefined
		return missing == (e.test.name == "undefined") != e.negated, nil
	}
	holds, ok := e.test.holds(v)
	if !ok {
		return nil, x.fail(e.at(), "", "%s is asked of a whole number, not of %s", e.test.name, kindOf(v))
	}
	return holds != e.negated, nil
}

// test is what may follow is.
type test struct {
	name  string
	holds func(v any) (holds, ok bool) // nil: takes what is undefined
}

// tests are all that a template may use.
var tests = []test{
	{name: "defined"},
	{name: "undefined"},
	{"none", func(v any) (bool, bool) { return v == nil, true }},
	{"string", isKind(Text)},
	{"number", isKind(Number, Bool)},
	{"boolean", isKind(Bool)},
	{"true", func(v any) (bool, bool) { return v == true, true }},
	{"false", func(v any) (bool, bool) { return v == false, true }},
	{"mapping", isKind(Record)},
	{"sequence", isKind(Text, List, Record)},
	{"iterable", isKind(Text, List, Record)},
	{"even", func(v any) (bool, bool) { i, ok := wholeOf(v); return i%2 == 0, ok }},
	{"odd", func(v any) (bool, bool) { i, ok := wholeOf(v); return i%2 != 0, ok }},
}

func isKind(kinds ...Kind) func(any) (bool, bool) {
	return func(v any) (bool, bool) {
		for _, k := range kinds {
			if kindOf(v) == k.String() {
				return true, true
			}
		}
		return false, true
	}
}
