// Package contests analyses comparisons: strengths and how well they fit, shares of wins, Elo ratings, positions, and
// what style did.
package contests

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// maxEntrants is how many lanes or items are ranked together: what has to be kept grows with their square.
const maxEntrants = 2000

// Contest gathers comparisons, once for all methods that want the same.
type Contest struct {
	gather.Job
	methods  []method
	entrants gather.Names
	kinds    gather.Names // what distinguishes comparisons about the same item, besides who met
	kindOf   []kind       // the same, by its number
	groups   gather.Groups[*bouts]
	kind     []byte
	odd      int // valid verdicts whose label names no side
	within   int // comparisons of two that are the same entrant
	tooMany  bool
}

type method struct {
	analysis.Method
	primary bool
	hidden  bool // for the leaderboard alone
}

// bouts are the comparisons of one group.
type bouts struct {
	showings showings
	cover    []analysis.Coverage // by entrant
}

// New returns the collector of comparisons.
func New(j gather.Job) *Contest {
	c := &Contest{Job: j, methods: []method{{j.Spec.Method, j.Spec.Primary, j.Spec.ForLeaderboard}}}
	c.groups = gather.NewGroups(j.Spec.By, func() *bouts { return &bouts{} })
	return c
}

// Also has the same comparisons analysed by another method.
func (c *Contest) Also(s analysis.Spec) {
	c.methods = append(c.methods, method{s.Method, s.Primary, s.ForLeaderboard})
}

// sides returns the numbers of the two, or false where there are more entrants than can be numbered.
func (c *Contest) sides(r *analysis.Row) (first, second uint32, ok bool) {
	if f := c.Spec.Entrants; f != "" {
		first, second = c.entrants.Of(named(r.Asked.Field(f))), c.entrants.Of(named(r.OtherAsked.Field(f)))
	} else {
		first, second = c.entrants.Of(r.Lane), c.entrants.Of(r.Other)
	}
	if max(first, second) > math.MaxUint16 {
		c.tooMany = true
		return 0, 0, false
	}
	return first, second, true
}

// named returns the name of an entrant; a setting that a lane does not have is called none.
func named(setting string) string {
	if setting == "" {
		return "none"
	}
	return setting
}

// inside reports whether the two of a row are the same entrant: lanes of one provider, where providers are ranked.
func (c *Contest) inside(r *analysis.Row) bool {
	f := c.Spec.Entrants
	return f != "" && r.Asked.Field(f) == r.OtherAsked.Field(f)
}

// Expect counts a planned comparison.
func (c *Contest) Expect(r *analysis.Row) {
	if c.inside(r) {
		return
	}
	g := c.groups.Of(r)
	g.Cover.Planned++
	if first, second, ok := c.sides(r); ok {
		g.Data.cover = gather.Grown(g.Data.cover, int(max(first, second)))
		g.Data.cover[first].Planned++
		g.Data.cover[second].Planned++
	}
}

// Add enters a verdict on a comparison.
func (c *Contest) Add(r *analysis.Row) {
	if c.inside(r) {
		c.within++
		return
	}
	g := c.groups.Of(r)
	g.Cover.Count(r)
	first, second, ok := c.sides(r)
	if !ok {
		return
	}
	d := g.Data
	d.cover = gather.Grown(d.cover, int(max(first, second)))
	d.cover[first].Count(r)
	d.cover[second].Count(r)
	if !r.Valid() {
		return
	}
	result, ok := gather.ResultOf(r.Label)
	if !ok {
		c.odd++
		return
	}
	c.kind = analysis.AppendText(r.AppendKind(c.kind[:0]), r.Judge, r.Trait, r.Prompt)
	k := c.kinds.OfBytes(c.kind)
	if int(k) == len(c.kindOf) {
		c.kindOf = append(c.kindOf, newKind(r))
	}
	d.showings.add(newShowing(c.Known.Of(r.ClusterName()), c.Known.Of(r.Item), k, uint16(first), uint16(second), result))
}

// field returns what findings call the entrants.
func (c *Contest) field() string {
	switch {
	case c.Stage.Items:
		return analysis.ByItem
	case c.Spec.Entrants != "":
		return c.Spec.Entrants
	}
	return analysis.ByLane
}

// Tables computes one table for every method.
func (c *Contest) Tables() ([]analysis.Table, error) {
	titles := map[analysis.Method]string{
		analysis.BradleyT: "strengths", analysis.Davidson: "strengths", analysis.Elo: "Elo ratings", analysis.WinRate: "win rates",
		analysis.Position: "positional bias", analysis.Consistency: "reverse consistency",
		analysis.Correlation: "correlation with what is known",
	}
	out := make([]analysis.Table, len(c.methods))
	for i, m := range c.methods {
		out[i] = analysis.Table{Title: titles[m.Method], Method: m.Method, Primary: m.primary, Hidden: m.hidden,
			Coverage: c.groups.Totals()}
		if c.odd > 0 {
			out[i].Note("%s %s neither side nor a tie, and %s nothing", analysis.Plural(c.odd, "valid verdict"),
				assay.Verb(c.odd, "names", "name"), assay.Verb(c.odd, "decides", "decide"))
		}
		if c.within > 0 {
			out[i].Note("%s between two of the same %s left out", analysis.Plural(c.within, "comparison"), c.Spec.Entrants)
		}
	}
	for _, g := range c.groups.Sorted() {
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
	*Contest
	by       []analysis.Value
	whole    analysis.Coverage
	names    []string
	cover    []analysis.Coverage // by entrant
	n        []int               // comparisons by entrant
	in       []int               // clusters by entrant
	pairs    stats.Pairs
	begins   []begins
	apart    []thing // of the pairs whose two orders disagree, for consistency alone; at most maxDisagreed
	clusters int
	items    int // in the clusters, where lanes are compared; 0: each is one
	ties     int
	bothWays bool // both orders were shown
	grouped  *stats.Grouped
	counted  []yeses // by cluster, of what is counted last
}

func newArena(c *Contest, g *gather.Group[*bouts]) *arena {
	a := &arena{Contest: c, by: g.By(c.Spec.By), whole: g.Cover.WithMissing()}
	place, n := a.number(g.Data), g.Data.showings.n
	a.n, a.in = make([]int, len(a.names)), make([]int, len(a.names))
	last := make([]int, len(a.names)) // cluster of each entrant, from 1
	a.pairs = stats.Pairs{First: make([]uint16, 0, n), Second: make([]uint16, 0, n), Result: make([]stats.Result, 0, n)}
	a.begins = make([]begins, 0, n)
	listed := slices.ContainsFunc(c.methods, func(m method) bool { return m.Method == analysis.Consistency })
	forth, back := false, false
	var before showing
	var w swap
	end := func() {
		if listed && w.disagrees() && len(a.apart) < maxDisagreed {
			a.apart = append(a.apart, thing{before.item(), before.kind()})
		}
	}
	for s := range c.ordered(&g.Data.showings, place, mostSorted) {
		var b begins
		if len(a.begins) == 0 || s.cluster() != before.cluster() {
			b |= aCluster
			a.clusters++
		}
		a.items += int(gather.One(!c.Stage.Items && (len(a.begins) == 0 || s.about != before.about)))
		i, j, r := s.first(), s.second(), s.result()
		if len(a.begins) == 0 || !s.same(before) {
			end()
			b |= aPair
			w = a.swap(i, j, uint32(a.clusters-1))
		}
		w.count(i != w.low, r)
		before = s
		a.pairs.Append(i, j, r)
		a.begins = append(a.begins, b)
		for _, e := range []uint16{i, j} {
			a.n[e]++
			if last[e] != a.clusters {
				a.in[e]++
				last[e] = a.clusters
			}
		}
		a.ties += int(gather.One(r == stats.Tied))
		forth, back = forth || i < j, back || i > j
	}
	end()
	if a.bothWays = forth && back; a.items == a.clusters {
		a.items = 0
	}
	g.Data = nil // the columns hold it all
	return a
}

// begins is what begins with a comparison.
type begins uint8

const (
	aCluster begins = 1 << iota
	aPair           // the verdicts on one pair on one thing
)

// thing is what a pair is judged on: the places of its item and of its kind in the orders of their names.
type thing struct{ item, kind uint32 }

// byCluster walks over all comparisons with the numbers of their clusters, from 0.
func (a *arena) byCluster(yield func(k int, cluster uint32) bool) {
	cluster := ^uint32(0)
	for k, b := range a.begins {
		if b&aCluster > 0 {
			cluster++
		}
		if !yield(k, cluster) {
			return
		}
	}
}

// number gives the entrants of the group numbers in the order of their names; those of other groups get none.
func (a *arena) number(d *bouts) []uint32 {
	place := make([]uint32, a.entrants.Len())
	for _, e := range a.entrants.Sorted() {
		if int(e) < len(d.cover) && d.cover[e] != (analysis.Coverage{}) {
			place[e] = uint32(len(a.names))
			a.names = append(a.names, a.entrants.Text(e))
			a.cover = append(a.cover, d.cover[e].WithMissing())
		}
	}
	return place
}

// fill adds the findings of one method to its table.
func (a *arena) fill(t *analysis.Table, m analysis.Method, field string) error {
	if why := a.hopeless(); why != "" {
		t.Findings = append(t.Findings, a.finding(map[analysis.Method]string{analysis.Position: analysis.WhatFirst,
			analysis.Consistency: analysis.WhatConsistency, analysis.Elo: analysis.WhatElo, analysis.WinRate: analysis.WhatWin,
			analysis.Correlation: analysis.WhatPearson}[m], analysis.Share, -1, field).Unknown("%s", why))
		if m == analysis.BradleyT || m == analysis.Davidson {
			a.unranked(t, field, why)
		}
		return nil
	}
	var err error
	if a.grouped == nil {
		if a.grouped, err = stats.GroupSorted(len(a.names), a.pairs, func(k int) bool { return a.begins[k]&aCluster > 0 }); err != nil {
			return err
		}
	}
	switch m {
	case analysis.BradleyT, analysis.Davidson:
		return a.strengths(t, m, field)
	case analysis.WinRate:
		return a.winRates(t, field)
	case analysis.Elo:
		return a.elo(t, field)
	case analysis.Position:
		return a.position(t)
	case analysis.Correlation:
		return a.correlation(t)
	}
	return a.consistency(t)
}

// hopeless returns why nothing can be computed; empty: something can.
func (a *arena) hopeless() string {
	switch {
	case a.tooMany || len(a.names) > maxEntrants:
		return fmt.Sprintf("more than %d cannot be ranked together", maxEntrants)
	case a.pairs.Len() == 0:
		return "no comparison has a valid verdict"
	}
	return ""
}

// finding returns the beginning of a finding about one entrant, or about all with entrant -1.
func (a *arena) finding(what string, u analysis.Unit, entrant int, field string) *analysis.Finding {
	f := &analysis.Finding{What: what, Unit: u, By: slices.Clone(a.by), Coverage: a.whole, N: a.pairs.Len(), Clusters: a.clusters,
		Rule: a.Stage.CountingRule()}
	f.Bounds = stats.NoInterval("not computed for comparisons")
	if f.What == "" {
		f.What = analysis.WhatStrength
	}
	if entrant >= 0 {
		f.By = append([]analysis.Value{{Field: field, Value: a.names[entrant]}}, f.By...)
		f.Coverage, f.N, f.Clusters = a.cover[entrant], a.n[entrant], a.in[entrant]
	}
	return f
}

// kind distinguishes comparisons about the same item, besides who met.
type kind struct {
	template, branch, judge, trait, prompt string
	turn, draw                             int
}

func newKind(r *analysis.Row) kind {
	return kind{r.Template, r.Branch, r.Judge, r.Trait, r.Prompt, r.Turn, r.Draw}
}
