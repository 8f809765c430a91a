package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"assay/internal/assay"
)

// node checks a part of the tree and returns its replacement.
func (r *reader) node(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.PointerNode:
	case *ast.IdentifierNode:
		return r.name(n)
	case *ast.MemberNode:
		return r.member(n)
	case *ast.CallNode:
		return r.call(n)
	case *ast.BuiltinNode:
		return r.builtin(n)
	case *ast.UnaryNode:
		n.Node = r.node(n.Node)
	case *ast.BinaryNode:
		r.binary(n)
	case *ast.ChainNode:
		n.Node = r.node(n.Node)
	case *ast.PredicateNode:
		n.Node = r.node(n.Node)
	case *ast.SliceNode:
		n.Node = r.node(n.Node)
		if n.From != nil {
			n.From = r.node(n.From)
		}
		if n.To != nil {
			n.To = r.node(n.To)
		}
	case *ast.ConditionalNode:
		n.Cond, n.Exp1, n.Exp2 = r.node(n.Cond), r.node(n.Exp1), r.node(n.Exp2)
	case *ast.ArrayNode:
		r.nodes(n.Nodes)
	default:
		r.fail(n, "write one expression that is true or false", "this is not part of conditions")
		return anything(n)
	}
	return n
}

// anything replaces what was reported as a problem, so that it is reported once.
func anything(n ast.Node) ast.Node { return replace(n, fnMaybe, &ast.StringNode{}) }

func (r *reader) nodes(all []ast.Node) {
	for i := range all {
		all[i] = r.node(all[i])
	}
}

// name turns a name into a call that finds its value.
func (r *reader) name(n *ast.IdentifierNode) ast.Node {
	switch {
	case n.Value == "lane" && r.env.Kind == Lanes:
		return replace(n, fnLane)
	case n.Value == "item" && r.ofItem():
		return replace(n, fnItem)
	case r.ofItem():
		return r.field(n, n, n.Value)
	}
	r.unknown(n, n.Value, r.names())
	return anything(n)
}

// ofItem reports whether the condition sees an item.
func (r *reader) ofItem() bool { return r.env.Kind == Rows || r.env.Kind == Items }

// member reads a.b and a["b"]; of the item, that is a field.
func (r *reader) member(n *ast.MemberNode) ast.Node {
	of, isName := n.Node.(*ast.IdentifierNode)
	name, isText := n.Property.(*ast.StringNode)
	if isName && isText && of.Value == "item" && r.ofItem() {
		if n.Optional {
			return r.optional(r.field(n, name, name.Value))
		}
		return r.field(n, name, name.Value)
	}
	n.Node = r.node(n.Node)
	if !isText {
		n.Property = r.node(n.Property)
	}
	return n
}

// field turns a field of the item into a call. Word is the place of its name; a bare name may also be id or expect.
func (r *reader) field(n, word ast.Node, name string) ast.Node {
	fn := fnField[Any]
	t, known := r.env.Fields[name]
	switch _, bare := n.(*ast.IdentifierNode); {
	case known:
		fn = fnField[t]
	case bare && (name == "id" || name == "expect"):
	case !r.env.Open || strings.HasPrefix(name, "$"):
		r.unknown(word, name, r.names())
	}
	r.program.fields = append(r.program.fields, Use{Place: r.place(word), Field: name})
	return replace(n, fn, &ast.StringNode{Value: name})
}

// optional lets the field of a call be missing.
func (r *reader) optional(n ast.Node) ast.Node {
	call, ok := n.(*ast.CallNode)
	if !ok {
		return n
	}
	if callee, ok := call.Callee.(*ast.IdentifierNode); ok && slices.Contains(fnField[:], callee.Value) {
		callee.Value = fnMaybe
		r.program.fields[len(r.program.fields)-1].Optional = true
	}
	return n
}

// replace puts a call of one of our functions in the place of a node, with the variables in front.
func replace(n ast.Node, fn string, args ...ast.Node) ast.Node {
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: fn},
		Arguments: append([]ast.Node{&ast.IdentifierNode{Value: "$env"}}, args...)}
	call.SetLocation(n.Location())
	return call
}

func (r *reader) binary(n *ast.BinaryNode) {
	if n.Operator == ".." {
		r.fail(n, "write x >= 1 and x <= 9", "ranges are not part of conditions")
		return
	}
	_, leftNil := n.Left.(*ast.NilNode)
	_, rightNil := n.Right.(*ast.NilNode)
	n.Left = r.node(n.Left)
	if n.Operator == "??" || rightNil {
		n.Left = r.optional(n.Left)
	}
	n.Right = r.node(n.Right)
	if leftNil {
		n.Right = r.optional(n.Right)
	}
}

// call reads verdict(…) and finding(…); nothing else is called by name.
func (r *reader) call(n *ast.CallNode) ast.Node {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		r.fail(n, "functions come first: upper(x)", "a value cannot be called")
		return anything(n)
	}
	r.nodes(n.Arguments)
	switch {
	case callee.Value == "verdict" && r.env.Kind == Items:
		return r.asks(n, "verdict(stage) or verdict(stage, judge)", 1, 2)
	case callee.Value == "finding" && !r.ofItem():
		return r.asks(n, "finding(stage, what) or finding(stage, what, lane)", 2, 3)
	}
	r.unknown(n, callee.Value, r.functions())
	return anything(n)
}

// asks notes which stage is asked about, and puts the variables in front of the arguments.
func (r *reader) asks(n *ast.CallNode, form string, least, most int) ast.Node {
	name := n.Callee.(*ast.IdentifierNode).Value
	if len(n.Arguments) < least || len(n.Arguments) > most {
		r.fail(n, form, "%s takes %d or %d arguments, not %d", name, least, most, len(n.Arguments))
		return anything(n)
	}
	texts := make([]string, 3)
	for i, arg := range n.Arguments {
		text, ok := arg.(*ast.StringNode)
		switch {
		case ok:
			texts[i] = text.Value
		case i < least:
			r.fail(arg, "in quotes", "the arguments of %s are written out, so that the order of the stages is known", name)
		}
	}
	ref := Reference{Place: r.place(n.Arguments[0]), Func: name, Stage: texts[0]}
	if name == "verdict" {
		ref.Judge = texts[1]
	} else {
		ref.What, ref.Lane = texts[1], texts[2]
	}
	r.program.stages = append(r.program.stages, ref)
	n.Arguments = append([]ast.Node{&ast.IdentifierNode{Value: "$env"}}, n.Arguments...)
	return n
}

func (r *reader) builtin(n *ast.BuiltinNode) ast.Node {
	if !slices.Contains(builtins, n.Name) {
		r.unknown(n, n.Name, r.functions())
		return anything(n)
	}
	predicate := slices.ContainsFunc(n.Arguments, func(arg ast.Node) bool { _, ok := arg.(*ast.PredicateNode); return ok })
	if predicate {
		r.nesting++
		defer func() { r.nesting-- }()
	}
	if r.nesting > maxNesting {
		r.fail(n, "", "%s stands inside more than %d others", n.Name, maxNesting)
		return anything(n)
	}
	r.nodes(n.Arguments)
	return n
}

// unknown reports a name that means nothing here.
func (r *reader) unknown(n ast.Node, name string, known []string) {
	kind := r.env.Kind
	switch {
	case name == "verdict":
		r.fail(n, "", "verdict is known in the where of a stage, not in %s", kind)
		return
	case name == "finding" && r.ofItem():
		r.fail(n, "gate the stage with when", "finding is known in when, in the where of lanes and in require, not in %s", kind)
		return
	case name == "lane" && !r.ofItem():
		r.fail(n, "name one: finding(stage, what, \"lane\")", "lane is known in the where of lanes, not in %s", kind)
		return
	}
	if _, refused := builtin.Index[name]; refused && slices.Contains(known, "len") {
		r.fail(n, "", "the function %s is not part of conditions", name)
		return
	}
	hint := assay.DidYouMean(name, known)
	if hint == "" {
		hint = "known are: " + strings.Join(known[:min(len(known), 40)], ", ")
	}
	r.fail(n, hint, "unknown name %s", clip(name))
}

// names returns the values that a condition may use.
func (r *reader) names() []string {
	switch {
	case r.env.Kind == Lanes:
		return []string{"lane", "finding(…)"}
	case !r.ofItem():
		return []string{"finding(…)"}
	}
	all := append(slices.Collect(maps.Keys(r.env.Fields)), "item", "id", "expect")
	slices.Sort(all)
	return slices.Compact(all)
}

// functions returns what a condition may call.
func (r *reader) functions() []string {
	switch {
	case r.env.Kind == Items:
		return append([]string{"verdict"}, builtins...)
	case !r.ofItem():
		return append([]string{"finding"}, builtins...)
	}
	return builtins
}
