package batchfile

import "assay/internal/assay"

// findings gathers what is wrong with a file: the same thing on many lines is reported once, with how many there are.
type findings struct {
	file   string
	order  []string
	groups map[string]*finding
	more   int // lines whose trouble found no room
}

type finding struct {
	assay.Problem
	again int
}

// maxFindings is as much as a person reads.
const maxFindings = 25

func newFindings(file string) *findings {
	return &findings{file: file, groups: map[string]*finding{}}
}

func (f *findings) add(line int, hint, what string) { f.put(line, hint, what, false) }

func (f *findings) warn(line int, hint, what string) { f.put(line, hint, what, true) }

func (f *findings) put(line int, hint, what string, warning bool) {
	if g, ok := f.groups[what]; ok {
		g.again++
		return
	}
	if len(f.order) == maxFindings {
		f.more++
		return
	}
	f.order = append(f.order, what)
	f.groups[what] = &finding{Problem: assay.Problem{Place: assay.Place{File: f.file, Line: line}, What: what, Hint: hint,
		Warning: warning}}
}

// problems returns them in the order they were found.
func (f *findings) problems() assay.Problems {
	var out assay.Problems
	for _, what := range f.order {
		g := f.groups[what]
		p := g.Problem
		if g.again > 0 {
			p.What += ", and on " + assay.Count(g.again, "further line")
		}
		out = append(out, p)
	}
	if f.more > 0 {
		out = append(out, assay.Problem{Place: assay.Place{File: f.file},
			What: assay.Count(f.more, "further line") + assay.Verb(f.more, " has", " have") + " problems of other kinds"})
	}
	return out
}

// failed reports whether anything but warnings was found.
func (f *findings) failed() bool {
	for _, g := range f.groups {
		if !g.Warning {
			return true
		}
	}
	return f.more > 0
}
