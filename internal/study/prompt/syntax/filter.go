package syntax

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

// Vocabulary is the filters and tests that templates may use.
type Vocabulary struct {
	Filters []Signature
	Tests   []string
}

// Signature is the name of a filter and what may follow it in ( ).
type Signature struct {
	Name   string
	Params []string // in order
	Need   int      // how many of them must be given
}

// short are Jinja's second names of filters.
var short = map[string]string{"d": "default", "count": "length"}

// suffixes reads | filter and is test behind a value.
func (p *parser) suffixes(e Expr) Expr {
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

// filter reads the name and the arguments of a filter.
func (p *parser) filter(of Expr) Expr {
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
	for i, f := range p.Filters {
		if f.Name == name {
			e := Filter{Pos(tok.At), of, i, make([]Expr, len(f.Params))}
			p.arguments(f, e.Args, tok.At)
			return e
		}
		names = append(names, f.Name)
	}
	p.fail(tok.At, OrList(assay.DidYouMean(name, names), "filters", names), "unknown filter %s", lex.Clip(name))
	return of
}

// arguments reads what stands in ( ) behind a filter, by position or by name.
func (p *parser) arguments(f Signature, args []Expr, at int) {
	given := 0
	if p.accept("(") {
		for !p.broken && !p.accept(")") {
			p.argument(f, args, given)
			given++
			if !p.peek().Is(")") {
				p.expect(",")
			}
		}
	}
	for i := range f.Need {
		if args[i] == nil {
			p.fail(at, "", "%s needs %s", f.Name, strings.Join(f.Params[:f.Need], " and "))
			return
		}
	}
}

func (p *parser) argument(f Signature, args []Expr, i int) {
	tok := p.peek()
	if tok.Kind == lex.Name && p.next+1 < len(p.tag.Tokens) && p.tag.Tokens[p.next+1].Is("=") {
		i = len(f.Params)
		for j, param := range f.Params {
			if param == tok.Text {
				i = j
			}
		}
		if i == len(f.Params) {
			hint := OrList(assay.DidYouMean(tok.Text, f.Params), "it has", f.Params)
			p.fail(tok.At, hint, "%s has no parameter %s", f.Name, lex.Clip(tok.Text))
			return
		}
		p.next += 2
	}
	value := p.expression()
	switch {
	case i >= len(f.Params):
		p.fail(tok.At, OrList("", "it has", f.Params), "too many arguments for %s", f.Name)
	case args[i] != nil:
		p.fail(tok.At, "", "%s is given twice", f.Params[i])
	default:
		args[i] = value
	}
}

func (p *parser) test(of Expr) Expr {
	negated := p.accept("not")
	tok := p.peek()
	if i := slices.Index(p.Tests, strings.ToLower(tok.Text)); i >= 0 && tok.Kind == lex.Name {
		p.next++
		return Test{Pos(tok.At), of, i, negated}
	}
	if tok.Kind != lex.Name {
		p.fail(tok.At, "", "expected the name of a test, not %s", tok.Quoted())
		return of
	}
	p.fail(tok.At, OrList(assay.DidYouMean(tok.Text, p.Tests), "tests", p.Tests), "unknown test %s", lex.Clip(tok.Text))
	return of
}
