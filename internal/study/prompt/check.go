package prompt

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

// checker walks the whole tree, branches not taken too, against a scope.
type checker struct {
	t        *Template
	scope    Scope
	problems assay.Problems
	env      *binding
	free     func(path []string) // called with every path taken from outside; may be nil
}

// binding is a name that a set or for has given a value, and those before it.
type binding struct {
	name  string
	shape Shape
	how   bound
	up    *binding
}

// bound is how sure a binding is.
type bound uint8

const (
	always  bound = iota
	maybe         // set on some ways through the template only
	guarded       // stands inside {% if name is defined %}
)

func (b *binding) find(name string) *binding {
	for b != nil && b.name != name {
		b = b.up
	}
	return b
}

func (c *checker) bind(name string, shape Shape) {
	c.env = &binding{name: name, shape: shape, up: c.env}
}

func (c *checker) problem(at int, hint, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems.Add(c.t.place(at), hint, format, args...)
	}
}

func (c *checker) warn(at int, hint, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems.Warn(c.t.place(at), hint, format, args...)
	}
}

func (c *checker) nodes(all []node) {
	for _, n := range all {
		n.check(c)
	}
}

func (textNode) check(*checker) {}

func (n outputNode) check(c *checker) { c.prints(n.value) }

// prints checks an expression whose value becomes text.
func (c *checker) prints(e expr) {
	switch s := e.shape(c); s.Kind {
	case Record:
		fields := slices.Sorted(maps.Keys(s.Fields))
		c.problem(e.at(), orList("", "name one of its fields", fields), "%s is a record and does not print", said(e))
	case List:
		c.problem(e.at(), "write | join(', ') or | tojson", "%s is a list and does not print", said(e))
	}
}

func (n setNode) check(c *checker) { c.bind(n.name, n.value.shape(c)) }

func (n ifNode) check(c *checker) {
	before := c.env
	ends := make([]*binding, 0, len(n.branches)+1)
	for _, b := range n.branches {
		c.env = before
		b.when.shape(c)
		c.guard(b.when)
		c.nodes(b.body)
		ends = append(ends, c.env)
	}
	c.env = before
	c.nodes(n.otherwise)
	c.env = merge(before, append(ends, c.env))
}

// guard lets names be used where a condition has asked whether they are defined.
func (c *checker) guard(when expr) {
	switch e := when.(type) {
	case logicExpr:
		if e.op == "and" {
			c.guard(e.left)
			c.guard(e.right)
		}
	case testExpr:
		name, ok := e.of.(nameExpr)
		if !ok || e.test.name != "defined" || e.negated {
			return
		}
		shape, _ := c.scope.lookup(name.name)
		if b := c.env.find(name.name); b != nil {
			if b.how == always {
				return
			}
			shape = b.shape
		}
		c.env = &binding{name.name, shape, guarded, c.env}
	}
}

// merge returns what is bound after several ways through the template that began with the same bindings.
func merge(before *binding, ends []*binding) *binding {
	first := map[string]*binding{}
	count := map[string]int{}
	var order []string
	for _, end := range ends {
		seen := map[string]bool{}
		for b := end; b != before; b = b.up {
			if seen[b.name] || b.how == guarded {
				continue
			}
			seen[b.name] = true
			if count[b.name]++; count[b.name] == 1 {
				order = append(order, b.name)
				first[b.name] = &binding{b.name, b.shape, b.how, nil}
				continue
			}
			known := first[b.name]
			known.shape, known.how = either(known.shape, b.shape), max(known.how, b.how)
		}
	}
	after := before
	for _, name := range order {
		b := first[name]
		if count[name] < len(ends) {
			b.shape, b.how = Shape{}, maybe
		}
		if old := before.find(name); old != nil && old.how == always {
			b.how = always
		}
		b.up = after
		after = b
	}
	return after
}

func (n forNode) check(c *checker) {
	over := n.over.shape(c)
	switch over.Kind {
	case Text, Number, Bool:
		c.problem(n.over.at(), "", "a loop needs a list or a record; %s is %s", said(n.over), over.Kind)
	}
	before := c.env
	c.bind(n.name, element(over))
	if n.when != nil {
		n.when.shape(c)
	}
	c.env = before
	c.bind("loop", Shape{Kind: Record, Fields: loopFields})
	c.bind(n.name, element(over))
	c.nodes(n.body)
	c.env = before
	c.nodes(n.otherwise)
	c.env = before
}

// usesOf collects the paths that a template takes from outside.
func usesOf(t *Template) [][]string {
	var all [][]string
	c := &checker{t: t, scope: Scope{Open: true}, free: func(path []string) { all = append(all, path) }}
	c.nodes(t.nodes)
	sort.Slice(all, func(i, j int) bool { return slices.Compare[[]string](all[i], all[j]) < 0 })
	return slices.CompactFunc(all, slices.Equal[[]string])
}

// need says whether a name must be there.
type need uint8

const (
	required need = iota
	optional
)

// path resolves a chain of names that starts at a name, and passes it to free.
func (c *checker) path(e expr, n need) Shape {
	if path, root, ok := pathOf(e); ok && c.free != nil {
		if b := c.env.find(root.name); b == nil || b.how != always {
			c.free(path)
		}
	}
	return c.resolve(e, n)
}

// pathOf returns the names of a chain such as item.meta["title"], and the name at its root.
func pathOf(e expr) ([]string, nameExpr, bool) {
	switch e := e.(type) {
	case nameExpr:
		return []string{e.name}, e, true
	case fieldExpr:
		path, root, ok := pathOf(e.of)
		return append(path, e.name), root, ok
	}
	return nil, nameExpr{}, false
}

func (c *checker) resolve(e expr, n need) Shape {
	switch e := e.(type) {
	case nameExpr:
		return c.name(e, n)
	case fieldExpr:
		if _, _, ok := pathOf(e.of); ok {
			return c.field(e, c.resolve(e.of, required), n)
		}
		return c.field(e, e.of.shape(c), n)
	}
	return e.shape(c)
}

func (c *checker) name(e nameExpr, n need) Shape {
	shape, known := c.scope.lookup(e.name)
	switch b := c.env.find(e.name); {
	case b != nil && b.how == maybe && !known && n == required:
		c.warn(e.at(), "set it before the if, or in its else too", "\"%s\" is set on some ways through the template only", e.name)
		return b.shape
	case b != nil:
		return b.shape
	case !known && n == required:
		c.problem(e.at(), c.hint(e.name), "\"%s\" is not defined", lex.Clip(e.name))
	case shape.Kind == Any && c.free == nil:
		c.guess(e)
	}
	return shape
}

// guess warns of a name that need not be known, but looks like another one misspelt.
func (c *checker) guess(e nameExpr) {
	known := c.scope.known()
	if len(e.name) < 4 || slices.Contains(known, e.name) {
		return
	}
	if hint := assay.DidYouMean(e.name, known); hint != "" {
		c.warn(e.at(), hint, "\"%s\" is not defined, unless the items have such a field", lex.Clip(e.name))
	}
}

// hint helps with a name that is not defined.
func (c *checker) hint(name string) string {
	if slices.Contains([]string{"lane", "model", "provider", "cost", "price"}, name) {
		return "a prompt never sees the lane, the model or the cost"
	}
	known := c.scope.known()
	if hint := assay.DidYouMean(name, known); hint != "" {
		return hint
	}
	for _, k := range known {
		if rest, ok := strings.CutPrefix(k, name); ok && lex.NameLen(rest) == 0 {
			return "did you mean item[\"" + k + "\"]?"
		}
	}
	if name == "loop" {
		return "loop is known inside for only"
	}
	if sets(c.t.nodes, name) {
		return "what is set inside a for is gone behind it"
	}
	return orList("", "known are", known)
}

// sets reports whether a name gets a value somewhere.
func sets(nodes []node, name string) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case setNode:
			if n.name == name {
				return true
			}
		case forNode:
			if n.name == name || sets(n.body, name) || sets(n.otherwise, name) {
				return true
			}
		case ifNode:
			for _, b := range n.branches {
				if sets(b.body, name) {
					return true
				}
			}
			if sets(n.otherwise, name) {
				return true
			}
		}
	}
	return false
}

func (c *checker) field(e fieldExpr, of Shape, n need) Shape {
	switch of.Kind {
	case Any:
		return Shape{}
	case Record:
		if shape, ok := of.Fields[e.name]; ok || of.Open {
			return shape
		}
		names := slices.Sorted(maps.Keys(of.Fields))
		hint := assay.DidYouMean(e.name, names)
		switch {
		case n == required:
			c.problem(e.at(), orList(hint, "its fields", names), "%s has no field \"%s\"", said(e.of), lex.Clip(e.name))
		case hint != "":
			c.warn(e.at(), hint, "%s never has a field \"%s\"", said(e.of), lex.Clip(e.name))
		}
	default:
		c.problem(e.at(), "", "%s is %s and has no field \"%s\"", said(e.of), of.Kind, lex.Clip(e.name))
	}
	return Shape{}
}
