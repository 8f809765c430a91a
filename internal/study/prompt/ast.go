package prompt

// node is a stretch of a template that writes.
type node interface {
	run(x *run) error
	check(c *checker)
}

// expr is a part of an expression. Its value may be *undefined.
type expr interface {
	eval(x *run) (any, error)
	shape(c *checker) Shape
	at() int
}

// pos is the offset of an expression in the template.
type pos int

func (p pos) at() int { return int(p) }

type (
	textNode   string
	outputNode struct{ value expr }
	ifNode     struct {
		branches  []branch
		otherwise []node
	}
	branch struct {
		when expr
		body []node
	}
	forNode struct {
		pos
		name      string
		over      expr
		when      expr // nil: every element
		body      []node
		otherwise []node
	}
	setNode struct {
		name  string
		value expr
	}
)

type (
	literalExpr struct {
		pos
		value any
	}
	nameExpr struct {
		pos
		name string
	}
	fieldExpr struct { // of.name, and of["name"]
		pos
		of   expr
		name string
	}
	indexExpr struct {
		pos
		of, key expr
	}
	sliceExpr struct { // from and to may be nil
		pos
		of, from, to expr
	}
	listExpr struct {
		pos
		items []expr
	}
	notExpr struct {
		pos
		of expr
	}
	signExpr struct {
		pos
		op string
		of expr
	}
	logicExpr struct { // op is "and" or "or"
		pos
		op          string
		left, right expr
	}
	choiceExpr struct { // then if when else otherwise, which may be nil
		pos
		then, when, otherwise expr
	}
	compareExpr struct { // a < b <= c
		pos
		first expr
		rest  []comparison
	}
	comparison struct {
		pos
		op    string
		value expr
	}
	mathExpr struct {
		pos
		op          string
		left, right expr
	}
	concatExpr struct {
		pos
		parts []expr
	}
	filterExpr struct {
		pos
		of     expr
		filter *filter
		args   []expr // one for each parameter; nil: not given
	}
	testExpr struct {
		pos
		of      expr
		test    *test
		negated bool
	}
)
