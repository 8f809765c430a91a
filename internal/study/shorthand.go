package study

import (
	"slices"
	"strings"
)

// expand writes out the shorthands of a study, before anything is read from the tree:
//
//	inputs: {q: questions.txt}       inputs: {q: {file: questions.txt}}
//	inputs: {all: {of: [a, b]}}      inputs: {all: {all: [a, b]}}
//	ask: [a, b]                      ask: a_b, and inputs: {a_b: {all: [a, b]}}
//
// A stage that compares may name several inputs, too.
func expand(root *node) {
	inputs := root.child("inputs")
	if inputs == nil || inputs.kind != kindMap {
		return
	}
	for i := range inputs.pairs {
		inputs.pairs[i].val = expandInput(inputs.pairs[i].val)
	}
	stages := root.child("stages")
	if stages == nil || stages.kind != kindList {
		return
	}
	for _, st := range stages.list {
		if st.kind != kindMap {
			continue
		}
		for i := range st.pairs {
			if p := &st.pairs[i]; p.key == string(VerbAsk) || p.key == string(VerbCompare) {
				p.val = union(inputs, p.val)
			}
		}
	}
}

// expandInput returns an input in its long form.
func expandInput(n *node) *node {
	if n.kind == kindText {
		return &node{kind: kindMap, at: n.at, body: n.body, pairs: []pair{{key: "file", at: n.at, val: n}}}
	}
	for i := range n.pairs {
		if p := &n.pairs[i]; p.key == "of" && p.val.kind == kindList {
			p.key = "all"
		}
	}
	return n
}

// union returns the name of an input that holds all of a list of inputs: it is added to the others. Anything but a list
// of names stays as it is.
func union(inputs, n *node) *node {
	if n.kind != kindList || len(n.list) == 0 {
		return n
	}
	var names []string
	for _, c := range n.list {
		if c.kind != kindText {
			return n
		}
		names = append(names, c.text)
	}
	if len(names) == 1 {
		return n.list[0]
	}
	name := strings.Join(names, "_")
	for taken(inputs, name, names) {
		name += "_"
	}
	if inputs.child(name) == nil {
		whole := &node{kind: kindMap, at: n.at, body: n.body, pairs: []pair{{key: "all", at: n.at, val: n}}}
		inputs.pairs = append(inputs.pairs, pair{key: name, at: n.at, val: whole})
	}
	return &node{kind: kindText, text: name, at: n.at, body: n.body}
}

// taken reports whether an input of another kind has a name already.
func taken(inputs *node, name string, names []string) bool {
	have := inputs.child(name)
	if have == nil {
		return false
	}
	all := have.child("all")
	if len(have.pairs) != 1 || all == nil || all.kind != kindList {
		return true
	}
	return !slices.EqualFunc(all.list, names, func(c *node, name string) bool { return c.text == name })
}
