package prompt

import (
	"strings"

	"assay/internal/study/prompt/lex"
	"assay/internal/study/prompt/syntax"
)

// filter holds what may follow |.
type filter struct {
	name   string
	params []string // in order
	need   int      // how many of them must be given
	takes  wants
	gives  func(in Shape) Shape
	apply  func(c *call, v any) (any, error)
}

// wants names the kinds of value that a filter takes.
type wants uint8

const (
	wantsAny  wants = iota
	wantsText       // whatever prints
	wantsSequence
	wantsNumber
)

// refuses reports whether a value of this kind is surely wrong.
func (w wants) refuses(k Kind) bool {
	switch w {
	case wantsText:
		return k == List || k == Record
	case wantsSequence:
		return k == Number || k == Bool
	case wantsNumber:
		return k != Any && k != Number
	}
	return false
}

// filters are all that a template may use.
var filters = []filter{
	{"default", []string{"default_value", "boolean"}, 0, wantsAny, nil, nil}, // evaluated by run.filter, since it takes what is undefined
	{"trim", []string{"chars"}, 0, wantsText, gives(Text), trimFilter},
	{"upper", nil, 0, wantsText, gives(Text), textFilter(strings.ToUpper)},
	{"lower", nil, 0, wantsText, gives(Text), textFilter(strings.ToLower)},
	{"title", nil, 0, wantsText, gives(Text), textFilter(title)},
	{"capitalize", nil, 0, wantsText, gives(Text), textFilter(capitalize)},
	{"length", nil, 0, wantsSequence, gives(Number), lengthFilter},
	{"join", []string{"d", "attribute"}, 0, wantsSequence, gives(Text), joinFilter},
	{"first", nil, 0, wantsSequence, element, firstFilter},
	{"last", nil, 0, wantsSequence, element, lastFilter},
	{"replace", []string{"old", "new", "count"}, 2, wantsText, gives(Text), replaceFilter},
	{"truncate", []string{"length", "killwords", "end", "leeway"}, 0, wantsText, gives(Text), truncateFilter},
	{"wordcount", nil, 0, wantsText, gives(Number), wordcountFilter},
	{"indent", []string{"width", "first", "blank"}, 0, wantsText, gives(Text), indentFilter},
	{"tojson", []string{"indent"}, 0, wantsAny, gives(Text), jsonFilter},
	{"round", []string{"precision", "method"}, 0, wantsNumber, gives(Number), roundFilter},
	{"int", []string{"default"}, 0, wantsText, gives(Number), intFilter},
	{"float", []string{"default"}, 0, wantsText, gives(Number), floatFilter},
	{"string", nil, 0, wantsText, gives(Text), textFilter(func(s string) string { return s })},
	{"sort", []string{"reverse", "case_sensitive", "attribute"}, 0, wantsSequence, sequence, sortFilter},
	{"unique", []string{"case_sensitive", "attribute"}, 0, wantsSequence, sequence, uniqueFilter},
	{"list", nil, 0, wantsSequence, sequence, listFilter},
}

// test holds what may follow is.
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

// vocabulary holds the names of filters and tests for the parser.
var vocabulary = func() (v syntax.Vocabulary) {
	for _, f := range filters {
		v.Filters = append(v.Filters, syntax.Signature{Name: f.name, Params: f.params, Need: f.need})
	}
	for _, t := range tests {
		v.Tests = append(v.Tests, t.name)
	}
	return v
}()

func gives(k Kind) func(Shape) Shape { return func(Shape) Shape { return Shape{Kind: k} } }

func sequence(in Shape) Shape {
	if in.Kind == List {
		return in
	}
	return Shape{Kind: List}
}

func (x *run) filter(e syntax.Filter) (any, error) {
	v, err := x.eval(e.Of)
	if err != nil {
		return nil, err
	}
	c := &call{x: x, e: e, f: filters[e.Filter], args: make([]any, len(e.Args))}
	for i, arg := range e.Args {
		if arg == nil {
			continue
		}
		if c.args[i], err = x.value(arg); err != nil {
			return nil, err
		}
	}
	if err := x.spend(e.At(), 1); err != nil {
		return nil, err
	}
	u, missing := v.(*undefined)
	if c.f.apply == nil {
		if missing || truth(c.args[1]) && !truth(v) {
			return c.orElse(0, ""), nil
		}
		return v, nil
	}
	if missing {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	return c.f.apply(c, v)
}

// call is one use of a filter.
type call struct {
	x    *run
	e    syntax.Filter
	f    filter
	args []any // nil: not given
}

func (c *call) fail(format string, args ...any) error {
	return c.x.fail(c.e.At(), "", c.f.name+" "+format, args...)
}

// orElse returns an argument, or what stands for one not given.
func (c *call) orElse(i int, absent any) any {
	if c.e.Args[i] == nil {
		return absent
	}
	return c.args[i]
}

// text returns a value as text, paid for.
func (c *call) text(v any) (string, error) {
	s, ok := plain(v)
	if !ok {
		return "", c.x.notText(c.e.At(), v)
	}
	return s, c.x.read(c.e.At(), len(s))
}

// textArg returns an argument that is text.
func (c *call) textArg(i int, absent string) (string, error) {
	return c.text(c.orElse(i, absent))
}

// wholeArg returns an argument that is a whole number of at most a million.
func (c *call) wholeArg(i int, absent int) (int, error) {
	if c.args[i] == nil {
		return absent, nil
	}
	const most = 1_000_000
	n, ok := wholeOf(c.args[i])
	if !ok || n < -most || n > most {
		return 0, c.fail("needs a whole number up to a million as %s", c.f.params[i])
	}
	return int(n), nil
}

// sequence returns the elements of a value, paid for.
func (c *call) sequence(v any) ([]any, error) {
	all, ok := sequenceOf(v)
	if !ok {
		return nil, c.fail("needs a list, not %s", kindOf(v))
	}
	return all, c.x.spend(c.e.At(), len(all))
}

// attribute returns the field of an element that the argument names (a.b reaches inside), or the element itself.
func (c *call) attribute(i int, v any) (any, error) {
	if c.args[i] == nil {
		return v, nil
	}
	path, ok := c.args[i].(string)
	if !ok {
		return nil, c.fail("needs the name of a field as attribute")
	}
	for _, name := range strings.Split(path, ".") {
		next, ok := fieldOf(v, name)
		if !ok {
			return nil, c.fail("found an element without the field %s", lex.Clip(name))
		}
		v = next
	}
	return v, nil
}
