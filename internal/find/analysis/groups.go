package analysis

import (
	"slices"
	"sort"
)

// group is the rows that share the values of the fields a table is grouped by.
type group[T any] struct {
	values []string
	cover  Coverage
	data   T
}

func (g *group[T]) by(fields []string) []Value {
	out := make([]Value, len(fields))
	for i, f := range fields {
		out[i] = Value{f, g.values[i]}
	}
	return out
}

// groups are the groups of one analysis.
type groups[T any] struct {
	fields []string
	make   func() T
	index  map[string]*group[T]
	key    []byte
}

func newGroups[T any](fields []string, make func() T) groups[T] {
	return groups[T]{fields: fields, make: make, index: map[string]*group[T]{}}
}

// of is the group of a row.
func (s *groups[T]) of(r *Row) *group[T] {
	s.key = s.key[:0]
	for _, f := range s.fields {
		s.key = appendText(s.key, r.Field(f))
	}
	if g, ok := s.index[string(s.key)]; ok {
		return g
	}
	g := &group[T]{data: s.make()}
	for _, f := range s.fields {
		g.values = append(g.values, r.Field(f))
	}
	s.index[string(s.key)] = g
	return g
}

func (s *groups[T]) expect(r *Row) { s.of(r).cover.Planned++ }

// sorted are the groups in the order of their values, so that the order of rows does not matter.
func (s *groups[T]) sorted() []*group[T] {
	out := make([]*group[T], 0, len(s.index))
	for _, g := range s.index {
		out = append(out, g)
	}
	sort.Slice(out, func(i, j int) bool { return slices.CompareFunc(out[i].values, out[j].values, Natural) < 0 })
	return out
}

// totals adds the coverage of all groups up.
func (s *groups[T]) totals() Coverage {
	var c Coverage
	for _, g := range s.index {
		c = c.plus(g.cover.settle())
	}
	return c
}
