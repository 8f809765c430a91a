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
	"slices"
	"strings"

	"assay/internal/assay"
)

// Template is a parsed template. It is safe for use by several goroutines at once.
type Template struct {
	at    assay.Place
	text  string // what offsets in nodes count in
	nodes []node
	uses  [][]string
}

// Parse reads a template and reports all that is wrong with it. At is the place of the template's first character; the lines of a
// YAML block scalar share its column. Without problems the template is ready; with problems it is nil.
func Parse(at assay.Place, text string) (*Template, assay.Problems) {
	return parse(at, normalize(text))
}

// ParseExact is Parse for a text of which every byte counts: line ends stay as they are, and so does one at the very end.
func ParseExact(at assay.Place, text string) (*Template, assay.Problems) { return parse(at, text) }

func parse(at assay.Place, text string) (*Template, assay.Problems) {
	t := &Template{at: at, text: text}
	p := &parser{t: t, named: map[string]bool{}}
	p.lex = lexer{text: t.text, fail: p.fail}
	t.nodes = p.template()
	if len(p.problems) > 0 {
		return nil, p.problems.Sort()
	}
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

// Static is the text of a template in which nothing is ever substituted.
func (t *Template) Static() (string, bool) {
	var all strings.Builder
	for _, n := range t.nodes {
		text, ok := n.(textNode)
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

// place is where an offset of the text stands in the user's file.
func (t *Template) place(offset int) assay.Place {
	return t.at.After(t.text[:min(offset, len(t.text))])
}
