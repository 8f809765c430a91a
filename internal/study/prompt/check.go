package prompt

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
	"assay/internal/study/prompt/syntax"
)

const maxProblems = 50 // reported of one check

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
	guarded       // inside {% if name is defined %}
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
		c.problems.Add(c.t.source.Place(at), hint, format, args...)
	}
}

func (c *checker) warn(at int, hint, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems.Warn(c.t.source.Place(at), hint, format, args...)
	}
}

func (c *checker) nodes(all []syntax.Node) {
	for _, n := range all {
		c.node(n)
	}
}

func (c *checker) node(n syntax.Node) {
	switch n := n.(type) {
	case syntax.Output:
		c.prints(n.Value)
	case syntax.Set:
		c.bind(n.Name, c.shape(n.Value))
	case syntax.If:
		c.branches(n)
	case syntax.For:
		c.loop(n)
	}
}

// prints checks an expression whose value becomes text.
func (c *checker) prints(e syntax.Expr) {
	switch s := c.shape(e); s.Kind {
	case Record:
		fields := slices.Sorted(maps.Keys(s.Fields))
		c.problem(e.At(), syntax.OrList("", "name one of its fields", fields), "%s is a record and does not print", syntax.Words(e))
	case List:
		c.problem(e.At(), "write | join(', ') or | tojson", "%s is a list and does not print", syntax.Words(e))
	}
}

func (c *checker) branches(n syntax.If) {
	before := c.env
	ends := make([]*binding, 0, len(n.Branches)+1)
	for _, b := range n.Branches {
		c.env = before
		c.shape(b.When)
		c.guard(b.When)
		c.nodes(b.Body)
		ends = append(ends, c.env)
	}
	c.env = before
	c.nodes(n.Otherwise)
	c.env = merge(before, append(ends, c.env))
}

// guard lets names be used where a condition has asked whether they are defined.
func (c *checker) guard(when syntax.Expr) {
	switch e := when.(type) {
	case syntax.Logic:
		if e.Op == "and" {
			c.guard(e.Left)
			c.guard(e.Right)
		}
	case syntax.Test:
		name, ok := e.Of.(syntax.Name)
		if !ok || tests[e.Test].name != "defined" || e.Negated {
			return
		}
		shape, _ := c.scope.lookup(name.Name)
		if b := c.env.find(name.Name); b != nil {
			if b.how == always {
				return
			}
			shape = b.shape
		}
		c.env = &binding{name.Name, shape, guarded, c.env}
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

func (c *checker) loop(n syntax.For) {
	over := c.shape(n.Over)
	switch over.Kind {
	case Text, Number, Bool:
		c.problem(n.Over.At(), "", "a loop needs a list or a record; %s is %s", syntax.Words(n.Over), over.Kind)
	}
	before := c.env
	c.bind(n.Name, element(over))
	if n.When != nil {
		c.shape(n.When)
	}
	c.env = before
	c.bind("loop", Shape{Kind: Record, Fields: loopFields})
	c.bind(n.Name, element(over))
	c.nodes(n.Body)
	c.env = before
	c.nodes(n.Otherwise)
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

// need tells whether a name must be there.
type need uint8

const (
	required need = iota
	optional
)

// path resolves a chain of names that starts at a name, and passes it to free.
func (c *checker) path(e syntax.Expr, n need) Shape {
	if path, ok := syntax.PathOf(e); ok && c.free != nil {
		if b := c.env.find(path[0]); b == nil || b.how != always {
			c.free(path)
		}
	}
	return c.resolve(e, n)
}

func (c *checker) resolve(e syntax.Expr, n need) Shape {
	switch e := e.(type) {
	case syntax.Name:
		return c.name(e, n)
	case syntax.Field:
		if _, ok := syntax.PathOf(e.Of); ok {
			return c.field(e, c.resolve(e.Of, required), n)
		}
		return c.field(e, c.shape(e.Of), n)
	}
	return c.shape(e)
}

func (c *checker) name(e syntax.Name, n need) Shape {
	shape, known := c.scope.lookup(e.Name)
	switch b := c.env.find(e.Name); {
	case b != nil && b.how == maybe && !known && n == required:
		c.warn(e.At(), "set it before the if, or in its else too", "\"%s\" is set on some ways through the template only", e.Name)
		return b.shape
	case b != nil:
		return b.shape
	case !known && n == required:
		c.problem(e.At(), c.hint(e.Name), "\"%s\" is not defined", lex.Clip(e.Name))
	case shape.Kind == Any && c.free == nil:
		c.guess(e)
	}
	return shape
}

// guess warns of a name that need not be known, but looks like another one misspelt.
func (c *checker) guess(e syntax.Name) {
	known := c.scope.known()
	if len(e.Name) < 4 || slices.Contains(known, e.Name) {
		return
	}
	if hint := assay.DidYouMean(e.Name, known); hint != "" {
		c.warn(e.At(), hint, "\"%s\" is not defined, unless the items have such a field", lex.Clip(e.Name))
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
	if syntax.Sets(c.t.nodes, name) {
		return "what is set inside a for is gone behind it"
	}
	return syntax.OrList("", "known are", known)
}

func (c *checker) field(e syntax.Field, of Shape, n need) Shape {
	switch of.Kind {
	case Any:
		return Shape{}
	case Record:
		if shape, ok := of.Fields[e.Name]; ok || of.Open {
			return shape
		}
		names := slices.Sorted(maps.Keys(of.Fields))
		hint := assay.DidYouMean(e.Name, names)
		switch {
		case n == required:
			c.problem(e.At(), syntax.OrList(hint, "its fields", names), "%s has no field \"%s\"", syntax.Words(e.Of), lex.Clip(e.Name))
		case hint != "":
			c.warn(e.At(), hint, "%s never has a field \"%s\"", syntax.Words(e.Of), lex.Clip(e.Name))
		}
	default:
		c.problem(e.At(), "", "%s is %s and has no field \"%s\"", syntax.Words(e.Of), of.Kind, lex.Clip(e.Name))
	}
	return Shape{}
}
