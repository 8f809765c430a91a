package estimate

import (
	"context"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// place finds the items that a list of pairs may name, and how many slots an item of them has at most. It reports what a list names
// and there is not.
func (m *maker) place(ctx context.Context, st *study.Stage, f *plan.Field) bool {
	if f.Drawn = m.in.Drawn[st.Name]; f.Drawn != nil && len(f.Lanes) == 0 {
		return m.placeDrawn(ctx, st, f)
	}
	if st.Pairs == nil || st.Pairs.File.File == "" {
		return true
	}
	input := m.in.Root(st)
	all, err := m.in.IDs(ctx, input)
	if err != nil {
		m.fail(st.At, err)
		return false
	}
	before := len(m.problems)
	m.strangers(st, f, all)
	if len(m.problems) > before {
		return false
	}
	var talk *plan.Conversation
	source, asks := m.in.Study.Stage(st.Compare)
	if asks {
		if talk, err = m.in.Conversation(ctx, source); err != nil {
			m.fail(st.At, err)
			return false
		}
	}
	f.Place, f.Stride = map[string]int64{}, 1
	n := int64(0)
	for it, err := range m.in.FirstItems(ctx, input, m.options.Limit) {
		if err != nil {
			m.fail(st.At, err)
			return false
		}
		if m.meets(st, source, it) {
			f.Place[it.ID] = n
			if asks {
				f.Stride = max(f.Stride, int64(len(talk.AllWays(st.Of.One(m.given[st.Compare].span())-1, it))))
			}
		}
		n++
	}
	return true
}

// placeDrawn finds the items that pairs of a run name.
func (m *maker) placeDrawn(ctx context.Context, st *study.Stage, f *plan.Field) bool {
	f.Place = map[string]int64{}
	for it, err := range m.in.FirstItems(ctx, st.Compare, m.options.Limit) {
		if err != nil {
			m.fail(st.At, err)
			return false
		}
		f.Place[it.ID] = int64(len(f.Place))
	}
	return true
}

// meets reports whether a stage and those it reads are about an item, as far as the item alone says.
func (m *maker) meets(st, source *study.Stage, it assay.Item) bool {
	for range m.in.Study.Stages { // a cycle was reported already
		if kept, err := plan.Keeps(st, it); err != nil || !kept {
			return false
		}
		if source == nil {
			return true
		}
		st = source
		source, _ = m.in.Study.Stage(st.Continue)
	}
	return true
}

// strangers reports what a list of pairs names and there is not.
func (m *maker) strangers(st *study.Stage, f *plan.Field, items map[string]bool) {
	const shown = 20
	left := 0
	unknown := func(row study.ListedPair, name, what string, names []string) {
		if left++; left > shown {
			return
		}
		hint := assay.DidYouMean(name, names)
		if hint == "" && len(names) <= 12 {
			hint = assay.ThereAre(names)
		}
		m.problems.Add(row.Place, hint, "stage %s: no %s is called %q", st.Name, what, name)
	}
	ids := slices.Sorted(maps.Keys(items))
	var lanes []string
	for _, l := range f.Lanes {
		lanes = append(lanes, l.Name)
	}
	for _, row := range st.Pairs.File.Rows {
		for _, name := range []string{row.First, row.Second} {
			switch {
			case len(f.Lanes) == 0 && !items[name]:
				unknown(row, name, "item of input "+st.Compare, ids)
			case len(f.Lanes) > 0 && !slices.Contains(lanes, name) && !m.leftOut(name):
				unknown(row, name, "lane of stage "+st.Compare, lanes)
			}
		}
		if len(f.Lanes) > 0 && row.Item != "" && !items[row.Item] {
			unknown(row, row.Item, "item of input "+m.in.Root(st), ids)
		}
	}
	if left > shown {
		m.problems.Add(st.Pairs.File.At, "", "%s names %d more that there are not", st.Pairs.File.File, left-shown)
	}
}

// leftOut reports whether a lane is one of the study that was not chosen.
func (m *maker) leftOut(name string) bool {
	_, there := m.in.Study.Lane(name)
	return there && len(m.options.Lanes) > 0
}
