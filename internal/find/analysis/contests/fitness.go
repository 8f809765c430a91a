package contests

import (
	"sort"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// What is listed of misfits and circles.
const (
	maxMisfits = 10
	maxCircles = 5
	leastMet   = 5 // comparisons of each two of a triple
)

// fitness adds how well strengths fit the comparisons: over all, pair by pair, and in circles.
func (a *arena) fitness(t *analysis.Table, fit *fitted, how, field string) error {
	o := fit.Options
	if len(a.names) > analysis.MaxCompared || fit.alike || o.Ridge > 0 || o.Firth {
		return nil
	}
	model, err := fit.Covariance()
	if err != nil {
		return nil // strengths without errors: nothing can be tested
	}
	effect := 1.0
	if fit.spread != nil {
		effect = max(1, adaptive.Effect(len(fit.Theta), fit.spread, model.Difference))
	}
	d := fit.Deviance(effect)
	f := a.finding(analysis.WhatDeviance, analysis.Score, -1, "")
	f.Value, f.Interval, f.Method, f.P = stats.Known(d.Value), stats.NoInterval("a test statistic has a p-value and no error"),
		how+", against a number for every pair", d.P
	f.Counts = []analysis.Counted{{Name: "df", N: d.Free}}
	if !d.P.OK {
		f.Note("no p-value: %s", d.P.Why)
	} else if effect > 1 {
		f.Note("for its p-value it is divided by %.2f, by which clusters widen variances", effect)
	}
	t.Findings = append(t.Findings, *f)
	if err := a.misfits(t, fit, field); err != nil {
		return err
	}
	return a.circles(t, field)
}

// misfits lists pairs that depart from their strengths, with all pairs tested together.
func (a *arena) misfits(t *analysis.Table, fit *fitted, field string) error {
	all, err := fit.Residuals(a.grouped)
	if err != nil {
		return err
	}
	var p []float64
	var tested []stats.Residual
	for _, r := range all {
		if r.P.OK {
			tested, p = append(tested, r), append(p, r.P.Value)
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil || len(tested) == 0 {
		return nil
	}
	order := make([]int, len(tested))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return p[order[i]] < p[order[j]] })
	listed := 0
	for _, k := range order {
		if adjusted[k] >= 1-a.Options.Level || listed >= maxMisfits {
			break
		}
		r := tested[k]
		f := a.finding(analysis.WhatMisfit, analysis.Share, -1, "")
		f.By = append([]analysis.Value{{Field: field, Value: a.names[r.I]}, {Field: analysis.ByAgainst, Value: a.names[r.J]}}, f.By...)
		f.Value, f.N, f.P, f.Interval = stats.Known(r.Share-r.Expected), int(r.N), r.P, stats.NoInterval("not computed")
		f.Method = "score test of a parameter of its own, by cluster"
		f.Coverage = analysis.Coverage{Planned: f.N, Valid: f.N}
		f.Note("%.0f%% won, strengths say %.0f%%; p = %.2g over all %s (Holm)", 100*r.Share, 100*r.Expected, adjusted[k],
			analysis.Plural(len(tested), "pair"))
		t.Findings = append(t.Findings, *f)
		listed++
	}
	if r := tested[order[0]]; listed == 0 {
		t.Note("no pair departs from its strengths (the most, %s against %s: %.0f%% won, %.0f%% expected)", a.names[r.I], a.names[r.J],
			100*r.Share, 100*r.Expected)
	}
	return nil
}

// circle is three of which each won most comparisons against the next.
type circle struct {
	names [3]string
	share float64 // the smallest
	p     stats.Number
}

// circles counts triples that go round in a circle, and lists the most certain ones.
func (a *arena) circles(t *analysis.Table, field string) error {
	met, err := stats.Directs(a.grouped, a.Options.Level)
	if err != nil {
		return err
	}
	beats := func(i, j int) (share float64, p stats.Number, ok bool) { // the share that i won
		d, there := met[[2]int{min(i, j), max(i, j)}]
		if share = d.Share; i > j {
			share = 1 - share
		}
		return share, d.P, there && d.N >= leastMet
	}
	triples := 0
	var found []circle
	for i := range a.names {
		for j := range i {
			for k := range j {
				_, _, one := beats(i, j)
				_, _, two := beats(j, k)
				_, _, three := beats(k, i)
				if !one || !two || !three {
					continue
				}
				triples++
				if c, ok := a.circle(beats, k, j, i); ok {
					found = append(found, c)
				} else if c, ok := a.circle(beats, k, i, j); ok {
					found = append(found, c)
				}
			}
		}
	}
	if triples == 0 {
		return nil
	}
	f := a.finding(analysis.WhatCircles, analysis.Share, -1, "")
	f.Value, f.Interval, f.Method = gather.Ratio(float64(len(found)), triples), stats.NoInterval("not computed"), "direct results"
	f.Counts = []analysis.Counted{{Name: "circular", N: len(found)}, {Name: "triples", N: triples}}
	f.Note("of equals, a quarter would go round by chance")
	t.Findings = append(t.Findings, *f)
	sort.SliceStable(found, func(i, j int) bool { return certainty(found[i].p) < certainty(found[j].p) })
	for _, c := range found[:min(maxCircles, len(found))] {
		f := a.finding(analysis.WhatCircle, analysis.Share, -1, "")
		f.By = append([]analysis.Value{{Field: analysis.ByCircle, Value: strings.Join(append(c.names[:], c.names[0]), " > ")}}, f.By...)
		f.Value, f.P, f.Interval, f.Method = stats.Known(c.share), c.p, stats.NoInterval("not computed"),
			"smallest of the three shares; p: the largest of three one-sided ones"
		if c.p.OK && c.p.Value*float64(2*triples) > 1-a.Options.Level {
			f.Note("may be chance: there are %s", analysis.Plural(triples, "triple"))
		}
		t.Findings = append(t.Findings, *f)
	}
	return nil
}

func certainty(p stats.Number) float64 {
	if !p.OK {
		return 2
	}
	return p.Value
}

// circle returns the three in this order, where each won most against the next.
func (a *arena) circle(beats func(i, j int) (float64, stats.Number, bool), i, j, k int) (circle, bool) {
	c := circle{names: [3]string{a.names[i], a.names[j], a.names[k]}, share: 1, p: stats.Known(0)}
	for _, two := range [][2]int{{i, j}, {j, k}, {k, i}} {
		share, p, _ := beats(two[0], two[1])
		if share <= 0.5 {
			return c, false
		}
		c.share = min(c.share, share)
		if !p.OK {
			c.p = stats.Undefined("%s", p.Why)
		} else if c.p.OK {
			c.p = stats.Known(max(c.p.Value, p.Value/2))
		}
	}
	return c, true
}
