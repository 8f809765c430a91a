package gather

import (
	"slices"
	"sort"

	"assay/internal/find/analysis"
)

// Group is the rows that share the values of the fields a table is grouped by.
type Group[T any] struct {
	Values []string
	Cover  analysis.Coverage
	Data   T
}

// By returns the values that the group has in the fields.
func (g *Group[T]) By(fields []string) []analysis.Value {
	out := make([]analysis.Value, len(fields))
	for i, f := range fields {
		out[i] = analysis.Value{Field: f, Value: g.Values[i]}
	}
	return out
}

// Groups are the groups of one analysis.
type Groups[T any] struct {
	Fields []string
	make   func() T
	Index  map[string]*Group[T]
	key    []byte
}

// NewGroups returns groups by fields, whose data make creates.
func NewGroups[T any](fields []string, make func() T) Groups[T] {
	return Groups[T]{Fields: fields, make: make, Index: map[string]*Group[T]{}}
}

// Of returns the group of a row.
func (s *Groups[T]) Of(r *analysis.Row) *Group[T] {
	s.key = s.key[:0]
	for _, f := range s.Fields {
		s.key = analysis.AppendText(s.key, r.Field(f))
	}
	if g, ok := s.Index[string(s.key)]; ok {
		return g
	}
	g := &Group[T]{Data: s.make()}
	for _, f := range s.Fields {
		g.Values = append(g.Values, r.Field(f))
	}
	s.Index[string(s.key)] = g
	return g
}

// Expect counts a planned verdict in its group.
func (s *Groups[T]) Expect(r *analysis.Row) { s.Of(r).Cover.Planned++ }

// Sorted returns the groups in the order of their values, so that the order of rows does not matter.
func (s *Groups[T]) Sorted() []*Group[T] {
	out := make([]*Group[T], 0, len(s.Index))
	for _, g := range s.Index {
		out = append(out, g)
	}
	sort.Slice(out, func(i, j int) bool { return slices.CompareFunc(out[i].Values, out[j].Values, analysis.Natural) < 0 })
	return out
}

// Totals adds the coverage of all groups up.
func (s *Groups[T]) Totals() analysis.Coverage {
	var c analysis.Coverage
	for _, g := range s.Index {
		c = c.Plus(g.Cover.WithMissing())
	}
	return c
}
