package plan

import (
	"context"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/inputs"
	"assay/internal/study/pairs"
)

// Field is what may meet in a compare stage.
type Field struct {
	Lanes  []*study.Lane    // that meet on every slot; none: items stand against each other
	Slots  int64            // what every lane answered; without lanes, the items
	Stride int64            // slots of one item, where lanes meet
	Place  map[string]int64 // of items, by id; needed for a list of pairs that names some
	Groups []Group          // of items, where they are compared within groups

	Drawn []Drawn                     // the pairs that were drawn for a run; nil: the study says which
	Slot  func(d Drawn) (int64, bool) // on which they meet, where lanes do; nil: they are only counted

	group map[string]int // by value
}

// Group are the items that have the same value of a field.
type Group struct {
	Value string
	Items []int64 // their places, ascending
}

// Drawn is a pair that was drawn for a run, by names: where more lanes or items come to a study, it stays.
type Drawn struct {
	Item     string `json:"item,omitempty"` // on which two lanes meet, and how it was asked
	Template string `json:"template,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Draw     int    `json:"draw,omitempty"`
	First    string `json:"first"` // the lane, or the item, that is shown first
	Second   string `json:"second"`
	Twice    bool   `json:"twice,omitempty"` // it is asked the other way round, too
}

// Grouped puts an item into its group, where a stage compares within groups. It reports whether the item has a value of the field.
func (f *Field) Grouped(st *study.Stage, it assay.Item, place int64) bool {
	if st.Pairs == nil || st.Pairs.Within == "" {
		return true
	}
	v, _ := inputs.Value(it, st.Pairs.Within)
	value, ok := inputs.Text(v)
	if !ok || value == "" {
		return false
	}
	if f.group == nil {
		f.group = map[string]int{}
	}
	i, there := f.group[value]
	if !there {
		i = len(f.Groups)
		f.group[value] = i
		f.Groups = append(f.Groups, Group{Value: value})
	}
	f.Groups[i].Items = append(f.Groups[i].Items, place)
	return true
}

// Design is which pairs a compare stage judges. Listed pairs of what is not in the field are left out.
func Design(st *study.Stage, f Field) pairs.Design {
	design := pairs.Design{Lanes: int64(len(f.Lanes)), Slots: f.Slots}
	if f.Drawn != nil {
		design.Pick, design.List, design.Stride, design.Order = pairs.List, f.drawn(), 1, pairs.AsListed
		return design
	}
	p := st.Pairs
	if p == nil {
		return design
	}
	design.Order, design.Reverse, design.Seed = pairs.Order(p.Order), float64(p.Reverse), uint64(p.Seed)
	design.OrderSeed, design.ReverseSeed = seedOf(p.OrderSeed), seedOf(p.ReverseSeed)
	if p.Within != "" {
		design.Groups = [][]int64{}
		for _, g := range f.Groups {
			design.Groups = append(design.Groups, g.Items)
		}
	}
	switch {
	case p.File.File != "":
		design.Pick, design.List, design.Stride = pairs.List, f.listed(p.File.Rows), f.Stride
		if p.Order == "" {
			design.Order = pairs.AsListed
		}
	case p.Sample.Given():
		design.Pick, design.N = pairs.Sample, p.Sample.Of(design.All())
	case p.PerItem > 0:
		design.Pick, design.N = pairs.PerItem, int64(p.PerItem)
	case p.PerLanePair > 0:
		design.Pick, design.N = pairs.PerLanePair, int64(p.PerLanePair)
	}
	return design
}

func seedOf(seed *int64) *uint64 {
	if seed == nil {
		return nil
	}
	own := uint64(*seed)
	return &own
}

// side is the place of a lane, or of an item, in the field.
func (f Field) side(name string) (int64, bool) {
	if len(f.Lanes) == 0 {
		i, ok := f.Place[name]
		return i, ok
	}
	i := slices.IndexFunc(f.Lanes, func(l *study.Lane) bool { return l.Name == name })
	return int64(i), i >= 0
}

// drawn are the pairs of a run as a list, with a slot as the item of each.
func (f Field) drawn() []pairs.Listed {
	out := []pairs.Listed{}
	for _, d := range f.Drawn {
		first, ok := f.side(d.First)
		second, there := f.side(d.Second)
		slot, open := int64(0), true
		switch {
		case len(f.Lanes) == 0:
			slot = pairs.EverySlot
		case f.Slot != nil:
			slot, open = f.Slot(d)
		}
		if ok && there && open {
			out = append(out, pairs.Listed{Item: slot, First: first, Second: second, Twice: d.Twice})
		}
	}
	return out
}

// listed are the pairs of a list whose sides, and items, are in the field.
func (f Field) listed(rows []study.ListedPair) []pairs.Listed {
	var out []pairs.Listed
	for _, row := range rows {
		first, ok := f.side(row.First)
		second, there := f.side(row.Second)
		item := int64(pairs.EverySlot)
		if ok = ok && there; row.Item != "" && len(f.Lanes) > 0 {
			i, asked := f.Place[row.Item]
			item, ok = i, ok && asked
		}
		if ok {
			out = append(out, pairs.Listed{Item: item, First: first, Second: second, Twice: row.Twice})
		}
	}
	return out
}

// place finds the items that a list of pairs may name, and how many slots an item of them has at most. It reports what a list names
// and there is not.
func (m *maker) place(ctx context.Context, st *study.Stage, f *Field) bool {
	if f.Drawn = m.Drawn[st.Name]; f.Drawn != nil && len(f.Lanes) == 0 {
		return m.placeDrawn(ctx, st, f)
	}
	if st.Pairs == nil || st.Pairs.File.File == "" {
		return true
	}
	input := m.Root(st)
	all, err := m.IDs(ctx, input)
	if err != nil {
		m.fail(st.At, err)
		return false
	}
	before := len(m.problems)
	m.strangers(st, f, all)
	if len(m.problems) > before {
		return false
	}
	var talk *Talk
	source, asks := m.Study.Stage(st.Compare)
	if asks {
		if talk, err = m.Talk(ctx, source); err != nil {
			m.fail(st.At, err)
			return false
		}
	}
	f.Place, f.Stride = map[string]int64{}, 1
	n := int64(0)
	for it, err := range m.FirstItems(ctx, input, m.options.Limit) {
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
func (m *maker) placeDrawn(ctx context.Context, st *study.Stage, f *Field) bool {
	f.Place = map[string]int64{}
	for it, err := range m.FirstItems(ctx, st.Compare, m.options.Limit) {
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
	for range m.Study.Stages { // a cycle was reported already
		if kept, err := keepsItem(st, it); err != nil || !kept {
			return false
		}
		if source == nil {
			return true
		}
		st = source
		source, _ = m.Study.Stage(st.Continue)
	}
	return true
}

// strangers reports what a list of pairs names and there is not.
func (m *maker) strangers(st *study.Stage, f *Field, items map[string]bool) {
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
			unknown(row, row.Item, "item of input "+m.Root(st), ids)
		}
	}
	if left > shown {
		m.problems.Add(st.Pairs.File.At, "", "%s names %d more that there are not", st.Pairs.File.File, left-shown)
	}
}

// leftOut reports whether a lane is one of the study that was not chosen.
func (m *maker) leftOut(name string) bool {
	_, there := m.Study.Lane(name)
	return there && len(m.options.Lanes) > 0
}
