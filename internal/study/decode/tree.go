// Package decode fills Go values from YAML and keeps the place of every value, for problems that name it.
package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"assay/internal/assay"
)

// MaxBytes, maxNodes and maxDepth are the bounds of a study file. A study that needs more is a data set in disguise.
const (
	MaxBytes = 8 << 20
	maxNodes = 200_000
	maxDepth = 64
)

// Kind is the sort of a value.
type Kind int

// The kinds of values.
const (
	Null Kind = iota
	Text      // a string
	Number
	Bool
	List
	Map
)

// String returns the kind as messages name it.
func (k Kind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a list", "a map"}[k]
}

// Node is one value of a study file with its place. Aliases are expanded and merge keys merged.
type Node struct {
	Kind   Kind
	Text   string // scalars: as written (1.0 stays 1.0)
	Number float64
	Bool   bool
	List   []*Node
	Pairs  []Pair
	At     assay.Place // of the value
	Body   assay.Place // of the first character of a text's content, for problems inside it
}

// Pair is a key of a map and its value.
type Pair struct {
	Key   string
	At    assay.Place // of the key
	Value *Node
}

// Child returns the value under a key, or nil.
func (n *Node) Child(key string) *Node {
	if n == nil {
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// Parse reads YAML into nodes. What cannot be read comes back as problems with places.
func Parse(file string, text []byte) (*Node, assay.Problems) {
	var problems assay.Problems
	if len(text) > MaxBytes {
		problems.Add(assay.Place{File: file, Line: 1, Col: 1}, "move the items to a .csv or .jsonl file under `inputs`",
			"the study has more than %d MB", MaxBytes>>20)
		return nil, problems
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if at, what := badByte(file, text); what != "" {
		problems.Add(at, "save the file as UTF-8 text", "%s", what)
		return nil, problems
	}
	doc, err := parseYAML(text)
	if err != nil {
		at, what := yamlError(file, err)
		hint := "check indentation, quotes and brackets near here; inside { } an expression with commas needs quotes"
		if tabbed(text, at.Line) {
			hint = "the line is indented by a tab: YAML needs spaces"
		}
		problems.Add(at, hint, "not valid YAML: %s", strings.ReplaceAll(what, "\t", `\t`))
		return nil, problems
	}
	if len(doc.Docs) > 1 && doc.Docs[1].Body != nil {
		problems.Add(place(file, doc.Docs[1].Body.GetToken()), "one study per file: remove the `---`", "a second YAML document")
		return nil, problems
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		problems.Add(assay.Place{File: file, Line: 1, Col: 1}, "`assay init` writes one to start from", "the study is empty")
		return nil, problems
	}
	b := builder{file: file, lines: strings.Split(string(text), "\n"), anchors: map[string]ast.Node{}, problems: &problems}
	root := b.build(doc.Docs[0].Body, 0)
	return root, problems
}

// tabbed reports whether a line begins with white space that has a tab in it.
func tabbed(text []byte, line int) bool {
	for n := 1; n < line; n++ {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	first := bytes.IndexFunc(text, func(r rune) bool { return r != ' ' && r != '\t' })
	return first > 0 && bytes.ContainsRune(text[:first], '\t')
}

// parseYAML keeps a panic of the YAML library on hostile bytes from becoming ours.
func parseYAML(text []byte) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

func badByte(file string, text []byte) (assay.Place, string) {
	line, start := 1, 0
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			line, start = line+1, i+1
		}
		at := assay.Place{File: file, Line: line, Col: i - start + 1}
		if text[i] == 0 {
			return at, "a NUL byte: this is not a text file"
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return at, fmt.Sprintf("byte 0x%02x is not UTF-8", text[i])
		}
		i += size
	}
	return assay.Place{}, ""
}

func yamlError(file string, err error) (assay.Place, string) {
	at := assay.Place{File: file, Line: 1, Col: 1}
	var located yaml.Error
	if errors.As(err, &located) {
		if tk := located.GetToken(); tk != nil {
			at = place(file, tk)
		}
		return at, located.GetMessage()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return at, first
}

func place(file string, tk *token.Token) assay.Place {
	if tk == nil || tk.Position == nil {
		return assay.Place{File: file}
	}
	return assay.Place{File: file, Line: tk.Position.Line, Col: tk.Position.Column}
}

// builder turns the syntax tree into nodes, counting them so that an alias bomb is a problem and not an outage.
type builder struct {
	file     string
	lines    []string
	anchors  map[string]ast.Node
	open     []string // anchors being expanded, to see a cycle
	nodes    int
	problems *assay.Problems
}

func (b *builder) build(n ast.Node, depth int) *Node {
	at := place(b.file, n.GetToken())
	b.nodes++
	if b.nodes == maxNodes {
		b.problems.Add(at, "aliases that repeat aliases multiply; write the value once",
			"the study expands to more than %d values", maxNodes)
	}
	if depth == maxDepth {
		b.problems.Add(at, "", "nested deeper than %d levels", maxDepth)
	}
	if b.nodes >= maxNodes || depth >= maxDepth {
		return &Node{At: at, Body: at}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out := &Node{Kind: Map, At: at, Body: at}
		for i, v := range n.Values {
			if i == 0 && !n.IsFlowStyle {
				out.At = place(b.file, v.Key.GetToken())
			}
			b.addPair(out, v, depth)
		}
		return out
	case *ast.MappingValueNode:
		out := &Node{Kind: Map, At: place(b.file, n.Key.GetToken()), Body: at}
		b.addPair(out, n, depth)
		return out
	case *ast.SequenceNode:
		out := &Node{Kind: List, At: at, Body: at}
		for _, v := range n.Values {
			out.List = append(out.List, b.build(v, depth+1))
		}
		return out
	case *ast.AnchorNode:
		b.anchors[n.Name.GetToken().Value] = n.Value
		return b.build(n.Value, depth+1)
	case *ast.AliasNode:
		return b.alias(n, depth)
	case *ast.TagNode:
		return b.build(n.Value, depth+1)
	}
	return b.scalar(n, at)
}

func (b *builder) alias(n *ast.AliasNode, depth int) *Node {
	name, at := n.Value.GetToken().Value, place(b.file, n.Start)
	target, ok := b.anchors[name]
	if !ok {
		b.problems.Add(at, "an anchor `&"+name+"` must come before it", "alias *%s names no anchor", name)
		return &Node{At: at, Body: at}
	}
	for _, o := range b.open {
		if o == name {
			b.problems.Add(at, "", "alias *%s contains itself", name)
			return &Node{At: at, Body: at}
		}
	}
	b.open = append(b.open, name)
	out := b.build(target, depth+1)
	b.open = b.open[:len(b.open)-1]
	return out
}

func (b *builder) addPair(out *Node, v *ast.MappingValueNode, depth int) {
	if v.Key.IsMergeKey() {
		b.merge(out, b.build(v.Value, depth+1))
		return
	}
	key, at := b.keyText(v.Key), place(b.file, v.Key.GetToken())
	for i, p := range out.Pairs {
		if p.Key != key {
			continue
		}
		if p.At != (assay.Place{}) { // what a merge key brought has no place of its own and is overridden
			b.problems.Add(at, "remove one of them", "key %q is here a second time (first at line %d)", key, p.At.Line)
			return
		}
		out.Pairs[i] = Pair{Key: key, At: at, Value: b.build(v.Value, depth+1)}
		return
	}
	out.Pairs = append(out.Pairs, Pair{Key: key, At: at, Value: b.build(v.Value, depth+1)})
}

func (b *builder) merge(out, from *Node) {
	sources := []*Node{from}
	if from.Kind == List {
		sources = from.List
	}
	for _, s := range sources {
		for _, p := range s.Pairs {
			if out.Child(p.Key) == nil {
				out.Pairs = append(out.Pairs, Pair{Key: p.Key, Value: p.Value})
			}
		}
	}
}

func (b *builder) keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return k.GetToken().Value
}

func (b *builder) scalar(n ast.Node, at assay.Place) *Node {
	out := &Node{At: at, Body: at, Text: n.GetToken().Value}
	switch n := n.(type) {
	case *ast.NullNode:
		out.Kind = Null
	case *ast.BoolNode:
		out.Kind, out.Bool = Bool, n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		f, err := strconv.ParseFloat(strings.ReplaceAll(out.Text, "_", ""), 64)
		if err != nil { // 0x10 and the like
			if i, ok := n.(*ast.IntegerNode); ok {
				f, _ = strconv.ParseFloat(fmt.Sprint(i.Value), 64)
			}
		}
		out.Kind, out.Number = Number, f
	case *ast.LiteralNode:
		out.Kind, out.Text = Text, n.Value.Value
		out.Body = assay.Place{File: b.file, Line: n.Start.Position.Line + 1, Col: b.indent(n.Start.Position.Line) + 1}
	case *ast.StringNode:
		out.Kind, out.Text = Text, n.Value
		if t := n.GetToken().Type; t == token.SingleQuoteType || t == token.DoubleQuoteType {
			out.Body.Col++
		}
	default:
		out.Kind = Text
	}
	return out
}

// indent returns the indentation of the block text that starts below a line.
func (b *builder) indent(line int) int {
	for ; line < len(b.lines); line++ {
		if trimmed := strings.TrimLeft(b.lines[line], " "); strings.TrimSpace(trimmed) != "" {
			return len(b.lines[line]) - len(trimmed)
		}
	}
	return 0
}
