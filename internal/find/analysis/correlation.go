package analysis

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/stats"
)

// What correlations with what is known are called.
const (
	WhatPearson  = "correlation"      // linear
	WhatSpearman = "rank correlation" // of ranks
)

// correlation holds the strengths of items against what is known of them.
func (a *arena) correlation(t *Table) error {
	with := a.options.method.With
	o, how := a.model(t, BradleyT)
	fit, err := a.fit(o)
	var none *stats.NoMaximum
	if errors.As(err, &none) && o.Order {
		o.Order = false
		fit, err = a.fit(o)
	}
	if errors.As(err, &none) {
		t.Findings = append(t.Findings, a.finding(WhatPearson, Index, -1, "").unknown("%s", a.noStrengths(none, a.field())))
		return nil
	}
	if err != nil {
		return err
	}
	var found, known []float64
	for i, name := range a.names {
		if x, ok := number(a.stage.Known[with][name]); ok {
			found, known = append(found, math.Round(fit.Theta[i]*1e9)/1e9), append(known, x) // equal strengths share a rank
		}
	}
	t.correlate(a.finding(WhatPearson, Index, -1, ""), found, known, len(a.names), with, "strengths by "+how, a.options.Level)
	return nil
}

// number is what a text says, where it is a number.
func number(text string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// correlate adds both correlations of what was found with what is known.
func (t *Table) correlate(like *Finding, found, known []float64, all int, with, how string, level float64) {
	for _, c := range []struct {
		what, method string
		of           func(x, y []float64, level float64) stats.Correlation
	}{{WhatPearson, "Pearson, Fisher's z", stats.NewPearson}, {WhatSpearman, "Spearman, Bonett-Wright", stats.NewSpearman}} {
		f := *like
		r := c.of(found, known, level)
		f.What, f.Unit, f.N, f.Clusters, f.Method = c.what, Index, r.N, r.N, c.method+"; "+how
		f.Value, f.SE, f.Interval, f.P = r.R, r.SE, r.Interval, r.P
		f.note("with %s", with)
		if left := all - r.N; left > 0 {
			f.note("%d of %d have no number in %s", left, all, with)
		}
		t.Findings = append(t.Findings, f)
	}
}

// correlations hold what each item got against what is known of it, group by group.
type correlations struct {
	stage   *Stage
	spec    Spec
	options Options
	yes     []string
	groups  groups[*knownItems]
}

// knownItems are the items of a group.
type knownItems struct {
	items names
	got   []total
	known []string
}

func newCorrelations(stage *Stage, s Spec, o Options) *correlations {
	return &correlations{stage: stage, spec: s, options: o, yes: stage.yes(), groups: newGroups(s.By, func() *knownItems { return &knownItems{} })}
}

func (c *correlations) expect(r *Row) { c.groups.expect(r) }

func (c *correlations) add(r *Row) {
	g := c.groups.of(r)
	g.cover.count(r)
	var value float64
	switch {
	case !r.valid():
		return
	case len(c.yes) > 0 && !c.stage.Flips && r.Label != "":
		value = float64(one(slices.Contains(c.yes, r.Label)))
	case r.Score != nil:
		value = *r.Score
	case r.Expect != "" && r.Label != "":
		value = float64(one(r.Label == r.Expect))
	default:
		return
	}
	d := g.data
	k := int(d.items.of(r.Item))
	if k == len(d.got) {
		d.got, d.known = append(d.got, total{}), append(d.known, strings.Clone(r.Field(c.spec.With)))
	}
	d.got[k].add(value)
}

func (c *correlations) tables() ([]Table, error) {
	t := Table{Title: "correlation with what is known", Coverage: c.groups.totals()}
	for _, g := range c.groups.sorted() {
		d := g.data
		var found, known []float64
		for _, k := range d.items.sorted() {
			if x, ok := number(d.known[k]); ok {
				found, known = append(found, d.got[k].sum/float64(d.got[k].n)), append(known, x)
			}
		}
		like := &Finding{By: g.by(c.spec.By), Coverage: g.cover.settle(), Rule: rule(c.stage), Bounds: stats.NoInterval("not computed")}
		t.correlate(like, found, known, len(d.got), c.spec.With, "means of items", c.options.Level)
	}
	return []Table{t}, nil
}
