package prompt

func (e literalExpr) shape(*checker) Shape {
	switch e.value.(type) {
	case string:
		return Shape{Kind: Text}
	case int64, float64:
		return Shape{Kind: Number}
	case bool:
		return Shape{Kind: Bool}
	}
	return Shape{}
}

func (e nameExpr) shape(c *checker) Shape { return c.path(e, required) }

func (e fieldExpr) shape(c *checker) Shape { return c.path(e, required) }

func (e indexExpr) shape(c *checker) Shape {
	of, key := e.of.shape(c), e.key.shape(c)
	switch {
	case of.Kind == Number || of.Kind == Bool:
		c.problem(e.at(), "", "%s is %s and has no elements", said(e.of), of.Kind)
		return Shape{}
	case of.Kind == List && key.Kind == Text:
		c.problem(e.key.at(), "", "%s is a list: an element is chosen by its number", said(e.of))
	case of.Kind == Record && key.Kind == Number:
		c.problem(e.key.at(), "", "%s is a record: a field is chosen by its name", said(e.of))
	case of.Kind == List || of.Kind == Text:
		return element(of)
	}
	return Shape{}
}

func (e sliceExpr) shape(c *checker) Shape {
	of := e.of.shape(c)
	for _, end := range []expr{e.from, e.to} {
		if end != nil {
			c.kinds(end, "the end of a slice", Number)
		}
	}
	if of.Kind == Record || of.Kind == Number || of.Kind == Bool {
		c.problem(e.at(), "", "a slice is of text or of a list; %s is %s", said(e.of), of.Kind)
		return Shape{}
	}
	return of
}

// kinds checks an expression whose value must be of one of these kinds.
func (c *checker) kinds(e expr, what string, kinds ...Kind) Shape {
	s := e.shape(c)
	for _, k := range append(kinds, Any) {
		if s.Kind == k {
			return s
		}
	}
	c.problem(e.at(), "", "%s is %s, not %s", what, kinds[0], s.Kind)
	return Shape{}
}

func (e listExpr) shape(c *checker) Shape {
	var elem *Shape
	for i, item := range e.items {
		s := item.shape(c)
		if i > 0 {
			s = either(*elem, s)
		}
		elem = &s
	}
	return Shape{Kind: List, Elem: elem}
}

func (e notExpr) shape(c *checker) Shape {
	e.of.shape(c)
	return Shape{Kind: Bool}
}

func (e signExpr) shape(c *checker) Shape {
	c.kinds(e.of, "what has a sign", Number)
	return Shape{Kind: Number}
}

func (e logicExpr) shape(c *checker) Shape {
	left, before := e.left.shape(c), c.env
	if e.op == "and" {
		c.guard(e.left)
	}
	right := e.right.shape(c)
	c.env = before
	return either(left, right)
}

func (e choiceExpr) shape(c *checker) Shape {
	e.when.shape(c)
	before := c.env
	c.guard(e.when)
	then := e.then.shape(c)
	c.env = before
	if e.otherwise == nil {
		return then
	}
	return either(then, e.otherwise.shape(c))
}

func (e compareExpr) shape(c *checker) Shape {
	left := e.first.shape(c)
	for _, r := range e.rest {
		right := r.value.shape(c)
		switch r.op {
		case "<", "<=", ">", ">=":
			if !ordered(left.Kind, right.Kind) {
				c.problem(r.at(), "make a number with | int or | float", "%s and %s have no order", left.Kind, right.Kind)
			}
		case "in", "not in":
			if right.Kind == Number || right.Kind == Bool {
				c.problem(r.at(), "", "nothing can be in %s", right.Kind)
			}
		default:
			if left.Kind != right.Kind && left.Kind != Any && right.Kind != Any && !(scalar(left.Kind) && scalar(right.Kind)) {
				c.problem(r.at(), "", "%s and %s are never equal", left.Kind, right.Kind)
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

func (e concatExpr) shape(c *checker) Shape {
	for _, part := range e.parts {
		c.prints(part)
	}
	return Shape{Kind: Text}
}

func (e mathExpr) shape(c *checker) Shape {
	l, r := e.left.shape(c), e.right.shape(c)
	switch {
	case l.Kind == Number && r.Kind == Number:
		return l
	case e.op == "*" && (l.Kind == Text || l.Kind == Any) && (r.Kind == Number || r.Kind == Any):
		return l
	case e.op == "+" && l.Kind == r.Kind && (l.Kind == Text || l.Kind == List):
		return Shape{Kind: l.Kind}
	case (l.Kind == Any || l.Kind == Number) && (r.Kind == Any || r.Kind == Number):
		return Shape{}
	case e.op == "+" && (l.Kind == Any && (r.Kind == Text || r.Kind == List) || r.Kind == Any && (l.Kind == Text || l.Kind == List)):
		return Shape{}
	}
	c.problem(e.at(), "join texts with ~; make a number with | int or | float", "%s cannot join %s and %s", e.op, l.Kind, r.Kind)
	return Shape{}
}

func (e filterExpr) shape(c *checker) Shape {
	n := required
	if e.filter.apply == nil {
		n = optional
	}
	in, args := c.path(e.of, n), make([]Shape, len(e.args))
	for i, arg := range e.args {
		if arg != nil {
			args[i] = arg.shape(c)
		}
	}
	if e.filter.takes.refuses(in.Kind) {
		c.problem(e.at(), "", "%s cannot take %s", e.filter.name, in.Kind)
	}
	switch {
	case e.filter.gives != nil:
		return e.filter.gives(in)
	case e.args[0] == nil:
		return either(in, Shape{Kind: Text})
	}
	return either(in, args[0])
}

func (e testExpr) shape(c *checker) Shape {
	if e.test.holds == nil {
		c.path(e.of, optional)
	} else {
		e.of.shape(c)
	}
	return Shape{Kind: Bool}
}
