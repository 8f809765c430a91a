package studyfile

import (
	"slices"
	"strings"

	"assay/internal/study"
	"assay/internal/study/decode"
)

// expand writes out the shorthands of a study, before anything is read from the tree:
//
//	inputs: {q: questions.txt}       inputs: {q: {file: questions.txt}}
//	inputs: {all: {of: [a, b]}}      inputs: {all: {all: [a, b]}}
//	ask: [a, b]                      ask: a_b, and inputs: {a_b: {all: [a, b]}}
//
// A stage that compares may name several inputs, too.
func expand(root *decode.Node) {
	inputs := root.Child("inputs")
	if inputs == nil || inputs.Kind != decode.Map {
		return
	}
	for i := range inputs.Pairs {
		inputs.Pairs[i].Value = expandInput(inputs.Pairs[i].Value)
	}
	stages := root.Child("stages")
	if stages == nil || stages.Kind != decode.List {
		return
	}
	for _, st := range stages.List {
		if st.Kind != decode.Map {
			continue
		}
		for i := range st.Pairs {
			if p := &st.Pairs[i]; p.Key == string(study.VerbAsk) || p.Key == string(study.VerbCompare) {
				p.Value = union(inputs, p.Value)
			}
		}
	}
}

// expandInput returns an input in its long form.
func expandInput(n *decode.Node) *decode.Node {
	if n.Kind == decode.Text {
		return &decode.Node{Kind: decode.Map, At: n.At, Body: n.Body, Pairs: []decode.Pair{{Key: "file", At: n.At, Value: n}}}
	}
	for i := range n.Pairs {
		if p := &n.Pairs[i]; p.Key == "of" && p.Value.Kind == decode.List {
			p.Key = "all"
		}
	}
	return n
}

// union returns the name of an input that holds all of a list of inputs: it is added to the others. Anything but a list
// of names stays as it is.
func union(inputs, n *decode.Node) *decode.Node {
	if n.Kind != decode.List || len(n.List) == 0 {
		return n
	}
	var names []string
	for _, c := range n.List {
		if c.Kind != decode.Text {
			return n
		}
		names = append(names, c.Text)
	}
	if len(names) == 1 {
		return n.List[0]
	}
	name := strings.Join(names, "_")
	for taken(inputs, name, names) {
		name += "_"
	}
	if inputs.Child(name) == nil {
		whole := &decode.Node{Kind: decode.Map, At: n.At, Body: n.Body, Pairs: []decode.Pair{{Key: "all", At: n.At, Value: n}}}
		inputs.Pairs = append(inputs.Pairs, decode.Pair{Key: name, At: n.At, Value: whole})
	}
	return &decode.Node{Kind: decode.Text, Text: name, At: n.At, Body: n.Body}
}

// taken reports whether an input of another kind has a name already.
func taken(inputs *decode.Node, name string, names []string) bool {
	have := inputs.Child(name)
	if have == nil {
		return false
	}
	all := have.Child("all")
	if len(have.Pairs) != 1 || all == nil || all.Kind != decode.List {
		return true
	}
	return !slices.EqualFunc(all.List, names, func(c *decode.Node, name string) bool { return c.Text == name })
}
