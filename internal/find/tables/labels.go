package tables

import (
	"cmp"
	"sort"
)

// LabelColumns name the columns of a table that hold its labels, one rater's label of one item in each row.
type LabelColumns struct{ Item, Rater, Label string }

// Labels are the labels that raters gave to items.
type Labels struct {
	Items, Raters, Labels []string
	Given                 []Label // by item, then rater
	Missing               int     // rows without a label
}

// Label is one rater's label of one item, as indexes.
type Label struct {
	Item, Rater, Label uint32
	Line               int
}

// Labels reads all labels. A rater may label an item once.
func (t *Table) Labels(c LabelColumns) (*Labels, error) {
	at, err := t.columnsOf(c.Item, c.Rater, c.Label)
	if err != nil {
		return nil, err
	}
	items, raters, labels, out := NewNames(), NewNames(), NewNames(), &Labels{}
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
	t.twice(out)
	return out, t.End()
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
