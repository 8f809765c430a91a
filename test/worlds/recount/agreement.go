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
	means   map[[2]string][]float64 // values by judge and lane
}

func (s *stage) panelOf(t *Table) *panel {
	rows, _ := s.of(t, &Finding{})
	p := &panel{of: t, rows: rows, given: map[string]map[string]row{}, means: map[[2]string][]float64{}}
	judges, labels, lanes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		if !r.valid() {
			continue
		}
		judges[r.Judge] = true
		if x, ok := s.worth(&r); ok && !s.compares {
			lanes[r.Lane] = true
			p.means[[2]string{r.Judge, r.Lane}] = append(p.means[[2]string{r.Judge, r.Lane}], x)
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
	value := func(x *float64, n int) bool {
		c.same("judges: "+f.What, f.What, x, f.Value)
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
		return value(p.alpha(), len(p.answers))
	case "fleiss":
		all := p.rated(len(p.judges))
		return value(fleiss(all), len(all))
	case "ac1":
		all := p.rated(1)
		return value(gwet(all, len(p.labels)), len(all))
	case "judge mean of lane":
		return value(mean(p.means[[2]string{judge, lane}]), len(p.means[[2]string{judge, lane}]))
	case "judge delta of lane":
		return value(p.delta(judge, lane), len(p.means[[2]string{judge, lane}]))
	case "mean over judges", "spread over judges":
		return c.overJudges(f, p, lane)
	case "judge delta", "judge delta spread":
		var deltas []float64
		for _, l := range p.lanes {
			if d := p.delta(judge, l); d != nil {
				deltas = append(deltas, *d)
			}
		}
		if f.What == "judge delta" {
			c.same("judges: "+f.What, f.What, mean(deltas), f.Value)
		} else {
			c.same("judges: "+f.What, f.What, deviation(deltas), f.Value)
		}
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
	own := mean(p.means[[2]string{judge, lane}])
	if own == nil {
		return nil
	}
	return some(*own - *mean(p.ofLane(lane)))
}

// ofLane returns the mean that each judge gives a lane.
func (p *panel) ofLane(lane string) (out []float64) {
	for _, judge := range p.judges {
		if m := mean(p.means[[2]string{judge, lane}]); m != nil {
			out = append(out, *m)
		}
	}
	return out
}

// overJudges checks the mean over judges, and how far they differ.
func (c *checker) overJudges(f *Finding, p *panel, lane string) bool {
	all, n := p.ofLane(lane), 0
	for _, judge := range p.judges {
		n += len(p.means[[2]string{judge, lane}])
	}
	c.count("judges: n", f.What+", n", n, f.N)
	c.count("judges: n", f.What+", judges", len(all), f.Clusters)
	if f.What == "spread over judges" {
		c.same("judges: "+f.What, f.What, deviation(all), f.Value)
		return true
	}
	c.same("judges: "+f.What, f.What, mean(all), f.Value)
	return true
}

// twoJudges checks how far two judges agree.
func (c *checker) twoJudges(f *Finding, p *panel, first, second string) {
	table, n, same := map[[2]string]float64{}, 0, 0
	for _, answer := range p.answers {
		a, b := p.given[answer][first], p.given[answer][second]
		if a.Label == "" || b.Label == "" {
			continue
		}
		n++
		table[[2]string{a.Label, b.Label}]++
		same += int(one(a.Label == b.Label))
	}
	c.count("judges: n", f.What+", n", n, f.N)
	if n == 0 {
		c.same("judges: "+f.What, f.What, nil, f.Value)
		return
	}
	if f.What == "agreement" {
		c.same("judges: agreement", f.What, some(float64(same)/float64(n)), f.Value)
		return
	}
	for cell := range table {
		table[cell] /= float64(n)
	}
	c.same("judges: kappa", f.What, kappaOf(table), f.Value)
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

// rated returns how often each label was given to an answer, of those with so many labels at least.
func (p *panel) rated(least int) (out []map[string]float64) {
	for _, answer := range p.answers {
		counts := map[string]float64{}
		for _, r := range p.given[answer] {
			if r.Label != "" {
				counts[r.Label]++
			}
		}
		if sum(counts) >= float64(least) && len(counts) > 0 {
			out = append(out, counts)
		}
	}
	return out
}

func sum(counts map[string]float64) float64 {
	all := 0.0
	for _, n := range counts {
		all += n
	}
	return all
}

// alike returns the share of equal pairs of labels on an answer.
func alike(counts map[string]float64) float64 {
	n, same := sum(counts), 0.0
	for _, k := range counts {
		same += k * (k - 1)
	}
	return same / (n * (n - 1))
}

// fleiss returns Fleiss' kappa of answers with the same number of labels.
func fleiss(all []map[string]float64) *float64 {
	if len(all) == 0 || sum(all[0]) < 2 {
		return nil
	}
	observed, chance, labels := 0.0, 0.0, map[string]float64{}
	for _, counts := range all {
		observed += alike(counts) / float64(len(all))
		for label, k := range counts {
			labels[label] += k / sum(counts) / float64(len(all))
		}
	}
	for _, share := range labels {
		chance += share * share
	}
	return beyond(observed, chance)
}

// gwet returns Gwet's AC1.
func gwet(all []map[string]float64, categories int) *float64 {
	observed, both, labels := 0.0, 0.0, map[string]float64{}
	for _, counts := range all {
		for label, k := range counts {
			labels[label] += k / sum(counts) / float64(len(all))
		}
		if sum(counts) > 1 {
			observed, both = observed+alike(counts), both+1
		}
	}
	if both == 0 || categories < 2 {
		return nil
	}
	chance := 0.0
	for _, share := range labels {
		chance += share * (1 - share) / float64(categories-1)
	}
	return beyond(observed/both, chance)
}

func beyond(observed, chance float64) *float64 {
	if chance >= 1-1e-12 {
		return nil
	}
	return some((observed - chance) / (1 - chance))
}

// alpha returns Krippendorff's: one less the disagreement inside answers by that of all pairs of values.
func (p *panel) alpha() *float64 {
	var all []row
	within := 0.0
	for _, answer := range p.answers {
		var here []row
		for _, judge := range p.judges {
			if r, ok := p.given[answer][judge]; ok && (r.Label != "" || len(p.labels) == 0) {
				here = append(here, r)
			}
		}
		if len(here) < 2 {
			continue
		}
		for _, a := range here {
			for _, b := range here {
				within += p.distance(a, b) / float64(len(here)-1)
			}
		}
		all = append(all, here...)
	}
	between := 0.0
	for _, a := range all {
		for _, b := range all {
			between += p.distance(a, b)
		}
	}
	if between == 0 {
		return nil
	}
	return some(1 - float64(len(all)-1)*within/between)
}

// distance returns how far two verdicts are apart: of labels whether they differ, of scores the square of it.
func (p *panel) distance(a, b row) float64 {
	if len(p.labels) > 0 {
		return one(a.Label != b.Label)
	}
	if a.Score == nil || b.Score == nil {
		return 0
	}
	return math.Pow(*a.Score-*b.Score, 2)
}
