package inputs

import (
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
)

// shape returns what is wrong with a spec and with those it is made of, before any file is read.
func (s *Source) shape(spec Spec) assay.Problems {
	problems := s.own(spec)
	done := map[string]bool{spec.Name: true}
	for todo := s.needs(spec); len(todo) > 0; todo = todo[1:] {
		if next := s.specs[todo[0]]; !done[todo[0]] {
			done[todo[0]] = true
			problems = append(problems, s.own(next)...)
			todo = append(todo, s.needs(next)...)
		}
	}
	return problems
}

// needs names the inputs a spec reads.
func (s *Source) needs(spec Spec) []string {
	var names []string
	for _, name := range append([]string{spec.Of}, spec.All...) {
		if _, ok := s.specs[name]; ok {
			names = append(names, name)
		}
	}
	for _, j := range spec.Join {
		if _, ok := s.specs[j.With]; ok {
			names = append(names, j.With)
		}
	}
	return names
}

// own returns what is wrong with one spec by itself.
func (s *Source) own(spec Spec) assay.Problems {
	var p assay.Problems
	s.ownSource(spec, &p)
	for _, r := range spec.Rows {
		if r.From < 1 || r.To != 0 && r.To < r.From {
			p.Add(spec.At, "rows count from 1, such as 1-100", "input %s: rows %s are not a range", spec.Name, r)
		}
	}
	if spec.Sample != nil && spec.Sample.N < 1 {
		p.Add(spec.At, "", "input %s: a sample of %d keeps nothing", spec.Name, spec.Sample.N)
	}
	if spec.Limit < 0 {
		p.Add(spec.At, "", "input %s: the limit %d is negative", spec.Name, spec.Limit)
	}
	if spec.Expect != "" && spec.ExpectField != "" {
		p.Add(spec.At, "", "input %s: `expect` is both a text and a field", spec.Name)
	}
	ownJoins(spec, &p)
	if way := s.cycle(spec); way != nil {
		p.Add(spec.At, "", "input %s is made of itself: %s", spec.Name, strings.Join(way, " → "))
	}
	return p
}

func (s *Source) ownSource(spec Spec, p *assay.Problems) {
	sources := 0
	for _, has := range []bool{spec.File != "" || spec.Files != "", spec.Of != "", len(spec.All) > 0, spec.Items != nil} {
		if has {
			sources++
		}
	}
	switch {
	case sources == 0:
		p.Add(spec.At, "such as file: data/questions.csv; or `of`, `all` or `items`",
			"input %s does not say where its items come from", spec.Name)
	case sources > 1:
		p.Add(spec.At, "give one of `file`, `of`, `all` and `items`", "input %s has %s", spec.Name, count(sources, "source"))
	}
	if spec.Of != "" {
		if _, ok := s.specs[spec.Of]; !ok {
			p.Add(spec.At, "", "input %s is a slice of %s, which the study does not have", spec.Name, quote(spec.Of))
		}
		if spec.ID != "" {
			p.Add(spec.At, "remove `id`", "input %s is a slice, which keeps the ids of the whole", spec.Name)
		}
	}
	ownUnion(spec, s.specs, p)
	if spec.Format != "" {
		if _, ok := formatNamed(spec.Format, false); !ok {
			p.Add(spec.At, knownFormats, "input %s: unknown format %s", spec.Name, quote(spec.Format))
		}
		if spec.File == "" && spec.Files == "" {
			p.Add(spec.At, "", "input %s: `format` goes with a file", spec.Name)
		}
	}
	for part := range strings.SplitSeq(spec.Files, "/") {
		if _, err := path.Match(part, ""); err != nil {
			p.Add(spec.At, "", "input %s: the glob %s cannot be read", spec.Name, quote(spec.Files))
			break
		}
	}
}

// ownUnion returns what is wrong with the inputs that a spec combines.
func ownUnion(spec Spec, specs map[string]Spec, p *assay.Problems) {
	for i, name := range spec.All {
		if _, ok := specs[name]; !ok {
			p.Add(spec.At, "", "input %s holds all of %s, which the study does not have", spec.Name, quote(name))
		}
		if slices.Contains(spec.All[:i], name) {
			p.Add(spec.At, "", "input %s holds %s twice", spec.Name, quote(name))
		}
	}
	if len(spec.All) > 0 && spec.ID != "" {
		p.Add(spec.At, "remove `id`", "input %s holds other inputs, whose ids are kept", spec.Name)
	}
}

func ownJoins(spec Spec, p *assay.Problems) {
	var names []string
	for _, j := range spec.Join {
		at := j.place(spec)
		if j.With == "" || j.Left == "" || j.Right == "" {
			p.Add(at, "join: {with: FILE, match: left = right, as: NAME}",
				"input %s: a join needs `with` and two fields to match", spec.Name)
			continue
		}
		if j.Missing != "" && j.Missing != MissingProblem && j.Missing != MissingKeep {
			p.Add(at, "problem or keep", "input %s: unknown `missing` %s", spec.Name, quote(string(j.Missing)))
		}
		if slices.Contains(names, j.as()) {
			p.Add(at, "choose names with `as:`", "input %s: two joins fill the field %s", spec.Name, quote(j.as()))
		}
		names = append(names, j.as())
	}
}

// cycle returns a way from an input back to itself; nil where there is none.
func (s *Source) cycle(spec Spec) []string {
	done := map[string]bool{}
	var visit func(name string, way []string) []string
	visit = func(name string, way []string) []string {
		for _, next := range s.needs(s.specs[name]) {
			here := append(slices.Clip(way), next)
			if next == spec.Name {
				return here
			}
			if !done[next] {
				done[next] = true
				if found := visit(next, here); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return visit(spec.Name, []string{spec.Name})
}
