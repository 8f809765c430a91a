package inputs

import (
	"context"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Check reads every input and returns all that is wrong, at most 20 problems for each and then how many more. It reads what
// a run would read: rows behind a `limit` are not looked at.
func (s *Source) Check(ctx context.Context) assay.Problems {
	var all assay.Problems
	for _, name := range slices.Sorted(maps.Keys(s.specs)) {
		all = append(all, s.check(ctx, s.specs[name], func(assay.Item) bool { return true })...)
	}
	return all.Sort()
}

// Walk checks one input and hands every sound item to visit on the way, so that who needs both reads it once. When visit
// returns false the walk ends, and what was not read is not checked.
func (s *Source) Walk(ctx context.Context, name string, visit func(assay.Item) bool) assay.Problems {
	spec, ok := s.specs[name]
	if !ok {
		return assay.Problems{{What: "the study has no input " + quote(name)}}
	}
	return s.check(ctx, spec, visit).Sort()
}

// findings are the problems of one input.
type findings struct {
	spec  Spec
	most  int
	found assay.Problems
	more  int
}

func (f *findings) add(problems ...assay.Problem) {
	room := min(max(f.most-len(f.found), 0), len(problems))
	f.found = append(f.found, problems[:room]...)
	f.more += len(problems) - room
}

// fail adds an error of a stream.
func (f *findings) fail(err error) {
	if p, ok := err.(assay.Problems); ok {
		f.add(p...)
		return
	}
	f.problem(f.spec.At, "", "%v", err)
}

func (f *findings) problem(at assay.Place, hint, format string, args ...any) {
	var p assay.Problems
	p.Add(at, hint, format, args...)
	f.add(p...)
}

func (f *findings) warn(at assay.Place, hint, format string, args ...any) {
	var p assay.Problems
	p.Warn(at, hint, format, args...)
	f.add(p...)
}

func (f *findings) all() assay.Problems {
	if f.more > 0 {
		f.found.Add(f.spec.At, "", "input %s: and %s more", f.spec.Name, count(f.more, "problem"))
	}
	return f.found
}

func (s *Source) check(ctx context.Context, spec Spec, visit func(assay.Item) bool) assay.Problems {
	f := &findings{spec: spec, most: s.caps.shown}
	f.add(s.own(spec)...)
	if len(s.shape(spec)) > 0 {
		return f.all() // what it is made of cannot be read
	}
	sound := s.checkColumns(spec, f)
	s.checkFolder(spec, f)
	s.checkItems(ctx, sound, f, visit)
	return f.all()
}

// checkColumns reports which columns are surely missing, once instead of once a row. It returns the spec without the parts
// that name them, so that the rest can still be checked.
func (s *Source) checkColumns(spec Spec, f *findings) Spec {
	k := s.sourceFields(spec)
	missing := func(what string, path *string) {
		if *path != "" && k.lacks(*path) {
			f.problem(spec.At, "it has "+listed(k.names), "input %s has no field %s, which `%s` names", spec.Name, quote(*path), what)
			*path = ""
		}
	}
	missing("id", &spec.ID)
	var joins []Join
	for _, j := range spec.Join {
		far := s.farFields(spec, j)
		switch {
		case j.Left != "id" && k.lacks(j.Left):
			f.problem(j.place(spec), "it has "+listed(k.names), "input %s has no field %s to join by", spec.Name, quote(j.Left))
		case j.Right != "id" && far.lacks(j.Right):
			f.problem(j.place(spec), "it has "+listed(far.names), "%s has no field %s to join by", j.With, quote(j.Right))
		default:
			joins = append(joins, j)
		}
		k.add(j.as())
	}
	spec.Join = joins
	if spec.Text != "" && spec.Text != "text" && slices.Contains(k.names, "text") {
		f.warn(spec.At, "", "input %s has a field `text`, which `text: %s` hides", spec.Name, spec.Text)
	}
	missing("text", &spec.Text)
	if spec.Cluster != "id" {
		missing("cluster", &spec.Cluster)
	}
	missing("expect", &spec.ExpectField)
	if spec.Expect != "" && slices.Contains(k.names, spec.Expect) {
		f.warn(spec.At, "for the field say `expect: {field: "+spec.Expect+"}`",
			"input %s: `expect: %s` is a text for every item, though a field has that name", spec.Name, spec.Expect)
	}
	return spec
}

// listed shows names, not at length.
func listed(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none"
	}
	shown := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, quote(name))
	}
	if len(names) > most {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// checkFolder warns of what a folder holds beside the files that are read.
func (s *Source) checkFolder(spec Spec, f *findings) {
	if spec.File == "" || spec.Files != "" {
		return
	}
	var strange, folders []string
	for e, err := range s.walk(cleanPath(spec.File), "") {
		switch {
		case err != nil:
			return // reported with the items
		case e.folder:
			folders = append(folders, e.rel)
		default:
			if _, ok := formatNamed(formatName(spec, e.rel), true); !ok {
				strange = append(strange, e.rel)
			}
		}
	}
	if len(strange) > 0 {
		f.warn(spec.At, "`files:` chooses, `format:` says what they are", "input %s: not read, for their suffix names no known format: %s", spec.Name, listed(strange))
	}
	if len(folders) > 0 {
		f.warn(spec.At, "`files: \"**/*\"` reads them too", "input %s: folders inside are not read: %s", spec.Name, listed(folders))
	}
}

func (s *Source) checkItems(ctx context.Context, spec Spec, f *findings, visit func(assay.Item) bool) {
	ids := newTwins()
	items, expects, clean := 0, 0, true
	for it, err := range s.stream(ctx, spec) {
		if err != nil {
			clean = false
			if _, elsewhere := err.(inherited); !elsewhere {
				f.fail(err)
			}
			continue
		}
		items++
		if it.Expect != "" {
			expects++
		}
		if spec.Of == "" && !spec.Repeated {
			ids.see(it.ID)
		}
		if !visit(it) {
			clean = false
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		f.problem(spec.At, "", "the check of input %s was stopped: %v", spec.Name, ctx.Err())
		return
	case items == 0 && clean:
		f.problem(spec.At, emptyHint(spec), "input %s has no items", spec.Name)
	case expects == 0 && clean && spec.ExpectField != "":
		f.problem(spec.At, "", "input %s: no item has a right answer in field %s", spec.Name, quote(spec.ExpectField))
	}
	s.reportTwins(ctx, spec, ids, f)
}

func emptyHint(spec Spec) string {
	if spec.Rows != nil || spec.Where != nil {
		return "do `rows` or `where`, --rows or --item leave any?"
	}
	return ""
}
