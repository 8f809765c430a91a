package expr

import (
	"errors"
	"regexp"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"assay/internal/assay"
)

const (
	maxBytes   = 4000 // of a condition
	maxNodes   = 500
	maxNesting = 2 // of any, all, filter … within each other
)

// Compile reads a condition and reports what is wrong with it: every unknown name at once, and the first clash of types. At is the place
// of its first character. Without problems other than warnings the program is ready; else it is nil.
func Compile(at assay.Place, src string, env Env) (*Program, assay.Problems) {
	r := &reader{env: env, program: &Program{at: at, src: src}}
	if strings.TrimSpace(src) == "" {
		r.problems.Add(at, "write for example score > 3", "the condition is empty")
		return nil, r.problems
	}
	if len(src) > maxBytes {
		r.problems.Add(at, "", "the condition is longer than %d bytes", maxBytes)
		return nil, r.problems
	}
	config := settings()
	tree, err := parser.ParseWithConfig(src, config)
	if err != nil {
		r.report(err)
		return nil, r.problems
	}
	tree.Node = r.node(tree.Node)
	r.compile(tree, config)
	if len(r.problems.Errors()) > 0 {
		return nil, r.problems.Sort()
	}
	return r.program, r.problems.Sort()
}

// compile checks the types and makes the program.
func (r *reader) compile(tree *parser.Tree, config *conf.Config) {
	if _, err := checker.Check(tree, config); err != nil {
		r.report(err)
		return
	}
	if len(r.problems.Errors()) > 0 {
		return
	}
	err := optimizer.Optimize(&tree.Node, config)
	if err == nil {
		r.program.code, err = compiler.Compile(tree, config)
	}
	if err != nil {
		r.report(err)
	}
}

// settings let a condition use the listed builtins and our functions, and nothing else. Names are known to reader alone, which turns
// each into a call of one of our functions with the variables in front.
func settings() *conf.Config {
	c := conf.CreateNew()
	for _, option := range []expr.Option{
		expr.Env(types.Map{}), expr.AsBool(), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins(),
		expr.Function("verdict", callVerdict, new(func(any, string) Verdict), new(func(any, string, string) Verdict)),
		expr.Function("finding", callFinding, new(func(any, string, string) []Finding), new(func(any, string, string, string) Finding)),
		expr.Function(fnItem, callItem, new(func(any) map[string]any)),
		expr.Function(fnLane, callLane, new(func(any) string)),
		expr.Function(fnMaybe, callMaybe, new(func(any, string) any)),
		expr.Function(fnField[Any], callField, new(func(any, string) any)),
		expr.Function(fnField[Text], typed[string](Text), new(func(any, string) string)),
		expr.Function(fnField[Number], callNumber, new(func(any, string) float64)),
		expr.Function(fnField[Bool], typed[bool](Bool), new(func(any, string) bool)),
		expr.Function(fnField[List], typed[[]any](List), new(func(any, string) []any)),
		expr.Function(fnField[Record], typed[map[string]any](Record), new(func(any, string) map[string]any)),
	} {
		option(c)
	}
	for _, name := range builtins {
		expr.EnableBuiltin(name)(c)
	}
	for name := range c.Disabled {
		delete(c.Builtins, name)
	}
	return c
}

// builtins are those whose work is bounded by what they are given.
var builtins = []string{
	"all", "any", "none", "one", "filter", "map", "count", "sum", "find", "len", "first", "last", "abs", "ceil", "floor", "round", "min",
	"max", "mean", "median", "int", "float", "string", "trim", "upper", "lower", "split", "hasPrefix", "hasSuffix", "indexOf", "keys",
	"values",
}

// reader walks the tree of a condition: it refuses what is not allowed, notes what is asked for, and turns names into calls.
type reader struct {
	env      Env
	program  *Program
	problems assay.Problems
	nesting  int
}

func (r *reader) fail(n ast.Node, hint, format string, args ...any) {
	r.problems.Add(r.place(n), hint, format, args...)
}

func (r *reader) place(n ast.Node) assay.Place {
	return place(r.program.at, r.program.src, n.Location().From)
}

// report adds an error of the expression language as a problem.
func (r *reader) report(err error) {
	at, message := r.program.at, err.Error()
	var known *file.Error
	if errors.As(err, &known) {
		at, message = place(at, r.program.src, known.From), known.Message
	}
	what, hint := translate(message)
	r.problems.Add(at, hint, "%s", what)
}

var (
	noField    = regexp.MustCompile(`^type (\S+) has no (?:field|method) (.*)$`)
	mismatched = regexp.MustCompile(`^invalid operation: (\S+) \(mismatched types (.+) and (.+)\)$`)
	unexpected = regexp.MustCompile(`^unexpected token (?:EOF|\w+\("(.*)"\))$`)
	notBool    = regexp.MustCompile(`^(?:expected bool, but got (.+)|invalid operation: bool\((.+)\))$`)
	runtimeOps = regexp.MustCompile(`^invalid operation: (\S+) (\S+) (\S+)$`)
)

// translate puts a message of the expression language into our words, with a hint.
func translate(message string) (what, hint string) {
	if m := noField.FindStringSubmatch(message); m != nil {
		return word(m[1]) + " has no field " + clip(m[2]), fieldHint(m[1], m[2])
	}
	if m := mismatched.FindStringSubmatch(message); m != nil {
		return "cannot use " + m[1] + " between " + word(m[2]) + " and " + word(m[3]), "text goes in quotes; float(x) makes a number"
	}
	if m := runtimeOps.FindStringSubmatch(message); m != nil {
		return "cannot use " + m[2] + " between " + word(m[1]) + " and " + word(m[3]),
			"float(x) makes a number; x ?? 0 stands in where there is none"
	}
	if m := notBool.FindStringSubmatch(message); m != nil {
		return "the condition gives " + word(m[1]+m[2]) + ", not true or false", "compare it with something"
	}
	if m := unexpected.FindStringSubmatch(message); m != nil {
		switch m[1] {
		case "":
			return "the condition ends too early", ""
		case "=":
			return "unexpected =", "write == to compare"
		}
		return "unexpected " + clip(m[1]), ""
	}
	switch {
	case strings.HasPrefix(message, "array elements can only be selected using an integer"):
		return "a list has no fields", "for findings, name a lane as third argument or write any(finding(…), .low > …)"
	case strings.Contains(message, "coalesce"):
		return "?? cannot stand beside another operator", "put it in brackets: (x ?? 0) > 1"
	}
	return message, ""
}

// word returns a Go type in our words.
func word(goType string) string {
	switch {
	case goType == "string":
		return "text"
	case goType == "bool":
		return "true or false"
	case goType == "int", goType == "int64", goType == "float64":
		return "a number"
	case goType == "expr.Verdict":
		return "a verdict"
	case goType == "expr.Finding":
		return "a finding"
	case goType == "nil", goType == "<nil>":
		return "nothing"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["):
		return "a record"
	}
	return "an unknown value"
}

func fieldHint(goType, name string) string {
	var fields []string
	switch goType {
	case "expr.Verdict":
		fields = []string{"label", "score", "state", "judge"}
	case "expr.Finding":
		fields = []string{"value", "low", "high", "n", "coverage", "lane", "branch", "template"}
	default:
		return ""
	}
	if hint := assay.DidYouMean(name, fields); hint != "" {
		return hint
	}
	return "its fields: " + strings.Join(fields, ", ")
}
