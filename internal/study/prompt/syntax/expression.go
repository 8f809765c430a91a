package syntax

import (
	"slices"
	"strings"

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
func (p *parser) deeper(read func() Expr) Expr {
	p.level++
	defer func() { p.level-- }()
	if p.level > maxLevels {
		p.fail(p.peek().At, "use set for the parts", "the expression is nested more than %d deep", maxLevels)
	}
	return read()
}

// expression reads a whole expression: a if b else c, and all that binds tighter.
func (p *parser) expression() Expr { return p.deeper(p.choice) }

func (p *parser) choice() Expr {
	then := p.or()
	for at := p.peek().At; p.accept("if"); at = p.peek().At {
		c := Choice{Pos: Pos(at), Then: then, When: p.or()}
		if p.accept("else") {
			c.Otherwise = p.expression()
		}
		then = c
	}
	return then
}

func (p *parser) or() Expr {
	left := p.and()
	for at := p.peek().At; p.accept("or"); at = p.peek().At {
		left = Logic{Pos(at), "or", left, p.and()}
	}
	return left
}

func (p *parser) and() Expr {
	left := p.not()
	for at := p.peek().At; p.accept("and"); at = p.peek().At {
		left = Logic{Pos(at), "and", left, p.not()}
	}
	return left
}

func (p *parser) not() Expr {
	if at := p.peek().At; p.accept("not") {
		return Not{Pos(at), p.deeper(p.not)}
	}
	return p.compare()
}

func (p *parser) compare() Expr {
	c := Compare{Pos: Pos(p.peek().At), First: p.sum()}
	for {
		tok := p.peek()
		op := tok.Text
		switch {
		case tok.Is("==", "!=", "<", "<=", ">", ">=", "in"):
		case tok.Is("not") && p.next+1 < len(p.tag.Tokens) && p.tag.Tokens[p.next+1].Is("in"):
			p.next++
			op = "not in"
		case len(c.Rest) == 0:
			return c.First
		default:
			return c
		}
		p.next++
		c.Rest = append(c.Rest, Comparison{Pos(tok.At), op, p.sum()})
	}
}

func (p *parser) sum() Expr { return p.math(p.concat, "+", "-") }

func (p *parser) concat() Expr {
	c := Concat{Pos: Pos(p.peek().At), Parts: []Expr{p.product()}}
	for p.accept("~") {
		c.Parts = append(c.Parts, p.product())
	}
	if len(c.Parts) == 1 {
		return c.Parts[0]
	}
	return c
}

func (p *parser) product() Expr { return p.math(p.power, "*", "/", "//", "%") }

func (p *parser) power() Expr { return p.math(p.unary, "**") }

func (p *parser) math(operand func() Expr, ops ...string) Expr {
	left := operand()
	for op := p.peek(); p.accept(ops...); op = p.peek() {
		left = Math{Pos(op.At), op.Text, left, operand()}
	}
	return left
}

// unary reads a signed value; filters apply to the value with its sign, as in Jinja.
func (p *parser) unary() Expr { return p.suffixes(p.signed()) }

func (p *parser) signed() Expr {
	if tok := p.peek(); p.accept("-", "+") {
		return p.postfix(Sign{Pos(tok.At), tok.Text, p.deeper(p.signed)})
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() Expr {
	tok := p.peek()
	switch {
	case tok.Kind == lex.Literal:
		return p.literal()
	case tok.Kind == lex.Name && !reserved(tok.Text):
		p.next++
		if value, ok := constants[tok.Text]; ok {
			return Literal{Pos(tok.At), value}
		}
		return Name{Pos(tok.At), tok.Text}
	case tok.Is("("):
		p.next++
		return p.deeper(func() Expr { return p.parens(tok.At) })
	case tok.Is("["):
		p.next++
		return p.deeper(func() Expr { return List{Pos(tok.At), p.items("]")} })
	}
	if tok.Kind == lex.End && p.next == 0 {
		p.fail(tok.At, "", "there is nothing between the braces")
	} else {
		p.fail(tok.At, "", "expected a value, not %s", tok.Quoted())
	}
	return Literal{Pos: Pos(tok.At)}
}

// constants are the words that are values.
var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func reserved(word string) bool {
	return slices.Contains([]string{"and", "or", "not", "in", "is", "if", "else", "elif"}, word)
}

// literal reads a number or a text; texts that stand side by side are one, as in Jinja.
func (p *parser) literal() Expr {
	tok := p.peek()
	p.next++
	text, ok := tok.Value.(string)
	if !ok {
		return Literal{Pos(tok.At), tok.Value}
	}
	for {
		more, ok := p.peek().Value.(string)
		if !ok {
			return Literal{Pos(tok.At), text}
		}
		text += more
		p.next++
	}
}

// parens reads what stands in ( ): an expression, or a list where there is a comma or nothing.
func (p *parser) parens(at int) Expr {
	if p.accept(")") {
		return List{Pos: Pos(at)}
	}
	first := p.expression()
	if p.accept(",") {
		return List{Pos(at), append([]Expr{first}, p.items(")")...)}
	}
	p.expect(")")
	return first
}

// items reads the rest of a list, its bracket included.
func (p *parser) items(closer string) []Expr {
	var all []Expr
	for !p.broken && !p.accept(closer) {
		all = append(all, p.expression())
		if !p.peek().Is(closer) {
			p.expect(",")
		}
	}
	return all
}

// postfix reads fields and elements behind a value.
func (p *parser) postfix(e Expr) Expr {
	for {
		tok := p.peek()
		switch {
		case tok.Is("."):
			p.next++
			e = p.field(e)
		case tok.Is("["):
			p.next++
			e = p.deeper(func() Expr { return p.element(e, tok.At) })
		case tok.Is("("):
			p.call(e)
			return e
		default:
			return e
		}
	}
}

func (p *parser) field(of Expr) Expr {
	tok := p.peek()
	p.next++
	if i, ok := tok.Value.(int64); ok && tok.Kind == lex.Literal {
		return Index{Pos(tok.At), of, Literal{Pos(tok.At), i}}
	}
	if tok.Kind != lex.Name {
		p.next--
		p.fail(tok.At, "", "expected the name of a field, not %s", tok.Quoted())
	}
	return Field{Pos(tok.At), of, tok.Text}
}

func (p *parser) element(of Expr, at int) Expr {
	var from, to Expr
	if !p.peek().Is(":") {
		from = p.expression()
	}
	if !p.accept(":") {
		p.expect("]")
		if lit, ok := from.(Literal); ok {
			if name, ok := lit.Value.(string); ok {
				return Field{lit.Pos, of, name}
			}
		}
		return Index{Pos(at), of, from}
	}
	if !p.peek().Is("]", ":") {
		to = p.expression()
	}
	if p.peek().Is(":") {
		p.fail(p.peek().At, "", "a slice has no step here")
	}
	p.expect("]")
	return Slice{Pos(at), of, from, to}
}

// call refuses a call and says what to write instead.
func (p *parser) call(e Expr) {
	hint := "a template calls no functions; see the filters"
	name := ""
	switch e := e.(type) {
	case Name:
		name = e.Name
		if name == "range" {
			hint = "loop over a field"
		}
	case Field:
		name = e.Name
		if h := methods[e.Name]; h != "" {
			hint = h
		}
	}
	p.fail(e.At(), hint, "%s() cannot be called", lex.Clip(name))
}

// methods are calls that Jinja templates often make, with what does the same here.
var methods = map[string]string{
	"upper": "write | upper", "lower": "write | lower", "title": "write | title", "capitalize": "write | capitalize",
	"strip": "write | trim", "lstrip": "write | trim", "rstrip": "write | trim", "replace": "write | replace(old, new)",
	"join": "write list | join(text)", "get": "write | default(value)", "keys": "loop over the record itself",
	"items":  "loop over the keys: {% for k in record %}{{ record[k] }}",
	"values": "loop over the keys: {% for k in record %}{{ record[k] }}",
}

// OrList returns the hint, or else the whole list.
func OrList(hint, what string, names []string) string {
	if hint != "" || len(names) == 0 {
		return hint
	}
	const most = 25
	if len(names) > most {
		return what + ": " + strings.Join(names[:most], ", ") + " …"
	}
	return what + ": " + strings.Join(names, ", ")
}
