package inputs

import (
	"context"
	"hash/maphash"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Check reads every input and returns all that is wrong, at most 20 problems for each and then how many more. It reads
// what a run would read: rows behind a `limit` are not looked at.
func (s *Source) Check(ctx context.Context) assay.Problems {
	var all assay.Problems
	for _, name := range slices.Sorted(maps.Keys(s.specs)) {
		all = append(all, s.check(ctx, s.specs[name], func(assay.Item) bool { return true })...)
	}
	return all.Sort()
}

// Walk checks one input and hands every sound item to visit on the way, so that who needs both reads it once. When
// visit returns false the walk ends, and what was not read is not checked.
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

// checkColumns reports which columns are surely missing, once instead of once a row. It returns the spec without the
// parts that name them, so that the rest can still be checked.
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

// listedMost is how many names are shown.
const listedMost = 12

// listed shows names, not at length.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	shown := make([]string, 0, listedMost)
	for _, name := range names[:min(listedMost, len(names))] {
		shown = append(shown, quote(name))
	}
	if len(names) > listedMost {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// checkFolder warns of what a folder holds beside the files that are read.
func (s *Source) checkFolder(spec Spec, f *findings) {
	if spec.File == "" || spec.Files != "" || assay.IsRemote(spec.File) {
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
		f.warn(spec.At, "`files:` chooses, `format:` says what they are", "input %s: not read, for their suffix names no known format: %s",
			spec.Name, listed(strange))
	}
	if len(folders) > 0 {
		f.warn(spec.At, "`files: \"**/*\"` reads them too", "input %s: folders inside are not read: %s", spec.Name, listed(folders))
	}
}

func (s *Source) checkItems(ctx context.Context, spec Spec, f *findings, visit func(assay.Item) bool) {
	ids := newDuplicates()
	items, expects, clean := 0, 0, true
	for it, err := range s.stream(ctx, spec) {
		if err == nil {
			err = s.attach(spec.Name, &it)
		}
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
		f.problem(spec.At, s.emptyHint(ctx, spec), "input %s has no items", spec.Name)
	case expects == 0 && clean && spec.ExpectField != "":
		f.problem(spec.At, "", "input %s: no item has a right answer in field %s", spec.Name, quote(spec.ExpectField))
	}
	s.reportDuplicates(ctx, spec, ids, f)
}

// emptyHint returns why an input may have no items: its file is empty, or what is asked for is not among its ids.
func (s *Source) emptyHint(ctx context.Context, spec Spec) string {
	if spec.Rows == nil && spec.Where == nil {
		if info, err := fs.Stat(s.fsys, cleanPath(spec.File)); err == nil && info.Size() == 0 && !info.IsDir() {
			return spec.File + " is empty"
		}
		return ""
	}
	spec.Rows, spec.Where, spec.Sample, spec.Limit = nil, nil, nil, 0
	var ids []string
	for it, err := range s.stream(ctx, spec) {
		if err != nil || len(ids) > listedMost {
			break
		}
		ids = append(ids, it.ID)
	}
	return "do `rows` or `where`, --rows or --item leave any? its ids are " + listed(ids)
}

// duplicates finds ids that are equal or look equal without holding them: one hash for each id, and a second reading
// for those whose hashes met.
type duplicates struct {
	seed   maphash.Seed
	seen   hashes
	met    map[uint64][]sighting
	unheld int // meetings beyond those that the second reading looks at
}

// sighting is one id with its place.
type sighting struct {
	id    string
	place assay.Place
}

// maxMet bounds what the second reading holds.
const maxMet = 1000

func newDuplicates() *duplicates {
	return &duplicates{seed: maphash.MakeSeed(), met: map[uint64][]sighting{}}
}

// hash returns the same for ids that differ only in case or in white space around them: file systems and people take
// such ids for one.
func (t *duplicates) hash(id string) uint64 { return maphash.String(t.seed, folded(id)) }

func folded(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

func (t *duplicates) see(id string) {
	h := t.hash(id)
	if t.seen.add(h) {
		return
	}
	switch _, known := t.met[h]; {
	case known:
	case len(t.met) < maxMet:
		t.met[h] = nil
	default:
		t.unheld++
	}
}

// reportDuplicates reads the input again where hashes met, and reports which ids are equal.
func (s *Source) reportDuplicates(ctx context.Context, spec Spec, t *duplicates, f *findings) {
	if len(t.met) == 0 {
		return
	}
	for it, err := range s.stream(ctx, spec) {
		if err != nil {
			continue
		}
		h := t.hash(it.ID)
		before, met := t.met[h]
		if !met {
			continue
		}
		if reportDuplicate(before, it, f) {
			t.met[h] = append(before, sighting{it.ID, it.Place})
		}
	}
	f.more += t.unheld
}

// reportDuplicate compares an id with those before it under the same hash. It reports whether the id is new among them.
func reportDuplicate(before []sighting, it assay.Item, f *findings) bool {
	for _, b := range before {
		if b.id == it.ID {
			f.problem(it.Place, "ids must differ", "the id %s also stands at %s", quote(it.ID), b.place)
			return false
		}
	}
	for _, b := range before {
		if folded(b.id) == folded(it.ID) {
			f.warn(it.Place, "", "the id %s differs from %s at %s only in case or outer white space", quote(it.ID), quote(b.id), b.place)
			break
		}
	}
	return true
}
