package prompt

import (
	"unicode/utf8"

	"assay/internal/study/prompt/lex"
	"assay/internal/study/prompt/syntax"
)

// undefined is the value of what is not there. Only default and the tests defined and undefined take it.
type undefined struct {
	at         int
	what, hint string
}

// value evaluates what must be there.
func (x *run) value(e syntax.Expr) (any, error) {
	v, err := x.eval(e)
	if u, ok := v.(*undefined); ok && err == nil {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	return v, err
}

func (x *run) eval(e syntax.Expr) (any, error) {
	switch e := e.(type) {
	case syntax.Literal:
		return e.Value, nil
	case syntax.Name:
		return x.name(e), nil
	case syntax.Field:
		return x.field(e)
	case syntax.Index:
		return x.index(e)
	case syntax.Slice:
		return x.slice(e)
	case syntax.List:
		return x.list(e)
	case syntax.Not:
		v, err := x.value(e.Of)
		return !truth(v), err
	case syntax.Sign:
		return x.sign(e)
	case syntax.Logic:
		return x.logic(e)
	case syntax.Choice:
		return x.choice(e)
	case syntax.Compare:
		return x.comparison(e)
	case syntax.Math:
		return x.math(e)
	case syntax.Concat:
		return x.concat(e)
	case syntax.Filter:
		return x.filter(e)
	case syntax.Test:
		return x.test(e)
	}
	return nil, nil
}

func (x *run) name(e syntax.Name) any {
	for i := len(x.locals) - 1; i >= 0; i-- {
		if x.locals[i].name == e.Name {
			return x.locals[i].value
		}
	}
	if v, ok := x.values.lookup(e.Name); ok {
		return v
	}
	return &undefined{at: e.At(), what: "\"" + e.Name + "\" is not defined", hint: "where it may be missing, write | default('')"}
}

func (x *run) field(e syntax.Field) (any, error) {
	of, err := x.value(e.Of)
	if err != nil {
		return nil, err
	}
	return field(e.At(), e.Of, of, e.Name), nil
}

// field returns a field of a value, or undefined.
func field(at int, e syntax.Expr, of any, name string) any {
	if v, ok := fieldOf(of, name); ok {
		return v
	}
	what := syntax.Words(e) + " has no field \"" + lex.Clip(name) + "\""
	if kindOf(of) != Record.String() {
		what += ": it is " + kindOf(of)
	}
	return &undefined{at: at, what: what, hint: "where it may be missing, write | default('')"}
}

func (x *run) index(e syntax.Index) (any, error) {
	of, err := x.value(e.Of)
	if err != nil {
		return nil, err
	}
	key, err := x.value(e.Key)
	if err != nil {
		return nil, err
	}
	if name, ok := key.(string); ok {
		return field(e.At(), e.Of, of, name), nil
	}
	i, whole := wholeOf(key)
	if !whole {
		return nil, x.fail(e.Key.At(), "", "an element is chosen by a whole number or a name, not by %s", kindOf(key))
	}
	if s, ok := of.(string); ok {
		if err := x.read(e.At(), len(s)); err != nil {
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
	return &undefined{at: e.At(), what: syntax.Words(e.Of) + " has no such element"}, nil
}

func (x *run) slice(e syntax.Slice) (any, error) {
	of, err := x.value(e.Of)
	if err != nil {
		return nil, err
	}
	from, err := x.bound(e.From, 0)
	if err != nil {
		return nil, err
	}
	to, err := x.bound(e.To, 1<<53)
	if err != nil {
		return nil, err
	}
	if s, ok := of.(string); ok {
		n := utf8.RuneCountInString(s)
		return span(s, clamp(from, n), clamp(to, n)), x.read(e.At(), len(s))
	}
	list, ok := listOnly(of)
	if !ok {
		return nil, x.fail(e.At(), "", "a slice is of text or of a list, not of %s", kindOf(of))
	}
	a, b := clamp(from, len(list)), clamp(to, len(list))
	return list[min(a, b):b], x.spend(e.At(), 1)
}

// bound evaluates an end of a slice.
func (x *run) bound(e syntax.Expr, absent int64) (int64, error) {
	if e == nil {
		return absent, nil
	}
	v, err := x.value(e)
	if err != nil || v == nil {
		return absent, err
	}
	i, ok := wholeOf(v)
	if !ok {
		return 0, x.fail(e.At(), "", "the ends of a slice are whole numbers")
	}
	return i, nil
}

func (x *run) list(e syntax.List) (any, error) {
	list := make([]any, len(e.Items))
	for i, item := range e.Items {
		v, err := x.value(item)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, x.spend(e.At(), 1+len(list))
}

func (x *run) logic(e syntax.Logic) (any, error) {
	left, err := x.value(e.Left)
	if err != nil || truth(left) == (e.Op == "or") {
		return left, err
	}
	return x.value(e.Right)
}

func (x *run) choice(e syntax.Choice) (any, error) {
	when, err := x.value(e.When)
	switch {
	case err != nil:
		return nil, err
	case truth(when):
		return x.value(e.Then)
	case e.Otherwise == nil:
		return nil, nil
	}
	return x.value(e.Otherwise)
}

func (x *run) concat(e syntax.Concat) (any, error) {
	var out []byte
	for _, part := range e.Parts {
		v, err := x.value(part)
		if err != nil {
			return nil, err
		}
		var ok bool
		if out, ok = appendPlain(out, v); !ok {
			return nil, x.notText(part.At(), v)
		}
		if err := x.fits(part.At(), len(out)); err != nil {
			return nil, err
		}
	}
	return string(out), x.read(e.At(), len(out))
}

func (x *run) test(e syntax.Test) (any, error) {
	v, err := x.eval(e.Of)
	if err != nil {
		return nil, err
	}
	t := tests[e.Test]
	u, missing := v.(*undefined)
	if missing && t.holds != nil {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	if t.holds == nil { // defined and undefined
		return missing == (t.name == "undefined") != e.Negated, nil
	}
	holds, ok := t.holds(v)
	if !ok {
		return nil, x.fail(e.At(), "", "%s is asked of a whole number, not of %s", t.name, kindOf(v))
	}
	return holds != e.Negated, nil
}
