package studyfile

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// override applies the profile and then every path=value to the tree, before anything is read from it.
func (r *reader) override(root *decode.Node, o Options) {
	if o.Profile != "" {
		profile := root.Child("profiles").Child(o.Profile)
		if profile == nil {
			var profiles decode.Ordered[study.Any]
			if n := root.Child("profiles"); n != nil {
				r.Into(n, &profiles)
			}
			hint := "the study has none"
			if len(profiles.Names()) > 0 {
				hint = assay.Choices(o.Profile, profiles.Names())
			}
			r.found.Add(root.At, hint, "no profile %s under `profiles`", decode.Quote(o.Profile))
		} else {
			r.apply(root, profile)
		}
	}
	for _, set := range o.Set {
		at := assay.Place{File: "--set " + set}
		key, value, ok := strings.Cut(set, "=")
		if !ok || key == "" {
			r.found.Add(at, "such as --set inputs.questions.limit=5", "want path=value")
			continue
		}
		val, problems := decode.Parse("--set "+set, []byte(value))
		if value == "" {
			val, problems = &decode.Node{Kind: decode.Text, At: at, Body: at}, nil
		}
		r.found = append(r.found, problems...)
		if val != nil && !r.misnamed(root, key, at) {
			r.setPath(root, key, val)
		}
	}
}

// apply puts the values of a profile where their paths lead.
func (r *reader) apply(root, profile *decode.Node) {
	for _, p := range profile.Pairs {
		if !r.misnamed(root, p.Key, p.At) {
			r.setPath(root, p.Key, p.Value)
		}
	}
}

// otherProfiles warns of what is wrong with profiles that are not applied, as far as the keys of a study tell. text is the file,
// profiles are all that it has, and known are the problems that it has without them.
func (r *reader) otherProfiles(name string, text []byte, profiles []decode.Pair, applied string, known assay.Problems) {
	for _, profile := range profiles {
		if profile.Key == applied || profile.Value.Kind != decode.Map {
			continue
		}
		root, _ := decode.Parse(name, text)
		expand(root)
		other := &reader{fsys: r.fsys, study: &study.Study{}}
		other.Decoder.Problems = &other.found
		other.apply(root, root.Child("profiles").Child(profile.Key))
		expand(root)
		other.Into(root, other.study)
		for _, p := range other.found {
			if !slices.Contains(known, p) {
				p.What, p.Warning = "profile "+decode.Quote(profile.Key)+": "+p.What, true
				r.found = append(r.found, p)
			}
		}
	}
}

// pairsOf returns the pairs of a map; of nothing, none.
func pairsOf(n *decode.Node) []decode.Pair {
	if n == nil {
		return nil
	}
	return n.Pairs
}

// misnamed reports a path that leads into a lane, an input or the like that the study does not have: whoever sets a key of it does not
// mean to add one.
func (r *reader) misnamed(root *decode.Node, dotted string, at assay.Place) bool {
	parts := strings.Split(dotted, ".")
	if len(parts) < 3 || !slices.Contains([]string{"inputs", "lanes", "providers", "rubrics", "traits"}, parts[0]) {
		return false
	}
	all := root.Child(parts[0])
	if all == nil || all.Kind != decode.Map || all.Child(parts[1]) != nil {
		return false
	}
	var names []string
	for _, p := range all.Pairs {
		names = append(names, p.Key)
	}
	r.found.Add(at, assay.Choices(parts[1], names), "%s has no %s", parts[0], decode.Quote(parts[1]))
	return true
}

// setPath puts a value where a dotted path leads, making maps on the way; stages are reached by name or number.
func (r *reader) setPath(n *decode.Node, dotted string, val *decode.Node) {
	parts := strings.Split(dotted, ".")
	for i, part := range parts {
		last := i == len(parts)-1
		if n.Kind == decode.List {
			child := element(n, part)
			if child == nil || last {
				r.found.Add(val.At, "an element is named by its `name` or number", "%s: no %s here", dotted, decode.Quote(part))
				return
			}
			n = child
			continue
		}
		if n.Kind != decode.Map && n.Kind != decode.Null {
			r.found.Add(val.At, "", "%s: %s is %s, not a map", dotted, decode.Quote(strings.Join(parts[:i], ".")), n.Kind)
			return
		}
		n.Kind = decode.Map
		child := n.Child(part)
		switch {
		case last:
			putPair(n, part, val)
		case child == nil:
			child = &decode.Node{Kind: decode.Map, At: val.At, Body: val.Body}
			putPair(n, part, child)
		}
		n = child
	}
}

func putPair(n *decode.Node, key string, val *decode.Node) {
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			n.Pairs[i].Value = val
			return
		}
	}
	n.Pairs = append(n.Pairs, decode.Pair{Key: key, At: val.At, Value: val})
}

func element(n *decode.Node, name string) *decode.Node {
	for _, c := range n.List {
		if s := c.Child("name"); s != nil && s.Text == name {
			return c
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(n.List) {
		return n.List[i-1]
	}
	return nil
}
