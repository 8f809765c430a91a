package assay

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

// Problem is something wrong in a study: where, what, and what to do about it.
type Problem struct {
	Place
	What    string
	Hint    string // empty: none
	Warning bool   // a warning never stops anything
	Lane    string // that it is about; empty: more than one lane
}

// String is file:line:col: what (hint).
func (p Problem) String() string {
	var b strings.Builder
	if at := p.Place.String(); at != "" {
		b.WriteString(at + ": ")
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.What)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Problems are all that is wrong with a study, reported at once.
type Problems []Problem

// Add appends a problem.
func (p *Problems) Add(at Place, hint, format string, args ...any) {
	*p = append(*p, Problem{Place: at, What: fmt.Sprintf(format, args...), Hint: hint})
}

// Warn appends a warning.
func (p *Problems) Warn(at Place, hint, format string, args ...any) {
	*p = append(*p, Problem{Place: at, What: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

// Touch reports whether there is a problem in the line of a place already: what follows from it need not be reported, too.
func (p Problems) Touch(at Place) bool {
	return slices.ContainsFunc(p, func(q Problem) bool { return q.File == at.File && q.Line == at.Line && !q.Warning })
}

// Errors leaves the warnings out.
func (p Problems) Errors() Problems {
	return slices.DeleteFunc(slices.Clone(p), func(q Problem) bool { return q.Warning })
}

// Warnings leaves the errors out.
func (p Problems) Warnings() Problems {
	return slices.DeleteFunc(slices.Clone(p), func(q Problem) bool { return !q.Warning })
}

// Sort orders the problems by place and leaves out repetitions.
func (p Problems) Sort() Problems {
	out := slices.Clone(p)
	order := func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.What, b.What))
	}
	sort.SliceStable(out, func(i, j int) bool { return order(out[i], out[j]) < 0 })
	return slices.Compact(out)
}

// Error lists every problem, one on a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = q.String()
	}
	return strings.Join(lines, "\n")
}

// FileReason returns why a file cannot be had, without its path.
func FileReason(err error) string {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or folder"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}
