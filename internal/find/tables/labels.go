package tables

import (
	"cmp"
	"slices"
	"sort"
)

// LabelColumns name the columns of a table that hold its labels, one rater's label of one item in each row. Without a column
// of clusters each item is one of its own.
type LabelColumns struct{ Item, Rater, Label, Cluster string }

// Labels are the labels that raters gave to items.
type Labels struct {
	Items, Raters, Labels []string
	Given                 []Label // by item, then rater
	Cluster               []int   // of each item, numbered in the order of their names
	Missing               int     // rows without a label
}

// Label is one rater's label of one item, as indexes.
type Label struct {
	Item, Rater, Label uint32
	Line               int
}

// Labels reads all labels. A rater may label an item once.
func (t *Table) Labels(c LabelColumns) (*Labels, error) {
	at, err := t.columnsOf(c.Item, c.Rater, c.Label, c.Cluster)
	if err != nil {
		return nil, err
	}
	items, raters, labels, out := NewNames(), NewNames(), NewNames(), &Labels{}
	in := clusters{table: t, names: NewNames(), column: at[3]}
	for t.Next() {
		item, rater, label := t.Field(at[0]), t.Field(at[1]), t.Field(at[2])
		switch {
		case len(item) == 0:
			t.Bad("", "the item has no name")
			continue
		case len(rater) == 0:
			t.Bad("", "the rater has no name")
			continue
		}
		l := Label{Item: items.ID(item), Rater: raters.ID(rater), Line: t.Line()}
		in.add(int(l.Item), item)
		if len(label) == 0 {
			out.Missing++
			continue
		}
		l.Label = labels.ID(label)
		out.Given = append(out.Given, l)
	}
	sort.Slice(out.Given, func(i, j int) bool {
		a, b := &out.Given[i], &out.Given[j]
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Rater, b.Rater), cmp.Compare(a.Line, b.Line)) < 0
	})
	out.Items, out.Raters, out.Labels = items.List(), raters.List(), labels.List()
	out.Cluster = in.byName()
	t.twice(out)
	return out, t.End()
}

// clusters returns how many clusters there are.
func (l *Labels) clusters() int {
	if len(l.Cluster) == 0 {
		return 0
	}
	return slices.Max(l.Cluster) + 1
}

// clusters gathers the cluster of each item.
type clusters struct {
	table  *Table
	names  *Names
	column int // -1: each item is one
	of     []uint32
	line   []int // where it was named first
}

// add enters the row's item.
func (c *clusters) add(item int, name []byte) {
	if c.column >= 0 {
		if name = c.table.Field(c.column); len(name) == 0 {
			c.table.Bad("every row needs one, or all such rows would be one cluster", "the cluster is empty")
			return
		}
	}
	id := c.names.ID(name)
	switch {
	case item >= len(c.of):
		c.of, c.line = append(c.of, id), append(c.line, c.table.Line())
	case c.of[item] != id:
		c.table.Bad("", "the item's cluster is %q here and %q on line %d", clip(name), clip([]byte(c.names.List()[c.of[item]])),
			c.line[item])
	}
}

// byName returns the cluster of each item, numbered in the order of their names: no number depends on the order of rows.
func (c *clusters) byName() []int {
	names := c.names.List()
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	rank := make([]int, len(names))
	for place, id := range order {
		rank[id] = place
	}
	out := make([]int, len(c.of))
	for item, id := range c.of {
		out[item] = rank[id]
	}
	return out
}

// twice reports labels that a rater gave to the same item again.
func (t *Table) twice(l *Labels) {
	for k := 1; k < len(l.Given) && len(t.problems) < maxProblems; k++ {
		a, b := l.Given[k-1], l.Given[k]
		if a.Item == b.Item && a.Rater == b.Rater {
			t.badAt(b.Line, "one label for each item and rater; draws get names of their own, such as q1-2",
				"%q labelled %q on line %d already", clip([]byte(l.Raters[b.Rater])), clip([]byte(l.Items[b.Item])), a.Line)
		}
	}
}
