package answers

import (
	"math"
	"sort"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// maxItems is how many items are listed.
const maxItems = 2000

// itemwise gathers what each lane got on each item, to find the items that discriminate between lanes.
type itemwise struct {
	gather.Job
	yes    []string
	lanes  gather.Names
	groups gather.Groups[*[]gather.ItemSums] // by lane
}

// NewItemwise returns the collector of the items' discrimination between lanes.
func NewItemwise(j gather.Job) gather.Collector {
	w := &itemwise{Job: j, yes: j.Stage.Yes()}
	w.groups = gather.NewGroups(j.Spec.By, func() *[]gather.ItemSums { return &[]gather.ItemSums{} })
	return w
}

// keeps leaves the neutral re-ask out.
func (w *itemwise) keeps(r *analysis.Row) bool { return !w.Stage.Flips || !w.Stage.IsControl(r.Branch) }

func (w *itemwise) Expect(r *analysis.Row) {
	if w.keeps(r) {
		w.groups.Expect(r)
	}
}

func (w *itemwise) Add(r *analysis.Row) {
	if !w.keeps(r) {
		return
	}
	g := w.groups.Of(r)
	g.Cover.Count(r)
	if !r.Valid() {
		return
	}
	enter := func(lane string, value float64) {
		k := int(w.lanes.Of(lane))
		*g.Data = gather.Grown(*g.Data, k)
		(*g.Data)[k].Add(w.Known.Of(r.Item), value)
	}
	if w.Stage.Verb == analysis.Compared {
		if result, ok := gather.ResultOf(r.Label); ok {
			enter(r.Lane, result.Score())
			enter(r.Other, 1-result.Score())
		}
		return
	}
	if value, ok := gather.ValueOf(r, w.yes, false); ok {
		enter(r.Lane, value)
	}
}

func (w *itemwise) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "items", Coverage: w.groups.Totals(), By: append([]string{analysis.ByItem}, w.Spec.By...)}
	for _, g := range w.groups.Sorted() {
		w.put(&t, g)
	}
	t.Note("an item on which all lanes got the same favours no lane; without such items rates and differences are no longer " +
		"those of all items")
	return []analysis.Table{t}, nil
}

// put adds the findings of one group.
func (w *itemwise) put(t *analysis.Table, g *gather.Group[*[]gather.ItemSums]) {
	sums := *g.Data
	means := make([]stats.Total, len(sums))
	ids := map[uint32]bool{}
	for l := range sums {
		for k := range sums[l].Items.Len() {
			means[l].Add(sums[l].Mean(k))
			ids[sums[l].Items.ID(k)] = true
		}
	}
	items := make([]uint32, 0, len(ids))
	rank := w.Known.ByText()
	for item := range ids {
		items = append(items, item)
	}
	sort.Slice(items, func(i, j int) bool { return rank[items[i]] < rank[items[j]] })
	telling, alike, against, alone := 0, 0, 0, 0
	var rows []analysis.Finding
	for _, item := range items {
		own, rest := itemAndRest(sums, means, item)
		separates, discrimination := apartOn(own), correlated(own, rest)
		switch {
		case !separates.OK:
			alone++
		case separates.Value > 0:
			telling++
		default:
			alike++
		}
		against += int(gather.One(discrimination.OK && discrimination.Value < 0))
		if len(rows) < 2*maxItems {
			rows = append(rows, w.row(g, item, analysis.WhatSeparates, analysis.Share, separates, len(own)),
				w.row(g, item, analysis.WhatDiscrimination, analysis.Index, discrimination, len(own)))
		}
	}
	f := analysis.Finding{What: analysis.WhatTelling, Unit: analysis.Share, By: g.By(w.Spec.By),
		Value: gather.Ratio(float64(telling), telling+alike), N: telling + alike, Clusters: telling + alike,
		Coverage: g.Cover.WithMissing(), Interval: stats.NoInterval("not computed"), Bounds: stats.NoInterval("not computed"),
		Rule: w.Stage.CountingRule(), Method: "items on which any two lanes got something else"}
	f.Counts = []analysis.Counted{{Name: "telling", N: telling}, {Name: "alike", N: alike}, {Name: "against", N: against}}
	if alone > 0 {
		f.Note("%s answered by one lane alone", analysis.Plural(alone, "item"))
	}
	t.Findings = append(append(t.Findings, f), rows...)
	if alike > 0 {
		t.Note("%d of %s tell no two lanes apart: they make differences on the same items smaller", alike,
			analysis.Plural(telling+alike, "item"))
	}
	if len(items) > maxItems {
		t.Note("the first %d items are listed", maxItems)
	}
}

func (w *itemwise) row(g *gather.Group[*[]gather.ItemSums], item uint32, what string, u analysis.Unit, value stats.Number,
	lanes int) analysis.Finding {
	f := analysis.Finding{What: what, Unit: u,
		By: append([]analysis.Value{{Field: analysis.ByItem, Value: w.Known.Text(item)}}, g.By(w.Spec.By)...), Value: value, N: lanes,
		Clusters: 1, Coverage: analysis.Coverage{Planned: lanes, Valid: lanes}, Interval: stats.NoInterval("not computed: lanes are few"),
		Bounds: stats.NoInterval("not computed"), Rule: w.Stage.CountingRule(), Method: "over lanes"}
	if what == analysis.WhatDiscrimination && value.OK && value.Value < 0 {
		f.Note("lanes that do well on the others do badly on it")
	}
	return f
}

// itemAndRest returns what each lane that has the item got on it, and on all others; not a number where it has no
// other.
func itemAndRest(sums []gather.ItemSums, means []stats.Total, item uint32) (own, rest []float64) {
	for l := range sums {
		k, ok := sums[l].Items.At(item)
		if !ok {
			continue
		}
		mean := sums[l].Mean(k)
		own = append(own, mean)
		rest = append(rest, (means[l].Sum-mean)/float64(means[l].N-1))
	}
	return own, rest
}

// apartOn returns the share of pairs of lanes that got something else.
func apartOn(own []float64) stats.Number {
	apart, all := 0, 0
	for i := range own {
		for k := range i {
			all++
			apart += int(gather.One(math.Abs(own[i]-own[k]) > 1e-9))
		}
	}
	if all == 0 {
		return stats.Undefined("one lane alone has a verdict on it")
	}
	return stats.Known(float64(apart) / float64(all))
}

// correlated returns the correlation over lanes of what they got on an item and on the others.
func correlated(own, rest []float64) stats.Number {
	var x, y []float64
	for i := range own {
		if !math.IsNaN(rest[i]) && !math.IsInf(rest[i], 0) {
			x, y = append(x, own[i]), append(y, rest[i])
		}
	}
	if len(x) < 3 {
		return stats.Undefined("it takes three lanes with other items")
	}
	mx, my := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx, yy, xy = xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my), xy+(x[i]-mx)*(y[i]-my)
	}
	switch {
	case xx < 1e-12:
		return stats.Undefined("all lanes got the same on it")
	case yy < 1e-12:
		return stats.Undefined("all lanes got the same on the others")
	}
	return stats.Known(max(-1, min(1, xy/math.Sqrt(xx*yy))))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
