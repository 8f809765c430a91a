package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay"
	"assay/stats"
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
	clusters names
	units    names
	groups   groups[*bouts]
	unit     []byte
	odd      int // valid verdicts whose label names no side
	tooMany  bool
}

type method struct {
	Method
	primary bool
}

// bouts are the comparisons of one group as columns.
type bouts struct {
	pairs   stats.Pairs
	cluster []uint32
	unit    []uint32
	cover   []Coverage // by entrant
}

func newContest(stage *Stage, s Spec, o Options) *contest {
	c := &contest{stage: stage, spec: s, options: o, methods: []method{{s.Method, s.Primary}}}
	c.groups = newGroups(s.By, func() *bouts { return &bouts{} })
	return c
}

// sides are the numbers of the two, or false where there are more entrants than can be numbered.
func (c *contest) sides(r *Row) (first, second uint32, ok bool) {
	first, second = c.entrants.of(r.Lane), c.entrants.of(r.Other)
	if max(first, second) > math.MaxUint16 {
		c.tooMany = true
		return 0, 0, false
	}
	return first, second, true
}

func (c *contest) expect(r *Row) {
	g := c.groups.of(r)
	g.cover.Planned++
	if first, second, ok := c.sides(r); ok {
		g.data.cover = grown(g.data.cover, int(max(first, second)))
		g.data.cover[first].Planned++
		g.data.cover[second].Planned++
	}
}

func (c *contest) add(r *Row) {
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
	d.pairs.Append(uint16(first), uint16(second), result)
	d.cluster = append(d.cluster, c.clusters.of(r.cluster()))
	c.unit = appendText(r.appendUnit(c.unit[:0]), r.Judge, r.Trait, r.Prompt)
	d.unit = append(d.unit, c.units.ofBytes(c.unit))
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
	if c.stage.Items {
		return ByItem
	}
	return ByLane
}

func (c *contest) tables() ([]Table, error) {
	titles := map[Method]string{
		BradleyT: "strengths", Davidson: "strengths", Elo: "Elo ratings", WinRate: "win rates", Position: "positional bias", Consistency: "reverse consistency",
	}
	out := make([]Table, len(c.methods))
	for i, m := range c.methods {
		out[i] = Table{Title: titles[m.Method], Method: m.Method, Primary: m.primary, Coverage: c.groups.totals()}
		if c.odd > 0 {
			out[i].note("%d valid verdicts name neither side nor a tie, and decide nothing", c.odd)
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
	pairs    stats.Pairs
	cluster  []uint32
	swaps    []swap
	clusters int
	ties     int
	bothWays bool // both orders were shown
	grouped  *stats.Grouped
}

func newArena(c *contest, g *group[*bouts]) *arena {
	a := &arena{contest: c, by: g.by(c.spec.By), whole: g.cover.settle()}
	place := a.number(g.data)
	a.n = make([]int, len(a.names))
	seen := map[bool]bool{}
	var last showing
	for k, s := range c.showings(g.data, place) {
		if k == 0 || s.cluster() != last.cluster() {
			a.clusters++
		}
		if k == 0 || s.about != last.about || s.low() != last.low() || s.high() != last.high() {
			a.swaps = append(a.swaps, swap{cluster: uint32(a.clusters - 1), low: s.low(), high: s.high()})
		}
		a.swaps[len(a.swaps)-1].count(s)
		last = s
		i, j := s.sides()
		a.pairs.Append(i, j, s.result())
		a.cluster = append(a.cluster, uint32(a.clusters-1))
		a.n[i]++
		a.n[j]++
		a.ties += int(one(s.result() == stats.Tied))
		seen[s.turned()] = true
	}
	a.bothWays = len(seen) == 2
	return a
}

// showing is one comparison in two words that sort: what it is about, and who met in which order with which result.
type showing struct{ about, met uint64 }

func (s showing) cluster() uint32      { return uint32(s.about >> 32) }
func (s showing) low() uint16          { return uint16(s.met >> 32) }
func (s showing) high() uint16         { return uint16(s.met >> 16) }
func (s showing) turned() bool         { return s.met>>8&1 == 1 } // the higher number was shown first
func (s showing) result() stats.Result { return stats.Result(s.met & 0xff) }

func (s showing) sides() (first, second uint16) {
	if s.turned() {
		return s.high(), s.low()
	}
	return s.low(), s.high()
}

// showings are a group's comparisons in the order of the names of their clusters, of what they are about and of the two.
func (c *contest) showings(d *bouts, place []uint32) []showing {
	cluster, unit := ranks(&c.clusters), ranks(&c.units)
	out := make([]showing, d.pairs.Len())
	for k := range out {
		i, j := place[d.pairs.First[k]], place[d.pairs.Second[k]]
		turned := uint64(one(i > j))
		out[k] = showing{
			about: uint64(cluster[d.cluster[k]])<<32 | uint64(unit[d.unit[k]]),
			met:   uint64(min(i, j))<<32 | uint64(max(i, j))<<16 | turned<<8 | uint64(d.pairs.Result[k]),
		}
	}
	slices.SortFunc(out, func(x, y showing) int { return cmp.Or(cmp.Compare(x.about, y.about), cmp.Compare(x.met, y.met)) })
	return out
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

// ranks are the places of all names in their order.
func ranks(n *names) []uint32 {
	out := make([]uint32, len(n.list))
	for place, i := range n.sorted() {
		out[i] = uint32(place)
	}
	return out
}

// fill adds the findings of one method to its table.
func (a *arena) fill(t *Table, m Method, field string) error {
	if why := a.hopeless(); why != "" {
		t.Findings = append(t.Findings, a.finding(map[Method]string{Position: WhatFirst, Consistency: WhatConsistency}[m], Share, -1, field).unknown("%s", why))
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
	f.Bounds = stats.NoInterval("not told for comparisons")
	if f.What == "" {
		f.What = WhatStrength
	}
	if entrant >= 0 {
		f.By = append([]Value{{field, a.names[entrant]}}, f.By...)
		f.Coverage, f.N = a.cover[entrant], a.n[entrant]
	}
	return f
}

// unknown is the finding without a number, for a reason.
func (f *Finding) unknown(format string, args ...any) Finding {
	f.Value = stats.Undefined(format, args...)
	f.Interval = stats.NoInterval("%s", f.Value.Why)
	return *f
}
