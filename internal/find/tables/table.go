package tables

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/csvtext"
)

// maxProblems is how many bad rows are reported before reading stops.
const maxProblems = 10

// Table is a stream of rows under a heading.
type Table struct {
	name     string
	scan     *csvtext.Scanner
	columns  []string
	rows     int
	problems assay.Problems
	stopped  bool // nothing that follows could help
}

// Open reads the heading of a table. A name that ends in .tsv means tabs between fields; else the heading tells.
func Open(in io.Reader, name string) (*Table, error) {
	begin := csvtext.NewReader(in)
	comma := byte('\t')
	if !strings.HasSuffix(strings.ToLower(name), ".tsv") {
		comma = csvtext.Separator(begin)
	}
	t := &Table{name: name, scan: csvtext.NewScanner(begin, comma)}
	if !t.scan.Scan() {
		if t.scan.Err() == nil {
			return nil,
				assay.Problems{{Place: assay.Place{File: name}, What: "the file is empty", Hint: "its first line names the columns"}}
		}
		t.Bad("", "%s", t.scan.Err())
		return nil, t.problems
	}
	for i := range t.scan.Fields() {
		column := string(t.scan.Field(i))
		if column != "" && slices.Contains(t.columns, column) {
			t.Bad("", "the heading names the column %q twice", column)
		}
		t.columns = append(t.columns, column)
	}
	return t, t.wrong()
}

// Has reports whether there is a column of this name.
func (t *Table) Has(column string) bool { return column != "" && slices.Contains(t.columns, column) }

// Column returns the place of a column among the fields of a row.
func (t *Table) Column(name string) (int, error) {
	if i := slices.Index(t.columns, name); i >= 0 && name != "" {
		return i, nil
	}
	hint := assay.ThereAre(t.shown())
	if near, ok := assay.Closest(name, t.columns); ok && len(name) > 2 { // every letter is near to every other
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return 0, assay.Problems{{Place: assay.Place{File: t.name, Line: t.scan.Line()}, What: fmt.Sprintf("there is no column %q", name),
		Hint: hint}}
}

// columnsOf returns the places of several columns; -1 for an empty name. All that are missing are reported.
func (t *Table) columnsOf(names ...string) ([]int, error) {
	places := make([]int, len(names))
	for k, name := range names {
		places[k] = -1
		if name == "" {
			continue
		}
		i, err := t.Column(name)
		if missing, ok := err.(assay.Problems); ok {
			t.problems = append(t.problems, missing...)
		}
		places[k] = i
	}
	return places, t.wrong()
}

// shown returns the names of the columns, as many as fit a line.
func (t *Table) shown() []string {
	const most = 20
	all := make([]string, 0, most)
	for _, c := range t.columns[:min(most, len(t.columns))] {
		all = append(all, fmt.Sprintf("%q", clip([]byte(c))))
	}
	if more := len(t.columns) - most; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return all
}

// Next goes to the next row that has as many fields as the heading; false is the end, or enough problems.
func (t *Table) Next() bool {
	for len(t.problems) < maxProblems && !t.stopped && t.scan.Scan() {
		t.rows++
		if t.scan.Fields() == len(t.columns) {
			return true
		}
		t.Bad("a separator, a quote or a line end inside a field needs quotes around the field",
			"the row has %s, the heading %d", assay.Count(t.scan.Fields(), "field"), len(t.columns))
	}
	return false
}

// Field returns one field of the row, valid until [Table.Next].
func (t *Table) Field(column int) []byte { return t.scan.Field(column) }

// Line returns where the row begins.
func (t *Table) Line() int { return t.scan.Line() }

// Bad reports a problem of the row.
func (t *Table) Bad(hint, format string, args ...any) { t.badAt(t.scan.Line(), hint, format, args...) }

func (t *Table) badAt(line int, hint, format string, args ...any) {
	t.problems.Add(assay.Place{File: t.name, Line: line}, hint, format, args...)
}

// stop gives up on the rows that follow.
func (t *Table) stop() { t.stopped = true }

// End returns the error that ended the table, once there is no next row.
func (t *Table) End() error {
	switch {
	case t.scan.Err() != nil:
		t.Bad("", "%s", t.scan.Err())
	case len(t.problems) >= maxProblems:
		t.Bad("", "that is enough: what follows was not read")
	case t.rows == 0:
		t.Bad("", "there is no row under the heading")
	}
	return t.wrong()
}

// wrong are the problems as an error, nil when there is none.
func (t *Table) wrong() error {
	if len(t.problems) == 0 {
		return nil
	}
	return t.problems
}
