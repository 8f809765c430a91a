package analysis

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/find/stats/checked"
)

// Draw is the items whose answers people are asked about: a random sample in proportion to what judges say. It is kept from the first
// label on, so that everybody goes on with the same order, and so that the probability of each label is known.
type Draw struct {
	Seed  uint64     `json:"seed"`
	Lanes []string   `json:"lanes"` // in the order of their names
	YesNo bool       `json:"yes_no"`
	Items []DrawItem `json:"items"`
	Grown []Growth   `json:"grown,omitempty"`
	// Judged is how many items there were to draw from, of which these are some; 0: that was not kept.
	Judged int `json:"judged,omitempty"`

	Raters  int `json:"raters,omitempty"`  // people who are asked about each answer; 0: one
	Planned int `json:"planned,omitempty"` // items to label, as planned before the first label; 0: the usual number
}

// Among leaves the items that are still there, and has the lanes that are judged now; false where those are more than are labelled of an
// item, and others: which of them are labelled would not follow from the draw any more.
func (d *Draw) Among(lanes []string, there func(item string) bool) bool {
	if !slices.Equal(lanes, d.Lanes) && max(len(lanes), len(d.Lanes)) > checked.LanesOfItem {
		return false
	}
	d.Lanes = lanes
	var items []DrawItem
	for i, it := range d.Items {
		for k := range d.Grown {
			if d.Grown[k].Items == i {
				d.Grown[k].Items = len(items)
			}
		}
		if there(it.Item) {
			items = append(items, it)
		}
	}
	d.Items = items
	return len(items) > 0
}

// Widen has lanes labelled that were judged since, as long as all lanes of an item are labelled; it reports whether there are any.
func (d *Draw) Widen(judged []string) bool {
	lanes := slices.Clone(d.Lanes)
	for _, lane := range judged {
		if !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
	}
	if len(lanes) == len(d.Lanes) || len(lanes) > checked.LanesOfItem {
		return false
	}
	slices.Sort(lanes)
	d.Lanes = lanes
	return true
}

// Looks returns at how many labelled items numbers are corrected, and the part of an error that each may spend. Who goes on beyond the plan
// has one more: of twice as many items, or of as many more as there are since the first label, with those that are not in the draw yet.
func (d *Draw) Looks(alpha float64, later int) []checked.Look {
	first, all := d.First(), len(d.Items)
	if d.Grows(later) {
		all += later
	}
	planned := min(cmp.Or(d.Planned, checked.PlannedItems), first)
	beyond := 2 * planned
	if all > first {
		beyond = min(beyond, (planned*all+first-1)/first)
	}
	return append(checked.Planned(planned, alpha), checked.Look{Items: beyond, Alpha: 0.2 * alpha})
}

// First returns how many items there were when the first label was asked for.
func (d *Draw) First() int {
	if len(d.Grown) > 0 {
		return d.Grown[0].Items
	}
	return len(d.Items)
}

// Grows reports whether so many items that came later are enough to be drawn from, too.
func (d *Draw) Grows(later int) bool { return later > 0 && 10*later >= len(d.Items) }

// DrawItem is an item that may be drawn.
type DrawItem struct {
	Item    string `json:"item"`
	Stratum int    `json:"stratum"`
	Places  int    `json:"places"` // answers of each lane to it, of which one is labelled
}

// Growth is when items came that had not been judged before.
type Growth struct {
	Items int `json:"items"` // that were there before
	Dealt int `json:"dealt"` // of them
}

// MaxDrawn is up to how many items may be drawn; of more, that many are chosen at random.
const MaxDrawn = 5000

// frame returns the draw as an order of items.
func (d *Draw) frame() *checked.Frame {
	f := checked.NewFrame(d.Seed)
	ends := []Growth{}
	ends = append(append(ends, d.Grown...), Growth{Items: len(d.Items)})
	from, dealt := 0, 0
	for _, end := range ends {
		var names []string
		var strata []int
		for _, it := range d.Items[from:end.Items] {
			names, strata = append(names, it.Item), append(strata, it.Stratum)
		}
		f.Add(names, strata, dealt)
		from, dealt = end.Items, end.Dealt
	}
	return f
}

// Order returns the items in the order in which they are labelled.
func (d *Draw) Order() []string {
	var out []string
	for _, i := range d.frame().Order(len(d.Items)) {
		out = append(out, d.Items[i].Item)
	}
	return out
}

// Drawn returns the lanes whose answers to an item are labelled.
func (d *Draw) Drawn(item string) []string {
	var out []string
	for _, i := range checked.LanesOf(d.Seed, item, len(d.Lanes)) {
		out = append(out, d.Lanes[i])
	}
	return out
}

// Place returns which of the answers of each lane to an item is labelled.
func (d *Draw) Place(item string, places int) int {
	return int(checked.Hash(d.Seed^0x5bd1e995, item) % uint64(max(places, 1)))
}

// Weights returns 1/probability of a label on each of the items that are labelled.
func (d *Draw) Weights(labelled []string) map[string]float64 {
	at := make(map[string]int, len(d.Items))
	for i, it := range d.Items {
		at[it.Item] = i
	}
	var places []int
	for _, item := range labelled {
		if i, ok := at[item]; ok {
			places = append(places, i)
		}
	}
	weights, out := d.frame().Weights(places), map[string]float64{}
	for _, i := range places {
		it := d.Items[i]
		out[it.Item] = weights[i] * float64(len(d.Lanes)) / float64(len(d.Drawn(it.Item))) * float64(max(it.Places, 1))
	}
	return out
}

// Covered returns for how many parts of the draw, from the first on, some items stand: that takes one of every stratum, and two of the
// strata of items that came later.
func (d *Draw) Covered(items []string) int {
	f, labelled := d.frame(), map[string]bool{}
	for _, item := range items {
		labelled[item] = true
	}
	seen := make([]int, len(f.Size))
	for i, it := range d.Items {
		if labelled[it.Item] {
			seen[f.Strata[i]]++
		}
	}
	parts := 1 + len(d.Grown)
	for h, n := range f.Size {
		part := h * parts / len(f.Size)
		if seen[h] < min(n, 1+min(1, part)) {
			return part
		}
	}
	return parts
}

// Judgeable is an item that judges have judged, of every lane.
type Judgeable struct {
	Item   string
	Mean   float64 // of their verdicts
	Places int
}

// Add adds items that judges have judged since, after so many were dealt.
func (d *Draw) Add(items []Judgeable, dealt int) {
	known := map[string]bool{}
	for _, it := range d.Items {
		known[it.Item] = true
	}
	items = slices.DeleteFunc(items, func(it Judgeable) bool { return known[it.Item] })
	judged := len(d.Items) + len(items)
	if left := MaxDrawn - len(d.Items); len(items) > left {
		slices.SortFunc(items, func(a, b Judgeable) int {
			x, y := checked.Hash(d.Seed, "among "+a.Item), checked.Hash(d.Seed, "among "+b.Item)
			if x < y {
				return -1
			}
			return 1
		})
		items = items[:left]
		slices.SortFunc(items, func(a, b Judgeable) int { return strings.Compare(a.Item, b.Item) })
	}
	if len(d.Items) > 0 {
		if !d.Grows(len(items)) {
			return
		}
		d.Grown = append(d.Grown, Growth{len(d.Items), dealt})
	}
	d.Judged = judged
	means := make([]float64, len(items))
	for i, it := range items {
		means[i] = it.Mean
	}
	for i, stratum := range checked.Stratify(means, d.YesNo) {
		d.Items = append(d.Items, DrawItem{items[i].Item, stratum, items[i].Places})
	}
}
