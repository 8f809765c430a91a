package recount

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// panel is what several judges gave to the same answers.
type panel struct {
	of      *Table
	rows    []row
	given   map[string]map[string]row // by answer and judge, the first vote
	answers []string
	judges  []string
	labels  []string
	lanes   []string
	means   map[[2]string][]ofItem // values by judge and lane
}

// without returns the panel without a cluster.
func (p *panel) without(cluster string) *panel {
	out := *p
	out.given, out.answers, out.means = map[string]map[string]row{}, nil, map[[2]string][]ofItem{}
	for _, answer := range p.answers {
		for judge, r := range p.given[answer] {
			if r.cluster == cluster {
				continue
			}
			if out.given[answer] == nil {
				out.given[answer], out.answers = map[string]row{}, append(out.answers, answer)
			}
			out.given[answer][judge] = r
		}
	}
	for k, all := range p.means {
		out.means[k] = slices.DeleteFunc(slices.Clone(all), func(s ofItem) bool { return s.cluster == cluster })
	}
	return &out
}

// clusters returns those of all valid verdicts.
func (p *panel) clusters() []string {
	all := map[string]bool{}
	for _, of := range p.given {
		for _, r := range of {
			all[r.cluster] = true
		}
	}
	for _, of := range p.means {
		for _, s := range of {
			all[s.cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// resting returns the clusters of answers that have so many of some judges' verdicts (all judges': none named).
func (p *panel) resting(least int, judges ...string) []string {
	if len(judges) == 0 {
		judges = p.judges
	}
	all := map[string]bool{}
	for _, of := range p.given {
		n, cluster := 0, ""
		for _, judge := range judges {
			if r, ok := of[judge]; ok && (r.Label != "" || len(p.labels) == 0) {
				n, cluster = n+1, r.cluster
			}
		}
		if n >= least {
			all[cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// number checks a number of judges, and its error from leaving out one after the other of the clusters that it rests on.
func (c *checker) number(f *Finding, p *panel, all []string, low, high *float64, of func(*panel) *float64) {
	kind := "judges: " + f.What
	x := of(p)
	c.same(kind, f.What, x, f.Value)
	c.count("judges: clusters", f.What+", clusters", len(all), f.Clusters)
	if len(all) > 100 {
		return // clusters are left out in groups
	}
	var without []seen
	for _, cluster := range all {
		y := of(p.without(cluster))
		if x == nil || y == nil || len(all) < 2 {
			without = nil
			break
		}
		without = append(without, seen{cluster, *y})
	}
	var e estimate
	if se := spread(without); len(without) > 1 && se > 1e-9 {
		t := critical(f.Level, len(all)-1)
		e.se, e.low, e.high = some(se), some(*x-t*se), some(*x+t*se)
		if low != nil {
			e.low = some(max(*e.low, *low))
		}
		if high != nil {
			e.high = some(min(*e.high, *high))
		}
	}
	c.same(kind+": standard error", f.What+", standard error", e.se, f.SE)
	c.same(kind+": interval", f.What+", low bound", e.low, f.Low)
	c.same(kind+": interval", f.What+", high bound", e.high, f.High)
}

func (s *stage) panelOf(t *Table) *panel {
	rows, _ := s.of(t, &Finding{})
	p := &panel{of: t, rows: rows, given: map[string]map[string]row{}, means: map[[2]string][]ofItem{}}
	judges, labels, lanes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		if !r.valid() {
			continue
		}
		judges[r.Judge] = true
		if x, ok := s.worth(&r); ok && !s.compares {
			lanes[r.Lane] = true
			p.means[[2]string{r.Judge, r.Lane}] = append(p.means[[2]string{r.Judge, r.Lane}],
				ofItem{r.Item, seen{r.cluster, x}})
		}
		if r.Vote > 0 {
			continue
		}
		if r.Label != "" {
			labels[r.Label] = true
		}
		about := fmt.Sprintf("%q", []any{r.Source, r.Item, r.Template, r.Branch, r.Turn, r.Draw, r.Lane, r.First, r.Second, r.Trait,
			r.Prompt})
		if s.items {
			about = fmt.Sprintf("%q", []any{r.First, r.Second, r.Template, r.Turn, r.Draw, r.Trait, r.Prompt})
		}
		if p.given[about] == nil {
			p.given[about] = map[string]row{}
		}
		p.given[about][r.Judge] = r
	}
	p.answers, p.judges = slices.Sorted(maps.Keys(p.given)), slices.Sorted(maps.Keys(judges))
	p.labels, p.lanes = slices.Sorted(maps.Keys(labels)), slices.Sorted(maps.Keys(lanes))
	return p
}

// worth returns a verdict as a number: of flips the score, else yes or no, the score, or whether the label is the expected one.
func (s *stage) worth(r *row) (float64, bool) {
	if s.rubric.Flips {
		if r.Score == nil {
			return 0, false
		}
		return *r.Score, true
	}
	x, _, ok := s.value(r)
	return x, ok
}

// judging checks a finding about judges.
func (c *checker) judging(s *stage, t *Table, f *Finding) bool {
	if c.panel == nil || c.panel.of != t {
		c.panel = s.panelOf(t)
	}
	p := c.panel
	c.covered(s, f.What, f.Coverage, p.rows)
	judge, lane := f.By["judge"], f.By["lane"]
	index := func(n, least int, of func(*panel) *float64) bool {
		c.number(f, p, p.resting(least), some(-1), some(1), of)
		c.count("judges: n", f.What+", n", n, f.N)
		return true
	}
	switch f.What {
	case "agreement", "kappa":
		if f.By["against"] == "" {
			return false // there is one judge
		}
		c.twoJudges(f, p, judge, f.By["against"])
		return true
	case "alpha":
		return index(len(p.answers), 2, (*panel).alpha)
	case "fleiss":
		return index(len(p.rated(len(p.judges))), len(p.judges), func(p *panel) *float64 { return fleiss(p.rated(len(p.judges))) })
	case "ac1":
		return index(len(p.rated(1)), 1, func(p *panel) *float64 { return gwet(p.rated(1), len(p.labels)) })
	case "judge mean of lane":
		c.same("judges: "+f.What, f.What, p.mean(judge, lane), f.Value)
		c.count("judges: n", f.What+", n", len(p.means[[2]string{judge, lane}]), f.N)
		return true
	case "judge delta of lane":
		c.number(f, p, p.clusters(), nil, nil, func(p *panel) *float64 { return p.delta(judge, lane) })
		c.count("judges: n", f.What+", n", len(p.means[[2]string{judge, lane}]), f.N)
		return true
	case "mean over judges", "spread over judges":
		return c.overJudges(s, f, p, lane)
	case "judge delta":
		c.number(f, p, p.clusters(), nil, nil, func(p *panel) *float64 { return mean(p.deltas(judge)) })
		return true
	case "judge delta spread":
		c.number(f, p, p.clusters(), some(0), nil, func(p *panel) *float64 { return deviation(p.deltas(judge)) })
		return true
	}
	return false
}

func mean(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return some(total(x) / float64(len(x)))
}

// deviation returns the standard deviation of a sample.
func deviation(x []float64) *float64 {
	if len(x) < 2 {
		return nil
	}
	squares := 0.0
	for _, v := range x {
		squares += math.Pow(v-*mean(x), 2)
	}
	return some(math.Sqrt(squares / float64(len(x)-1)))
}

// delta returns how far a judge is above the mean of all judges of a lane.
func (p *panel) delta(judge, lane string) *float64 {
	own := p.mean(judge, lane)
	if own == nil {
		return nil
	}
	return some(*own - *mean(p.ofLane(lane)))
}

// deltas returns a judge's deltas, lane by lane.
func (p *panel) deltas(judge string) (out []float64) {
	for _, lane := range p.lanes {
		if d := p.delta(judge, lane); d != nil {
			out = append(out, *d)
		}
	}
	return out
}

// mean returns what a judge gives a lane, the mean over items.
func (p *panel) mean(judge, lane string) *float64 {
	means, _ := averaged(p.means[[2]string{judge, lane}])
	return mean(values(means))
}

// ofLane returns the mean that each judge gives a lane.
func (p *panel) ofLane(lane string) (out []float64) {
	for _, judge := range p.judges {
		if m := p.mean(judge, lane); m != nil {
			out = append(out, *m)
		}
	}
	return out
}

// overJudges checks the mean over judges, and how far they differ.
func (c *checker) overJudges(s *stage, f *Finding, p *panel, lane string) bool {
	n := 0
	for _, judge := range p.judges {
		n += len(p.means[[2]string{judge, lane}])
	}
	c.count("judges: n", f.What+", n", n, f.N)
	if f.What == "spread over judges" {
		c.number(f, p, p.clusters(), some(0), nil, func(p *panel) *float64 { return deviation(p.ofLane(lane)) })
		return true
	}
	c.number(f, p, p.clusters(), s.rubric.Low, s.rubric.High, func(p *panel) *float64 { return mean(p.ofLane(lane)) })
	return true
}

// twoJudges checks how far two judges agree.
func (c *checker) twoJudges(f *Finding, p *panel, first, second string) {
	_, same := p.both(first, second)
	c.count("judges: n", f.What+", n", len(same), f.N)
	switch {
	case len(same) == 0:
		c.same("judges: "+f.What, f.What, nil, f.Value)
	case f.What == "agreement":
		c.estimate("judges: agreement", f, shareOf(same, f.Level))
	default:
		c.number(f, p, p.resting(2, first, second), some(-1), some(1),
			func(p *panel) *float64 { table, _ := p.both(first, second); return kappaOf(table) })
	}
}

// both returns the shares of the labels that two judges gave the same answers, and on which of them they agree.
func (p *panel) both(first, second string) (table map[[2]string]float64, same []seen) {
	table = map[[2]string]float64{}
	for _, answer := range p.answers {
		a, b := p.given[answer][first], p.given[answer][second]
		if a.Label == "" || b.Label == "" {
			continue
		}
		table[[2]string{a.Label, b.Label}]++
		same = append(same, seen{a.cluster, one(a.Label == b.Label)})
	}
	for cell := range table {
		table[cell] /= float64(len(same))
	}
	return table, same
}

// kappaOf returns Cohen's kappa of a table of shares; nil: chance alone agrees always.
func kappaOf(table map[[2]string]float64) *float64 {
	rows, columns, observed, chance := map[string]float64{}, map[string]float64{}, 0.0, 0.0
	for cell, share := range table {
		rows[cell[0]] += share
		columns[cell[1]] += share
		if cell[0] == cell[1] {
			observed += share
		}
	}
	for label, share := range rows {
		chance += share * columns[label]
	}
	return beyond(observed, chance)
}
