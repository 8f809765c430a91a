package analysis

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/stats"
)

// maxEntrants is how many lanes or items are ranked together: what has to be kept grows with their square.
const maxEntrants = 2000

// contest gathers comparisons, once for all methods that want the same.
type contest struct {
	stage    *Stage
	spec     Spec
	options  Options
	methods  []method
	entrants names
	known    *names // items and clusters
	kinds    names  // what distinguishes comparisons about the same item, besides who met
	kindOf   []kind // the same, by its number
	groups   groups[*bouts]
	kind     []byte
	ranked   *ranking // when all rows are there
	odd      int      // valid verdicts whose label names no side
	within   int      // comparisons of two that are the same entrant
	tooMany  bool
}

type method struct {
	Method
	primary bool
	hidden  bool // for the standing alone
}

// bouts are the comparisons of one group.
type bouts struct {
	showings []showing
	cover    []Coverage // by entrant
}

func newContest(stage *Stage, s Spec, o Options, known *names) *contest {
	c := &contest{stage: stage, spec: s, options: o, methods: []method{{s.Method, s.Primary, s.Standing}}, known: known}
	c.groups = newGroups(s.By, func() *bouts { return &bouts{} })
	return c
}

// sides are the numbers of the two, or false where there are more entrants than can be numbered.
func (c *contest) sides(r *Row) (first, second uint32, ok bool) {
	if f := c.spec.entrants; f != "" {
		first, second = c.entrants.of(named(r.Asked.field(f))), c.entrants.of(named(r.OtherAsked.field(f)))
	} else {
		first, second = c.entrants.of(r.Lane), c.entrants.of(r.Other)
	}
	if max(first, second) > math.MaxUint16 {
		c.tooMany = true
		return 0, 0, false
	}
	return first, second, true
}

// named is the name of an entrant; a setting that a lane does not have is called none.
func named(setting string) string {
	if setting == "" {
		return "none"
	}
	return setting
}

// inside reports whether the two of a row are the same entrant: lanes of one provider, where providers are ranked.
func (c *contest) inside(r *Row) bool {
	f := c.spec.entrants
	return f != "" && r.Asked.field(f) == r.OtherAsked.field(f)
}

func (c *contest) expect(r *Row) {
	if c.inside(r) {
		return
	}
	g := c.groups.of(r)
	g.cover.Planned++
	if first, second, ok := c.sides(r); ok {
		g.data.cover = grown(g.data.cover, int(max(first, second)))
		g.data.cover[first].Planned++
		g.data.cover[second].Planned++
	}
}

func (c *contest) add(r *Row) {
	if c.inside(r) {
		c.within++
		return
	}
	g := c.groups.of(r)
	g.cover.count(r)
	first, second, ok := c.sides(r)
	if !ok {
		return
	}
	d := g.data
	d.cover = grown(d.cover, int(max(first, second)))
	d.cover[first].count(r)
	d.cover[second].count(r)
	if !r.valid() {
		return
	}
	result, ok := resultOf(r.Label)
	if !ok {
		c.odd++
		return
	}
	c.kind = appendText(r.appendKind(c.kind[:0]), r.Judge, r.Trait, r.Prompt)
	k := c.kinds.ofBytes(c.kind)
	if int(k) == len(c.kindOf) {
		c.kindOf = append(c.kindOf, newKind(r))
	}
	d.showings = append(d.showings, shown(c.known.of(r.cluster()), c.known.of(r.Item), k, uint16(first), uint16(second), result))
}

// resultOf reads the label of a comparison. Whatever is neither side nor a tie decides nothing.
func resultOf(label string) (stats.Result, bool) {
	switch label {
	case assay.LabelA:
		return stats.FirstWon, true
	case assay.LabelB:
		return stats.SecondWon, true
	case assay.LabelTie:
		return stats.Tied, true
	}
	return 0, false
}

// field is what findings call the entrants.
func (c *contest) field() string {
	switch {
	case c.stage.Items:
		return ByItem
	case c.spec.entrants != "":
		return c.spec.entrants
	}
	return ByLane
}

func (c *contest) tables() ([]Table, error) {
	titles := map[Method]string{
		BradleyT: "strengths", Davidson: "strengths", Elo: "Elo ratings", WinRate: "win rates", Position: "positional bias", Consistency: "reverse consistency",
		Correlation: "correlation with what is known",
	}
	out := make([]Table, len(c.methods))
	for i, m := range c.methods {
		out[i] = Table{Title: titles[m.Method], Method: m.Method, Primary: m.primary, hidden: m.hidden, Coverage: c.groups.totals()}
		if c.odd > 0 {
			out[i].note("%s %s neither side nor a tie, and %s nothing", plural(c.odd, "valid verdict"), assay.Verb(c.odd, "names", "name"), assay.Verb(c.odd, "decides", "decide"))
		}
		if c.within > 0 {
			out[i].note("%s between two of the same %s left out", plural(c.within, "comparison"), c.spec.entrants)
		}
	}
	for _, g := range c.groups.sorted() {
		f := c.field()
		a := newArena(c, g)
		for i, m := range c.methods {
			if err := a.fill(&out[i], m.Method, f); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// arena is the comparisons of one group, in an order and with numbers that do not depend on the order of rows.
type arena struct {
	*contest
	by       []Value
	whole    Coverage
	names    []string
	cover    []Coverage // by entrant
	n        []int      // comparisons by entrant
	in       []int      // clusters by entrant
	shown    []showing  // for consistency alone
	pairs    stats.Pairs
	cluster  []uint32
	begins   []bool // what is said about one pair on one thing begins here
	clusters int
	ties     int
	bothWays bool // both orders were shown
	grouped  *stats.Grouped
}

func newArena(c *contest, g *group[*bouts]) *arena {
	a := &arena{contest: c, by: g.by(c.spec.By), whole: g.cover.settle()}
	all := g.data.showings
	c.order(all, a.number(g.data))
	a.n, a.in = make([]int, len(a.names)), make([]int, len(a.names))
	last := make([]int, len(a.names)) // cluster of each entrant, from 1
	a.pairs = stats.Pairs{First: make([]uint16, len(all)), Second: make([]uint16, len(all)), Result: make([]stats.Result, len(all))}
	a.cluster, a.begins = make([]uint32, len(all)), make([]bool, len(all))
	forth, back := false, false
	for k, s := range all {
		a.begins[k] = k == 0 || !s.same(all[k-1])
		if k == 0 || s.cluster() != all[k-1].cluster() {
			a.clusters++
		}
		i, j, r := s.first(), s.second(), s.result()
		a.pairs.First[k], a.pairs.Second[k], a.pairs.Result[k], a.cluster[k] = i, j, r, uint32(a.clusters-1)
		for _, e := range []uint16{i, j} {
			a.n[e]++
			if last[e] != a.clusters {
				a.in[e]++
				last[e] = a.clusters
			}
		}
		a.ties += int(one(r == stats.Tied))
		forth, back = forth || i < j, back || i > j
	}
	a.bothWays = forth && back
	if slices.ContainsFunc(c.methods, func(m method) bool { return m.Method == Consistency }) {
		a.shown = all
	}
	g.data = nil // the columns hold it all
	return a
}

// number gives the entrants of the group numbers in the order of their names; those of other groups get none.
func (a *arena) number(d *bouts) []uint32 {
	place := make([]uint32, len(a.entrants.list))
	for _, e := range a.entrants.sorted() {
		if int(e) < len(d.cover) && d.cover[e] != (Coverage{}) {
			place[e] = uint32(len(a.names))
			a.names = append(a.names, a.entrants.list[e])
			a.cover = append(a.cover, d.cover[e].settle())
		}
	}
	return place
}

// fill adds the findings of one method to its table.
func (a *arena) fill(t *Table, m Method, field string) error {
	if why := a.hopeless(); why != "" {
		t.Findings = append(t.Findings, a.finding(map[Method]string{Position: WhatFirst, Consistency: WhatConsistency, Elo: WhatElo, WinRate: WhatWin, Correlation: WhatPearson}[m], Share, -1, field).unknown("%s", why))
		if m == BradleyT || m == Davidson {
			a.unranked(t, field, why)
		}
		return nil
	}
	var err error
	if a.grouped == nil {
		if a.grouped, err = stats.Group(len(a.names), a.pairs, a.cluster); err != nil {
			return err
		}
	}
	switch m {
	case BradleyT, Davidson:
		return a.strengths(t, m, field)
	case WinRate:
		return a.winRates(t, field)
	case Elo:
		return a.elo(t, field)
	case Position:
		return a.position(t)
	case Correlation:
		return a.correlation(t)
	}
	return a.consistency(t)
}

// hopeless says why there is nothing to compute; empty: there is.
func (a *arena) hopeless() string {
	switch {
	case a.tooMany || len(a.names) > maxEntrants:
		return fmt.Sprintf("more than %d cannot be ranked together", maxEntrants)
	case a.pairs.Len() == 0:
		return "no comparison has a valid verdict"
	}
	return ""
}

// finding is the beginning of a finding about one entrant, or about all with entrant -1.
func (a *arena) finding(what string, u Unit, entrant int, field string) *Finding {
	f := &Finding{What: what, Unit: u, By: slices.Clone(a.by), Coverage: a.whole, N: a.pairs.Len(), Clusters: a.clusters, Rule: rule(a.stage)}
	f.Bounds = stats.NoInterval("not computed for comparisons")
	if f.What == "" {
		f.What = WhatStrength
	}
	if entrant >= 0 {
		f.By = append([]Value{{field, a.names[entrant]}}, f.By...)
		f.Coverage, f.N, f.Clusters = a.cover[entrant], a.n[entrant], a.in[entrant]
	}
	return f
}

// unknown is the finding without a number, for a reason.
func (f *Finding) unknown(format string, args ...any) Finding {
	f.Value = stats.Undefined(format, args...)
	f.Interval = stats.NoInterval("%s", f.Value.Why)
	return *f
}
