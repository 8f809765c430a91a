package analysis

import (
	"math"
	"slices"
	"sort"

	"assay/internal/find/stats"
)

// What the findings about single items are called.
const (
	WhatTelling        = "telling items"  // share of items on which any two lanes got something else
	WhatSeparates      = "separates"      // of one item: share of the pairs of lanes that got something else on it
	WhatDiscrimination = "discrimination" // of one item: correlation over lanes of what they got on it and on all others
)

// maxItems is how many items are listed.
const maxItems = 2000

// itemwise gathers what each lane got on each item, to say which items tell lanes apart.
type itemwise struct {
	stage   *Stage
	spec    Spec
	options Options
	yes     []string
	known   *names
	lanes   names
	groups  groups[*[]itemSums] // by lane
}

func newItemwise(stage *Stage, s Spec, o Options, known *names) *itemwise {
	w := &itemwise{stage: stage, spec: s, options: o, yes: stage.yes(), known: known}
	w.groups = newGroups(s.By, func() *[]itemSums { return &[]itemSums{} })
	return w
}

// keeps leaves the neutral re-ask out.
func (w *itemwise) keeps(r *Row) bool { return !w.stage.Flips || !w.stage.controls(r.Branch) }

func (w *itemwise) expect(r *Row) {
	if w.keeps(r) {
		w.groups.expect(r)
	}
}

func (w *itemwise) add(r *Row) {
	if !w.keeps(r) {
		return
	}
	g := w.groups.of(r)
	g.cover.count(r)
	if !r.valid() {
		return
	}
	enter := func(lane string, value float64) {
		k := int(w.lanes.of(lane))
		*g.data = grown(*g.data, k)
		(*g.data)[k].add(w.known.of(r.Item), value)
	}
	if w.stage.Verb == Compared {
		if result, ok := resultOf(r.Label); ok {
			enter(r.Lane, result.Score())
			enter(r.Other, 1-result.Score())
		}
		return
	}
	if value, ok := valueOf(r, w.yes, false); ok {
		enter(r.Lane, value)
	}
}

func (w *itemwise) tables() ([]Table, error) {
	t := Table{Title: "items", Coverage: w.groups.totals(), By: append([]string{ByItem}, w.spec.By...)}
	for _, g := range w.groups.sorted() {
		w.put(&t, g)
	}
	t.note("an item on which all lanes got the same favours no lane; without such items rates and differences are no longer those of all items")
	return []Table{t}, nil
}

// put adds the findings of one group.
func (w *itemwise) put(t *Table, g *group[*[]itemSums]) {
	sums := *g.data
	means := make([]total, len(sums))
	ids := map[uint32]bool{}
	for l := range sums {
		for _, item := range sums[l].items.ids {
			x := sums[l].at(item)
			means[l].n, means[l].sum = means[l].n+1, means[l].sum+x.sum/float64(x.n)
			ids[item] = true
		}
	}
	items := make([]uint32, 0, len(ids))
	rank := w.known.byText()
	for item := range ids {
		items = append(items, item)
	}
	sort.Slice(items, func(i, j int) bool { return rank[items[i]] < rank[items[j]] })
	telling, alike, against, alone := 0, 0, 0, 0
	var rows []Finding
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
		against += int(one(discrimination.OK && discrimination.Value < 0))
		if len(rows) < 2*maxItems {
			rows = append(rows, w.row(g, item, WhatSeparates, Share, separates, len(own)), w.row(g, item, WhatDiscrimination, Index, discrimination, len(own)))
		}
	}
	f := Finding{What: WhatTelling, Unit: Share, By: g.by(w.spec.By), Value: ratio(float64(telling), telling+alike), N: telling + alike, Clusters: telling + alike, Coverage: g.cover.settle(),
		Interval: stats.NoInterval("not computed"), Bounds: stats.NoInterval("not computed"), Rule: rule(w.stage), Method: "items on which any two lanes got something else"}
	f.Counts = []Counted{{"telling", telling}, {"alike", alike}, {"against", against}}
	if alone > 0 {
		f.note("%s answered by one lane alone", plural(alone, "item"))
	}
	t.Findings = append(append(t.Findings, f), rows...)
	if alike > 0 {
		t.note("%d of %s tell no two lanes apart: they make differences on the same items smaller", alike, plural(telling+alike, "item"))
	}
	if len(items) > maxItems {
		t.note("the first %d items are listed", maxItems)
	}
}

func (w *itemwise) row(g *group[*[]itemSums], item uint32, what string, u Unit, value stats.Number, lanes int) Finding {
	f := Finding{What: what, Unit: u, By: append([]Value{{ByItem, w.known.list[item]}}, g.by(w.spec.By)...), Value: value, N: lanes, Clusters: 1, Coverage: Coverage{Planned: lanes, Valid: lanes},
		Interval: stats.NoInterval("not computed: lanes are few"), Bounds: stats.NoInterval("not computed"), Rule: rule(w.stage), Method: "over lanes"}
	if what == WhatDiscrimination && value.OK && value.Value < 0 {
		f.note("lanes that do well on the others do badly on it")
	}
	return f
}

// itemAndRest is what each lane that has the item got on it, and on all others; not a number where it has no other.
func itemAndRest(sums []itemSums, means []total, item uint32) (own, rest []float64) {
	for l := range sums {
		if _, ok := sums[l].items.at(item); !ok {
			continue
		}
		x := sums[l].at(item)
		mean := x.sum / float64(x.n)
		own = append(own, mean)
		rest = append(rest, (means[l].sum-mean)/float64(means[l].n-1))
	}
	return own, rest
}

// apartOn is the share of pairs of lanes that got something else.
func apartOn(own []float64) stats.Number {
	apart, all := 0, 0
	for i := range own {
		for k := range i {
			all++
			apart += int(one(math.Abs(own[i]-own[k]) > 1e-9))
		}
	}
	if all == 0 {
		return stats.Undefined("one lane alone has a verdict on it")
	}
	return stats.Known(float64(apart) / float64(all))
}

// correlated is the correlation over lanes of what they got on an item and on the others.
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

// withoutLane are fields to group by, lanes left out: they are what items tell apart.
func withoutLane(by []string) []string {
	out := slices.DeleteFunc(slices.Clone(by), func(f string) bool { return f == ByLane || f == ByItem })
	if out == nil {
		return whole()
	}
	return out
}
