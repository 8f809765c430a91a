package study

import (
	"reflect"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// override applies the profile and then every path=value to the tree, before anything is read from it.
func (r *run) override(root *node, o Options) {
	if o.Profile != "" {
		profile := root.child("profiles").child(o.Profile)
		if profile == nil {
			var profiles Ordered[Any]
			if n := root.child("profiles"); n != nil {
				r.into(n, reflect.ValueOf(&profiles).Elem())
			}
			r.found.Add(root.at, assay.Choices(o.Profile, profiles.Names()), "no profile %s under `profiles`", quote(o.Profile))
		} else {
			for _, p := range profile.pairs {
				r.setPath(root, p.key, p.val)
			}
		}
	}
	for _, set := range o.Set {
		at := assay.Place{File: "--set " + set}
		key, value, ok := strings.Cut(set, "=")
		if !ok || key == "" {
			r.found.Add(at, "such as --set inputs.questions.limit=5", "want path=value")
			continue
		}
		val, problems := parseTree("--set "+set, []byte(value))
		if value == "" {
			val, problems = &node{kind: kindText, at: at, body: at}, nil
		}
		r.found = append(r.found, problems...)
		if val != nil {
			r.setPath(root, key, val)
		}
	}
}

// setPath puts a value where a dotted path leads, making maps on the way; stages are reached by name or number.
func (r *run) setPath(n *node, dotted string, val *node) {
	parts := strings.Split(dotted, ".")
	for i, part := range parts {
		last := i == len(parts)-1
		if n.kind == kindList {
			child := element(n, part)
			if child == nil || last {
				r.found.Add(val.at, "an element is named by its `name` or number", "%s: no %s here", dotted, quote(part))
				return
			}
			n = child
			continue
		}
		if n.kind != kindMap && n.kind != kindNull {
			r.found.Add(val.at, "", "%s: %s is %s, not a map", dotted, quote(strings.Join(parts[:i], ".")), n.kind)
			return
		}
		n.kind = kindMap
		child := n.child(part)
		switch {
		case last:
			putPair(n, part, val)
		case child == nil:
			child = &node{kind: kindMap, at: val.at, body: val.body}
			putPair(n, part, child)
		}
		n = child
	}
}

func putPair(n *node, key string, val *node) {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			n.pairs[i].val = val
			return
		}
	}
	n.pairs = append(n.pairs, pair{key: key, at: val.at, val: val})
}

func element(n *node, name string) *node {
	for _, c := range n.list {
		if s := c.child("name"); s != nil && s.text == name {
			return c
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(n.list) {
		return n.list[i-1]
	}
	return nil
}
