package prompt

import (
	"assay/internal/study/prompt/syntax"
)

func (c *checker) shape(e syntax.Expr) Shape {
	switch e := e.(type) {
	case syntax.Literal:
		return literalShape(e)
	case syntax.Name, syntax.Field:
		return c.path(e, required)
	case syntax.Index:
		return c.index(e)
	case syntax.Slice:
		return c.slice(e)
	case syntax.List:
		return c.list(e)
	case syntax.Not:
		c.shape(e.Of)
		return Shape{Kind: Bool}
	case syntax.Sign:
		c.kinds(e.Of, "what has a sign", Number)
		return Shape{Kind: Number}
	case syntax.Logic:
		return c.logic(e)
	case syntax.Choice:
		return c.choice(e)
	case syntax.Compare:
		return c.comparison(e)
	case syntax.Math:
		return c.math(e)
	case syntax.Concat:
		for _, part := range e.Parts {
			c.prints(part)
		}
		return Shape{Kind: Text}
	case syntax.Filter:
		return c.filter(e)
	case syntax.Test:
		return c.test(e)
	}
	return Shape{}
}

func literalShape(e syntax.Literal) Shape {
	switch e.Value.(type) {
	case string:
		return Shape{Kind: Text}
	case int64, float64:
		return Shape{Kind: Number}
	case bool:
		return Shape{Kind: Bool}
	}
	return Shape{}
}

func (c *checker) index(e syntax.Index) Shape {
	of, key := c.shape(e.Of), c.shape(e.Key)
	switch {
	case of.Kind == Number || of.Kind == Bool:
		c.problem(e.At(), "", "%s is %s and has no elements", syntax.Words(e.Of), of.Kind)
		return Shape{}
	case of.Kind == List && key.Kind == Text:
		c.problem(e.Key.At(), "", "%s is a list: an element is chosen by its number", syntax.Words(e.Of))
	case of.Kind == Record && key.Kind == Number:
		c.problem(e.Key.At(), "", "%s is a record: a field is chosen by its name", syntax.Words(e.Of))
	case of.Kind == List || of.Kind == Text:
		return element(of)
	}
	return Shape{}
}

func (c *checker) slice(e syntax.Slice) Shape {
	of := c.shape(e.Of)
	for _, end := range []syntax.Expr{e.From, e.To} {
		if end != nil {
			c.kinds(end, "the end of a slice", Number)
		}
	}
	if of.Kind == Record || of.Kind == Number || of.Kind == Bool {
		c.problem(e.At(), "", "a slice is of text or of a list; %s is %s", syntax.Words(e.Of), of.Kind)
		return Shape{}
	}
	return of
}

// kinds checks an expression whose value must be of one of these kinds.
func (c *checker) kinds(e syntax.Expr, what string, kinds ...Kind) Shape {
	s := c.shape(e)
	for _, k := range append(kinds, Any) {
		if s.Kind == k {
			return s
		}
	}
	c.problem(e.At(), "", "%s is %s, not %s", what, kinds[0], s.Kind)
	return Shape{}
}

func (c *checker) list(e syntax.List) Shape {
	var elem *Shape
	for i, item := range e.Items {
		s := c.shape(item)
		if i > 0 {
			s = either(*elem, s)
		}
		elem = &s
	}
	return Shape{Kind: List, Elem: elem}
}

func (c *checker) logic(e syntax.Logic) Shape {
	left, before := c.shape(e.Left), c.env
	if e.Op == "and" {
		c.guard(e.Left)
	}
	right := c.shape(e.Right)
	c.env = before
	return either(left, right)
}

func (c *checker) choice(e syntax.Choice) Shape {
	c.shape(e.When)
	before := c.env
	c.guard(e.When)
	then := c.shape(e.Then)
	c.env = before
	if e.Otherwise == nil {
		return then
	}
	return either(then, c.shape(e.Otherwise))
}

func (c *checker) comparison(e syntax.Compare) Shape {
	left := c.shape(e.First)
	for _, r := range e.Rest {
		right := c.shape(r.Value)
		switch r.Op {
		case "<", "<=", ">", ">=":
			if !ordered(left.Kind, right.Kind) {
				c.problem(r.At(), "make a number with | int or | float", "%s and %s have no order", left.Kind, right.Kind)
			}
		case "in", "not in":
			if right.Kind == Number || right.Kind == Bool {
				c.problem(r.At(), "", "nothing can be in %s", right.Kind)
			}
		default:
			if left.Kind != right.Kind && left.Kind != Any && right.Kind != Any && !(scalar(left.Kind) && scalar(right.Kind)) {
				c.problem(r.At(), "", "%s and %s are never equal", left.Kind, right.Kind)
			}
		}
		left = right
	}
	return Shape{Kind: Bool}
}

func scalar(k Kind) bool { return k == Number || k == Bool }

func ordered(a, b Kind) bool {
	if a == List || a == Record || b == List || b == Record {
		return false
	}
	return a == Any || b == Any || a == b || scalar(a) && scalar(b)
}

func (c *checker) math(e syntax.Math) Shape {
	l, r := c.shape(e.Left), c.shape(e.Right)
	switch {
	case l.Kind == Number && r.Kind == Number:
		return l
	case e.Op == "*" && (l.Kind == Text || l.Kind == Any) && (r.Kind == Number || r.Kind == Any):
		return l
	case e.Op == "+" && l.Kind == r.Kind && (l.Kind == Text || l.Kind == List):
		return Shape{Kind: l.Kind}
	case (l.Kind == Any || l.Kind == Number) && (r.Kind == Any || r.Kind == Number):
		return Shape{}
	case e.Op == "+" && (l.Kind == Any && (r.Kind == Text || r.Kind == List) || r.Kind == Any && (l.Kind == Text || l.Kind == List)):
		return Shape{}
	}
	c.problem(e.At(), "join texts with ~; make a number with | int or | float", "%s cannot join %s and %s", e.Op, l.Kind, r.Kind)
	return Shape{}
}

func (c *checker) filter(e syntax.Filter) Shape {
	f, n := filters[e.Filter], required
	if f.apply == nil {
		n = optional
	}
	in, args := c.path(e.Of, n), make([]Shape, len(e.Args))
	for i, arg := range e.Args {
		if arg != nil {
			args[i] = c.shape(arg)
		}
	}
	if f.takes.refuses(in.Kind) {
		c.problem(e.At(), "", "%s cannot take %s", f.name, in.Kind)
	}
	switch {
	case f.gives != nil:
		return f.gives(in)
	case e.Args[0] == nil:
		return either(in, Shape{Kind: Text})
	}
	return either(in, args[0])
}

func (c *checker) test(e syntax.Test) Shape {
	if tests[e.Test].holds == nil {
		c.path(e.Of, optional)
	} else {
		c.shape(e.Of)
	}
	return Shape{Kind: Bool}
}
