// Package prompt checks and fills prompt templates, a safe subset of Jinja.
//
// A template is text with {{ expressions }}, {% if %}, {% for %}, {% set %}, {% raw %} and {# comments #}. It reads no file and calls no
// function, loops only over values it is given, and a value is never itself expanded. Work and output of a rendering are bounded.
//
// It is Jinja except where a prompt is better served: undefined names are errors (default and "is defined" take them); true and false
// print as in JSON, none and an if without else print nothing, and numbers print as JSON writes them (2.0 is 2); lists and records print
// through join or tojson only; tojson escapes neither HTML nor letters beyond ASCII; true and false are no numbers in sums; a loop goes
// through text only as | list; the keys of a record come in alphabetical order.
package prompt

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/syntax"
)

// Template is a parsed template. It is safe for use by several goroutines at once.
type Template struct {
	source syntax.Source
	nodes  []syntax.Node
	uses   [][]string
}

// Parse reads a template and reports all that is wrong with it. At is the place of the template's first character; the lines of a
// YAML block scalar share its column. Without problems the template is ready; with problems it is nil.
func Parse(at assay.Place, text string) (*Template, assay.Problems) {
	return parse(at, normalize(text))
}

// ParseExact is Parse for a text of which every byte counts: line ends stay as they are, and so does one at the very end.
func ParseExact(at assay.Place, text string) (*Template, assay.Problems) { return parse(at, text) }

func parse(at assay.Place, text string) (*Template, assay.Problems) {
	from := syntax.Source{At: at, Text: text}
	nodes, problems := syntax.Parse(from, vocabulary)
	if len(problems) > 0 {
		return nil, problems
	}
	t := &Template{source: from, nodes: nodes}
	t.uses = usesOf(t)
	return t, nil
}

// normalize does what Jinja does to a source: line ends become \n, and one at the very end is dropped.
func normalize(text string) string { return strings.TrimSuffix(unixLines(text), "\n") }

func unixLines(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// Check reports everything in the template that the scope does not allow, in branches not taken too.
func (t *Template) Check(scope Scope) assay.Problems {
	c := &checker{t: t, scope: scope}
	c.nodes(t.nodes)
	return c.problems.Sort()
}

// Uses lists the paths that a template takes from outside, in order and each once: {{ item.text }} is item, text.
func (t *Template) Uses() [][]string {
	out := make([][]string, len(t.uses))
	for i, path := range t.uses {
		out[i] = slices.Clone(path)
	}
	return out
}

// Static returns the text of a template in which nothing is ever substituted.
func (t *Template) Static() (string, bool) {
	var all strings.Builder
	for _, n := range t.nodes {
		text, ok := n.(syntax.Text)
		if !ok {
			return "", false
		}
		all.WriteString(string(text))
	}
	return all.String(), true
}

// maxOutput is the cap of a rendering whose caller names none.
const maxOutput = 64 << 20

// Render appends the filled template to dst. More than max bytes are an error that names the cap (0: 64 MiB), and so is an undefined
// name; dst then comes back as it was. Errors are of type *Error.
func (t *Template) Render(dst []byte, values Values, max int) ([]byte, error) {
	if max <= 0 {
		max = maxOutput
	}
	x := &run{t: t, values: values, dst: dst, base: len(dst), max: max, steps: maxSteps}
	if err := x.nodes(t.nodes); err != nil {
		return dst, err
	}
	return x.dst, nil
}

// Error is why a template could not be filled: the place in it, what and a hint.
type Error struct{ assay.Problem }

// Error is file:line:col: what (hint).
func (e *Error) Error() string { return e.Problem.String() }

// maxSteps bounds the work of one rendering: about one step for each node, value and 256 bytes handled.
const maxSteps = 1_000_000

// run is one rendering.
type run struct {
	t      *Template
	values Values
	dst    []byte
	base   int // where the output begins in dst
	max    int
	steps  int
	locals []local // innermost last
	frame  int     // where the locals of the innermost loop begin
}

// local is a name that a set or for gave a value.
type local struct {
	name  string
	value any
}

func (x *run) fail(at int, hint, format string, args ...any) error {
	return &Error{assay.Problem{Place: x.t.source.Place(at), What: fmt.Sprintf(format, args...), Hint: hint}}
}

// spend pays for work.
func (x *run) spend(at, steps int) error {
	if x.steps -= steps; x.steps < 0 {
		return x.fail(at, "loop over less", "filling the template takes more than %d steps", maxSteps)
	}
	return nil
}

// read pays for going through a text of n bytes.
func (x *run) read(at, n int) error { return x.spend(at, n/256) }

// made pays for a text that the template made longer by n bytes, which are never more than the cap.
func (x *run) made(at, n int) error {
	if err := x.fits(at, n); err != nil {
		return err
	}
	return x.read(at, n)
}

func (x *run) fits(at, n int) error {
	if n > x.max {
		return x.fail(at, "", "a text in the template is longer than the cap of %d bytes", x.max)
	}
	return nil
}

func (x *run) nodes(all []syntax.Node) error {
	for _, n := range all {
		if err := x.node(n); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) node(n syntax.Node) error {
	switch n := n.(type) {
	case syntax.Text:
		return x.write(0, string(n))
	case syntax.Output:
		return x.output(n)
	case syntax.If:
		return x.choose(n)
	case syntax.For:
		return x.loop(n)
	case syntax.Set:
		return x.set(n)
	}
	return nil
}

func (x *run) write(at int, s string) error {
	if len(x.dst)-x.base+len(s) > x.max {
		return x.fail(at, "", "the filled template is longer than the cap of %d bytes", x.max)
	}
	x.dst = append(x.dst, s...)
	return nil
}

func (x *run) output(n syntax.Output) error {
	at := n.Value.At()
	if err := x.spend(at, 1); err != nil {
		return err
	}
	v, err := x.value(n.Value)
	if err != nil {
		return err
	}
	if s, ok := v.(string); ok {
		return x.write(at, s)
	}
	var ok bool
	if x.dst, ok = appendPlain(x.dst, v); !ok {
		return x.notText(at, v)
	}
	return x.write(at, "")
}

func (x *run) notText(at int, v any) error {
	return x.fail(at, "name a field, or use | join or | tojson", "%s does not print", kindOf(v))
}

func (x *run) choose(n syntax.If) error {
	for _, b := range n.Branches {
		if err := x.spend(b.When.At(), 1); err != nil {
			return err
		}
		v, err := x.value(b.When)
		if err != nil {
			return err
		}
		if truth(v) {
			return x.nodes(b.Body)
		}
	}
	return x.nodes(n.Otherwise)
}

func (x *run) set(n syntax.Set) error {
	v, err := x.value(n.Value)
	if err != nil {
		return err
	}
	for i := x.frame; i < len(x.locals); i++ {
		if x.locals[i].name == n.Name {
			x.locals[i].value = v
			return nil
		}
	}
	x.locals = append(x.locals, local{n.Name, v})
	return x.spend(n.Value.At(), 1)
}

// loop binds the names of each round in a frame of their own: what a round sets is gone with it, as in Jinja.
func (x *run) loop(n syntax.For) error {
	elems, err := x.elements(n)
	if err != nil {
		return err
	}
	frame, mark := x.frame, len(x.locals)
	x.frame = mark
	defer func() { x.frame, x.locals = frame, x.locals[:mark] }()
	if len(elems) == 0 {
		return x.nodes(n.Otherwise)
	}
	loop := &loopState{length: len(elems)}
	for i, e := range elems {
		if err := x.spend(n.At(), 1); err != nil {
			return err
		}
		loop.index = i
		x.locals = append(x.locals[:mark], local{"loop", loop}, local{n.Name, e})
		if err := x.nodes(n.Body); err != nil {
			return err
		}
	}
	return nil
}

// elements returns what a loop goes through.
func (x *run) elements(n syntax.For) ([]any, error) {
	v, err := x.value(n.Over)
	if err != nil {
		return nil, err
	}
	elems, ok := listOf(v)
	if !ok {
		hint := ""
		if kindOf(v) == Text.String() {
			hint = "its characters are | list"
		}
		return nil, x.fail(n.Over.At(), hint, "a loop needs a list or a record, not %s", kindOf(v))
	}
	if n.When == nil {
		return elems, x.spend(n.At(), 1)
	}
	var kept []any
	mark := len(x.locals)
	defer func() { x.locals = x.locals[:mark] }()
	for _, e := range elems {
		if err := x.spend(n.At(), 1); err != nil {
			return nil, err
		}
		x.locals = append(x.locals[:mark], local{n.Name, e})
		v, err := x.value(n.When)
		if err != nil {
			return nil, err
		}
		if truth(v) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}
