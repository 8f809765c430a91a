package assay

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Coordinate is one of the coordinates of a request. Its name is that of its column in the ledger and of its field in JSON and in rows.
type Coordinate struct {
	Name   string
	text   func(*Coordinates) *string // nil: it is a number
	number func(*Coordinates) *int
}

// CoordinateList is some coordinates, in an order.
type CoordinateList []Coordinate

// AllCoordinates returns every coordinate of a request. The number of the try and the fallback judge are not among
// them: the verdicts of all tries have the same subject.
func AllCoordinates() CoordinateList {
	return CoordinateList{
		{Name: "stage", text: func(c *Coordinates) *string { return &c.Stage }},
		{Name: "source", text: func(c *Coordinates) *string { return &c.Source }},
		{Name: "item", text: func(c *Coordinates) *string { return &c.Item }},
		{Name: "lane", text: func(c *Coordinates) *string { return &c.Lane }},
		{Name: "against", text: func(c *Coordinates) *string { return &c.Against }},
		{Name: "template", text: func(c *Coordinates) *string { return &c.Template }},
		{Name: "turn", number: func(c *Coordinates) *int { return &c.Turn }},
		{Name: "branch", text: func(c *Coordinates) *string { return &c.Branch }},
		{Name: "draw", number: func(c *Coordinates) *int { return &c.Draw }},
		{Name: "judge", text: func(c *Coordinates) *string { return &c.Judge }},
		{Name: "prompt", text: func(c *Coordinates) *string { return &c.Prompt }},
		{Name: "trait", text: func(c *Coordinates) *string { return &c.Trait }},
		{Name: "vote", number: func(c *Coordinates) *int { return &c.Vote }},
	}
}

// But returns the list without some of its names.
func (l CoordinateList) But(names ...string) CoordinateList {
	return slices.DeleteFunc(slices.Clone(l), func(k Coordinate) bool { return slices.Contains(names, k.Name) })
}

// Names returns the names of the list.
func (l CoordinateList) Names() []string {
	out := make([]string, len(l))
	for i, k := range l {
		out[i] = k.Name
	}
	return out
}

// Columns returns the names of the list as columns of a table, which may be empty.
func (l CoordinateList) Columns(table string) string {
	if table != "" {
		table += "."
	}
	return table + strings.Join(l.Names(), ", "+table)
}

// Texts yields names and values of those of the list that are texts and set.
func (l CoordinateList) Texts(c *Coordinates) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range l {
			if l[i].text != nil && *l[i].text(c) != "" && !yield(l[i].Name, *l[i].text(c)) {
				return
			}
		}
	}
}

// Into appends pointers to the values of the list, for a scan.
func (l CoordinateList) Into(to []any, c *Coordinates) []any {
	for i := range l {
		if k := &l[i]; k.text != nil {
			to = append(to, k.text(c))
		} else {
			to = append(to, k.number(c))
		}
	}
	return to
}

// Values appends the values of the list: texts, and numbers as int64.
func (l CoordinateList) Values(to []any, c *Coordinates) []any {
	for i := range l {
		if k := &l[i]; k.text != nil {
			to = append(to, *k.text(c))
		} else {
			to = append(to, int64(*k.number(c)))
		}
	}
	return to
}

// Set reads a value that was written as a text.
func (k *Coordinate) Set(c *Coordinates, value string) error {
	if k.text != nil {
		*k.text(c) = value
		return nil
	}
	n, err := strconv.Atoi(value)
	if err == nil {
		*k.number(c) = n
	}
	return err
}
