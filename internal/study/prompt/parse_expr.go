package prompt

import (
	"slices"
	"strings"

	"assay/internal/assay"
)

// peek is the current token; behind a problem it is the end of the tag.
func (p *parser) peek() token {
	if !p.broken && p.next < len(p.tag.tokens) {
		return p.tag.tokens[p.next]
	}
	if n := len(p.tag.tokens); n > 0 {
		return p.tag.tokens[n-1]
	}
	return token{kind: tokEnd, at: p.tag.at}
}

func (p *parser) accept(words ...string) bool {
	if p.peek().is(words...) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		p.fail(p.peek().at, "", "expected %s, not %s", word, p.peek().said())
	}
}

// deeper guards every way an expression can contain itself.
func (p *parser) deeper(read func() expr) expr {
	p.level++
	defer func() { p.level-- }()
	if p.level > maxLevels {
		p.fail(p.peek().at, "use set for the parts", "the expression is nested more than %d deep", maxLevels)
	}
	return read()
}

// expression reads a whole expression: a if b else c, and all that binds tighter.
func (p *parser) expression() expr { return p.deeper(p.choice) }

func (p *parser) choice() expr {
	then := p.or()
	for at := p.peek().at; p.accept("if"); at = p.peek().at {
		c := choiceExpr{pos: pos(at), then: then, when: p.or()}
		if p.accept("else") {
			c.otherwise = p.expression()
		}
		then = c
	}
	return then
}

func (p *parser) or() expr {
	left := p.and()
	for at := p.peek().at; p.accept("or"); at = p.peek().at {
		left = logicExpr{pos(at), "or", left, p.and()}
	}
	return left
}

func (p *parser) and() expr {
	left := p.not()
	for at := p.peek().at; p.accept("and"); at = p.peek().at {
		left = logicExpr{pos(at), "and", left, p.not()}
	}
	return left
}

func (p *parser) not() expr {
	if at := p.peek().at; p.accept("not") {
		return notExpr{pos(at), p.deeper(p.not)}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	c := compareExpr{pos: pos(p.peek().at), first: p.sum()}
	for {
		tok := p.peek()
		op := tok.text
		switch {
		case tok.is("==", "!=", "<", "<=", ">", ">=", "in"):
		case tok.is("not") && p.next+1 < len(p.tag.tokens) && p.tag.tokens[p.next+1].is("in"):
			p.next++
			op = "not in"
		case len(c.rest) == 0:
			return c.first
		default:
			return c
		}
		p.next++
		c.rest = append(c.rest, comparison{pos(tok.at), op, p.sum()})
	}
}

func (p *parser) sum() expr { return p.math(p.concat, "+", "-") }

func (p *parser) concat() expr {
	c := concatExpr{pos: pos(p.peek().at), parts: []expr{p.product()}}
	for p.accept("~") {
		c.parts = append(c.parts, p.product())
	}
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return c
}

func (p *parser) product() expr { return p.math(p.power, "*", "/", "//", "%") }

func (p *parser) power() expr { return p.math(p.unary, "**") }

func (p *parser) math(operand func() expr, ops ...string) expr {
	left := operand()
	for op := p.peek(); p.accept(ops...); op = p.peek() {
		left = mathExpr{pos(op.at), op.text, left, operand()}
	}
	return left
}

// unary reads a signed value; filters apply to the value with its sign, as in Jinja.
func (p *parser) unary() expr { return p.filters(p.signed()) }

func (p *parser) signed() expr {
	if tok := p.peek(); p.accept("-", "+") {
		return p.postfix(signExpr{pos(tok.at), tok.text, p.deeper(p.signed)})
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() expr {
	tok := p.peek()
	switch {
	case tok.kind == tokLiteral:
		return p.literal()
	case tok.kind == tokName && !reserved(tok.text):
		p.next++
		if value, ok := constants[tok.text]; ok {
			return literalExpr{pos(tok.at), value}
		}
		return nameExpr{pos(tok.at), tok.text}
	case tok.is("("):
		p.next++
		return p.deeper(func() expr { return p.parens(tok.at) })
	case tok.is("["):
		p.next++
		return p.deeper(func() expr { return listExpr{pos(tok.at), p.items("]")} })
	}
	if tok.kind == tokEnd && p.next == 0 {
		p.fail(tok.at, "", "there is nothing between the braces")
	} else {
		p.fail(tok.at, "", "expected a value, not %s", tok.said())
	}
	return literalExpr{pos: pos(tok.at)}
}

// constants are the words that are values.
var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func reserved(word string) bool {
	return slices.Contains([]string{"and", "or", "not", "in", "is", "if", "else", "elif"}, word)
}

// literal reads a number or a text; texts that stand side by side are one, as in Jinja.
func (p *parser) literal() expr {
	tok := p.peek()
	p.next++
	text, ok := tok.value.(string)
	if !ok {
		return literalExpr{pos(tok.at), tok.value}
	}
	for {
		more, ok := p.peek().value.(string)
		if !ok {
			return literalExpr{pos(tok.at), text}
		}
		text += more
		p.next++
	}
}

// parens reads what stands in ( ): an expression, or a list where there is a comma or nothing.
func (p *parser) parens(at int) expr {
	if p.accept(")") {
		return listExpr{pos: pos(at)}
	}
	first := p.expression()
	if p.accept(",") {
		return listExpr{pos(at), append([]expr{first}, p.items(")")...)}
	}
	p.expect(")")
	return first
}

// items reads the rest of a list, its bracket included.
func (p *parser) items(closer string) []expr {
	var all []expr
	for !p.broken && !p.accept(closer) {
		all = append(all, p.expression())
		if !p.peek().is(closer) {
			p.expect(",")
		}
	}
	return all
}

// postfix reads fields and elements behind a value.
func (p *parser) postfix(e expr) expr {
	for {
		tok := p.peek()
		switch {
		case tok.is("."):
			p.next++
			e = p.field(e)
		case tok.is("["):
			p.next++
			e = p.deeper(func() expr { return p.element(e, tok.at) })
		case tok.is("("):
			p.call(e)
			return e
		default:
			return e
		}
	}
}

func (p *parser) field(of expr) expr {
	tok := p.peek()
	p.next++
	if i, ok := tok.value.(int64); ok && tok.kind == tokLiteral {
		return indexExpr{pos(tok.at), of, literalExpr{pos(tok.at), i}}
	}
	if tok.kind != tokName {
		p.next--
		p.fail(tok.at, "", "expected the name of a field, not %s", tok.said())
	}
	return fieldExpr{pos(tok.at), of, tok.text}
}

func (p *parser) element(of expr, at int) expr {
	var from, to expr
	if !p.peek().is(":") {
		from = p.expression()
	}
	if !p.accept(":") {
		p.expect("]")
		if lit, ok := from.(literalExpr); ok {
			if name, ok := lit.value.(string); ok {
				return fieldExpr{lit.pos, of, name}
			}
		}
		return indexExpr{pos(at), of, from}
	}
	if !p.peek().is("]", ":") {
		to = p.expression()
	}
	if p.peek().is(":") {
		p.fail(p.peek().at, "", "a slice has no step here")
	}
	p.expect("]")
	return sliceExpr{pos(at), of, from, to}
}

// call refuses a call and says what to write instead.
func (p *parser) call(e expr) {
	hint := "a template calls no functions; see the filters"
	name := ""
	switch e := e.(type) {
	case nameExpr:
		name = e.name
		if name == "range" {
			hint = "loop over a field"
		}
	case fieldExpr:
		name = e.name
		if h := methods[e.name]; h != "" {
			hint = h
		}
	}
	p.fail(e.at(), hint, "%s() cannot be called", clip(name))
}

// methods are calls that Jinja templates often make, with what does the same here.
var methods = map[string]string{
	"upper": "write | upper", "lower": "write | lower", "title": "write | title", "capitalize": "write | capitalize",
	"strip": "write | trim", "lstrip": "write | trim", "rstrip": "write | trim", "replace": "write | replace(old, new)",
	"join": "write list | join(text)", "get": "write | default(value)", "keys": "loop over the record itself",
	"items":  "loop over the keys: {% for k in record %}{{ record[k] }}",
	"values": "loop over the keys: {% for k in record %}{{ record[k] }}",
}

// filters reads | filter and is test behind a value.
func (p *parser) filters(e expr) expr {
	for {
		tok := p.peek()
		switch {
		case p.accept("|"):
			e = p.filter(e)
		case p.accept("is"):
			e = p.test(e)
		case tok.is("("):
			p.fail(tok.at, "", "only a filter takes arguments")
		default:
			return e
		}
	}
}

func (p *parser) test(of expr) expr {
	negated := p.accept("not")
	tok := p.peek()
	for i := range tests {
		if tok.kind == tokName && tests[i].name == strings.ToLower(tok.text) {
			p.next++
			return testExpr{pos(tok.at), of, &tests[i], negated}
		}
	}
	if tok.kind != tokName {
		p.fail(tok.at, "", "expected the name of a test, not %s", tok.said())
		return of
	}
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	p.fail(tok.at, orList(assay.DidYouMean(tok.text, names), "tests", names), "unknown test %s", clip(tok.text))
	return of
}

// orList is the hint, or else the whole list.
func orList(hint, what string, names []string) string {
	if hint != "" || len(names) == 0 {
		return hint
	}
	const most = 25
	if len(names) > most {
		return what + ": " + strings.Join(names[:most], ", ") + " …"
	}
	return what + ": " + strings.Join(names, ", ")
}
