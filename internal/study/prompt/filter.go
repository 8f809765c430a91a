package prompt

import (
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

// filter is what may follow |.
type filter struct {
	name   string
	params []string // in order
	need   int      // how many of them must be given
	takes  wants
	gives  func(in Shape) Shape
	apply  func(c *call, v any) (any, error)
}

// wants is what a filter can do something with.
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
	{"default", []string{"default_value", "boolean"}, 0, wantsAny, nil, nil}, // evaluated by filterExpr, since it takes what is undefined
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

// short are Jinja's second names of filters.
var short = map[string]string{"d": "default", "count": "length"}

func gives(k Kind) func(Shape) Shape { return func(Shape) Shape { return Shape{Kind: k} } }

func sequence(in Shape) Shape {
	if in.Kind == List {
		return in
	}
	return Shape{Kind: List}
}

// filter reads the name and the arguments of a filter.
func (p *parser) filter(of expr) expr {
	tok := p.peek()
	if tok.Kind != lex.Name {
		p.fail(tok.At, "", "expected the name of a filter, not %s", tok.Quoted())
		return of
	}
	p.next++
	name := tok.Text
	if long, ok := short[name]; ok {
		name = long
	}
	var names []string
	for i := range filters {
		if filters[i].name == name {
			e := filterExpr{pos(tok.At), of, &filters[i], make([]expr, len(filters[i].params))}
			p.arguments(e)
			return e
		}
		names = append(names, filters[i].name)
	}
	p.fail(tok.At, orList(assay.DidYouMean(name, names), "filters", names), "unknown filter %s", lex.Clip(name))
	return of
}

// arguments reads what stands in ( ) behind a filter, by position or by name.
func (p *parser) arguments(e filterExpr) {
	given := 0
	if p.accept("(") {
		for !p.broken && !p.accept(")") {
			p.argument(e, given)
			given++
			if !p.peek().Is(")") {
				p.expect(",")
			}
		}
	}
	for i := range e.filter.need {
		if e.args[i] == nil {
			p.fail(e.at(), "", "%s needs %s", e.filter.name, strings.Join(e.filter.params[:e.filter.need], " and "))
			return
		}
	}
}

func (p *parser) argument(e filterExpr, i int) {
	tok := p.peek()
	if tok.Kind == lex.Name && p.next+1 < len(p.tag.Tokens) && p.tag.Tokens[p.next+1].Is("=") {
		i = len(e.filter.params)
		for j, param := range e.filter.params {
			if param == tok.Text {
				i = j
			}
		}
		if i == len(e.filter.params) {
			hint := orList(assay.DidYouMean(tok.Text, e.filter.params), "it has", e.filter.params)
			p.fail(tok.At, hint, "%s has no parameter %s", e.filter.name, lex.Clip(tok.Text))
			return
		}
		p.next += 2
	}
	value := p.expression()
	switch {
	case i >= len(e.filter.params):
		p.fail(tok.At, orList("", "it has", e.filter.params), "too many arguments for %s", e.filter.name)
	case e.args[i] != nil:
		p.fail(tok.At, "", "%s is given twice", e.filter.params[i])
	default:
		e.args[i] = value
	}
}

func (e filterExpr) eval(x *run) (any, error) {
	v, err := e.of.eval(x)
	if err != nil {
		return nil, err
	}
	c := &call{x: x, e: e, args: make([]any, len(e.args))}
	for i, arg := range e.args {
		if arg == nil {
			continue
		}
		if c.args[i], err = x.value(arg); err != nil {
			return nil, err
		}
	}
	if err := x.spend(e.at(), 1); err != nil {
		return nil, err
	}
	u, missing := v.(*undefined)
	if e.filter.apply == nil {
		if missing || truth(c.args[1]) && !truth(v) {
			return c.orElse(0, ""), nil
		}
		return v, nil
	}
	if missing {
		return nil, x.fail(u.at, u.hint, "%s", u.what)
	}
	return e.filter.apply(c, v)
}

// call is one use of a filter.
type call struct {
	x    *run
	e    filterExpr
	args []any // nil: not given
}

func (c *call) fail(format string, args ...any) error {
	return c.x.fail(c.e.at(), "", c.e.filter.name+" "+format, args...)
}

// orElse returns an argument, or what stands for one not given.
func (c *call) orElse(i int, absent any) any {
	if c.e.args[i] == nil {
		return absent
	}
	return c.args[i]
}

// text returns a value as text, paid for.
func (c *call) text(v any) (string, error) {
	s, ok := plain(v)
	if !ok {
		return "", c.x.notText(c.e.at(), v)
	}
	return s, c.x.read(c.e.at(), len(s))
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
		return 0, c.fail("needs a whole number up to a million as %s", c.e.filter.params[i])
	}
	return int(n), nil
}

// sequence returns the elements of a value, paid for.
func (c *call) sequence(v any) ([]any, error) {
	all, ok := sequenceOf(v)
	if !ok {
		return nil, c.fail("needs a list, not %s", kindOf(v))
	}
	return all, c.x.spend(c.e.at(), len(all))
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
