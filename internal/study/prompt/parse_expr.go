package prompt

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

// peek returns the current token; behind a problem it is the end of the tag.
func (p *parser) peek() lex.Token {
	if !p.broken && p.next < len(p.tag.Tokens) {
		return p.tag.Tokens[p.next]
	}
	if n := len(p.tag.Tokens); n > 0 {
		return p.tag.Tokens[n-1]
	}
	return lex.Token{Kind: lex.End, At: p.tag.At}
}

func (p *parser) accept(words ...string) bool {
	if p.peek().Is(words...) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		p.fail(p.peek().At, "", "expected %s, not %s", word, p.peek().Quoted())
	}
}

// deeper guards every way an expression can contain itself.
func (p *parser) deeper(read func() expr) expr {
	p.level++
	defer func() { p.level-- }()
	if p.level > maxLevels {
		p.fail(p.peek().At, "use set for the parts", "the expression is nested more than %d deep", maxLevels)
	}
	return read()
}

// expression reads a whole expression: a if b else c, and all that binds tighter.
func (p *parser) expression() expr { return p.deeper(p.choice) }

func (p *parser) choice() expr {
	then := p.or()
	for at := p.peek().At; p.accept("if"); at = p.peek().At {
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
	for at := p.peek().At; p.accept("or"); at = p.peek().At {
		left = logicExpr{pos(at), "or", left, p.and()}
	}
	return left
}

func (p *parser) and() expr {
	left := p.not()
	for at := p.peek().At; p.accept("and"); at = p.peek().At {
		left = logicExpr{pos(at), "and", left, p.not()}
	}
	return left
}

func (p *parser) not() expr {
	if at := p.peek().At; p.accept("not") {
		return notExpr{pos(at), p.deeper(p.not)}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	c := compareExpr{pos: pos(p.peek().At), first: p.sum()}
	for {
		tok := p.peek()
		op := tok.Text
		switch {
		case tok.Is("==", "!=", "<", "<=", ">", ">=", "in"):
		case tok.Is("not") && p.next+1 < len(p.tag.Tokens) && p.tag.Tokens[p.next+1].Is("in"):
			p.next++
			op = "not in"
		case len(c.rest) == 0:
			return c.first
		default:
			return c
		}
		p.next++
		c.rest = append(c.rest, comparison{pos(tok.At), op, p.sum()})
	}
}

func (p *parser) sum() expr { return p.math(p.concat, "+", "-") }

func (p *parser) concat() expr {
	c := concatExpr{pos: pos(p.peek().At), parts: []expr{p.product()}}
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
		left = mathExpr{pos(op.At), op.Text, left, operand()}
	}
	return left
}

// unary reads a signed value; filters apply to the value with its sign, as in Jinja.
func (p *parser) unary() expr { return p.filters(p.signed()) }

func (p *parser) signed() expr {
	if tok := p.peek(); p.accept("-", "+") {
		return p.postfix(signExpr{pos(tok.At), tok.Text, p.deeper(p.signed)})
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() expr {
	tok := p.peek()
	switch {
	case tok.Kind == lex.Literal:
		return p.literal()
	case tok.Kind == lex.Name && !reserved(tok.Text):
		p.next++
		if value, ok := constants[tok.Text]; ok {
			return literalExpr{pos(tok.At), value}
		}
		return nameExpr{pos(tok.At), tok.Text}
	case tok.Is("("):
		p.next++
		return p.deeper(func() expr { return p.parens(tok.At) })
	case tok.Is("["):
		p.next++
		return p.deeper(func() expr { return listExpr{pos(tok.At), p.items("]")} })
	}
	if tok.Kind == lex.End && p.next == 0 {
		p.fail(tok.At, "", "there is nothing between the braces")
	} else {
		p.fail(tok.At, "", "expected a value, not %s", tok.Quoted())
	}
	return literalExpr{pos: pos(tok.At)}
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
	text, ok := tok.Value.(string)
	if !ok {
		return literalExpr{pos(tok.At), tok.Value}
	}
	for {
		more, ok := p.peek().Value.(string)
		if !ok {
			return literalExpr{pos(tok.At), text}
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
		if !p.peek().Is(closer) {
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
		case tok.Is("."):
			p.next++
			e = p.field(e)
		case tok.Is("["):
			p.next++
			e = p.deeper(func() expr { return p.element(e, tok.At) })
		case tok.Is("("):
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
	if i, ok := tok.Value.(int64); ok && tok.Kind == lex.Literal {
		return indexExpr{pos(tok.At), of, literalExpr{pos(tok.At), i}}
	}
	if tok.Kind != lex.Name {
		p.next--
		p.fail(tok.At, "", "expected the name of a field, not %s", tok.Quoted())
	}
	return fieldExpr{pos(tok.At), of, tok.Text}
}

func (p *parser) element(of expr, at int) expr {
	var from, to expr
	if !p.peek().Is(":") {
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
	if !p.peek().Is("]", ":") {
		to = p.expression()
	}
	if p.peek().Is(":") {
		p.fail(p.peek().At, "", "a slice has no step here")
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
	p.fail(e.at(), hint, "%s() cannot be called", lex.Clip(name))
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
		case tok.Is("("):
			p.fail(tok.At, "", "only a filter takes arguments")
		default:
			return e
		}
	}
}

func (p *parser) test(of expr) expr {
	negated := p.accept("not")
	tok := p.peek()
	for i := range tests {
		if tok.Kind == lex.Name && tests[i].name == strings.ToLower(tok.Text) {
			p.next++
			return testExpr{pos(tok.At), of, &tests[i], negated}
		}
	}
	if tok.Kind != lex.Name {
		p.fail(tok.At, "", "expected the name of a test, not %s", tok.Quoted())
		return of
	}
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	p.fail(tok.At, orList(assay.DidYouMean(tok.Text, names), "tests", names), "unknown test %s", lex.Clip(tok.Text))
	return of
}

// orList returns the hint, or else the whole list.
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
