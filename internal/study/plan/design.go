package plan

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/adaptive"
	"assay/internal/study/inputs"
	"assay/internal/study/pairs"
)

// Field holds what may meet in a compare stage.
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

// Design returns which pairs a compare stage judges. Listed pairs of what is not in the field are left out.
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
	return new(uint64(*seed))
}

// side returns the place of a lane, or of an item, in the field.
func (f Field) side(name string) (int64, bool) {
	if len(f.Lanes) == 0 {
		i, ok := f.Place[name]
		return i, ok
	}
	i := slices.IndexFunc(f.Lanes, func(l *study.Lane) bool { return l.Name == name })
	return int64(i), i >= 0
}

// drawn returns the pairs of a run as a list, with a slot as the item of each.
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

// listed returns the pairs of a list whose sides, and items, are in the field.
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

// Rounds returns the plan of a stage that buys pairs in rounds, for so many contestants on so many slots, and which
// meetings a table of counts means.
func Rounds(a *study.Adaptive, contestants, slots int64) (adaptive.Plan, *pairs.Counted, error) {
	c, err := pairs.NewCounted(contestants, slots, uint64(a.Seed))
	if err != nil {
		return adaptive.Plan{}, nil, err
	}
	p := adaptive.Plan{
		Lanes: int(contestants), Rounds: a.Planned(), Most: max(1, c.Most()), Alpha: adaptive.Alpha, Futility: adaptive.Futility,
		Order: c.Order(), Goal: adaptive.Goal{Top: a.Goal.Top, Width: a.Goal.Width},
	}
	p.Budget = max(1, len(c.Order())*c.Most())
	if a.PerRound < p.Budget/p.Rounds {
		p.Budget = p.Rounds * a.PerRound
	}
	return p, c, p.Check()
}

// ComparedText returns what a judge is shown of an item that is compared with another: never nothing.
func ComparedText(it assay.Item) (string, error) {
	switch v := it.Fields["text"].(type) {
	case nil:
		return "", fmt.Errorf("item %q has no text to compare", it.ID)
	case map[string]any, []any:
		return "", fmt.Errorf("item %q: the text to compare is a list or a record", it.ID)
	case string:
		if strings.TrimSpace(v) == "" {
			return "", fmt.Errorf("item %q has an empty text, and there is nothing to compare", it.ID)
		}
		return v, nil
	default:
		return fmt.Sprint(v), nil
	}
}
