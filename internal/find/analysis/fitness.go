package analysis

import (
	"fmt"
	"sort"
	"strings"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// What the findings about the fit of strengths are called.
const (
	WhatDeviance = "deviance"         // from a fit that has a number for every pair
	WhatMisfit   = "misfit"           // share won against one opponent, minus what strengths say
	WhatCircles  = "circular triples" // share of triples in which each beats the next
	WhatCircle   = "circle"           // one of them: the smallest of its three shares
)

// ByCircle names the three of a circle.
const ByCircle = "circle"

// What is listed of misfits and circles.
const (
	maxMisfits = 10
	maxCircles = 5
	leastMet   = 5 // comparisons of each two of a triple
)

// fitness adds whether strengths say what comparisons said: over all, pair by pair, and in circles.
func (a *arena) fitness(t *Table, fit *fitted, how, field string) error {
	o := fit.Options
	if len(a.names) > maxStood || fit.alike || o.Ridge > 0 || o.Firth {
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
	f := a.finding(WhatDeviance, Score, -1, "")
	f.Value, f.Interval, f.Method, f.P = stats.Known(d.Value), stats.NoInterval("a test statistic has a p-value and no error"), how+", against a number for every pair", d.P
	f.Counts = []Counted{{"df", d.Free}}
	if !d.P.OK {
		f.note("no p-value: %s", d.P.Why)
	} else if effect > 1 {
		f.note("for its p-value it is divided by %.2f, by which clusters widen variances", effect)
	}
	t.Findings = append(t.Findings, *f)
	if err := a.misfits(t, fit, field); err != nil {
		return err
	}
	return a.circles(t, field)
}

// misfits lists pairs that depart from their strengths, with all pairs tested together.
func (a *arena) misfits(t *Table, fit *fitted, field string) error {
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
		if adjusted[k] >= 1-a.options.Level || listed >= maxMisfits {
			break
		}
		r := tested[k]
		f := a.finding(WhatMisfit, Share, -1, "")
		f.By = append([]Value{{field, a.names[r.I]}, {ByAgainst, a.names[r.J]}}, f.By...)
		f.Value, f.N, f.P, f.Interval = stats.Known(r.Share-r.Expected), int(r.N), r.P, stats.NoInterval("not computed")
		f.Method = "score test of a parameter of its own, by cluster"
		f.Coverage = Coverage{Planned: f.N, Valid: f.N}
		f.note("%.0f%% won, strengths say %.0f%%; p = %.2g over all %s (Holm)", 100*r.Share, 100*r.Expected, adjusted[k], plural(len(tested), "pair"))
		t.Findings = append(t.Findings, *f)
		listed++
	}
	if r := tested[order[0]]; listed == 0 {
		t.note("no pair departs from its strengths (the most, %s against %s: %.0f%% won, %.0f%% expected)", a.names[r.I], a.names[r.J], 100*r.Share, 100*r.Expected)
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
func (a *arena) circles(t *Table, field string) error {
	met, err := stats.Directs(a.grouped, a.options.Level)
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
	f := a.finding(WhatCircles, Share, -1, "")
	f.Value, f.Interval, f.Method = ratio(float64(len(found)), triples), stats.NoInterval("not computed"), "direct results"
	f.Counts = []Counted{{"circular", len(found)}, {"triples", triples}}
	f.note("of equals, a quarter would go round by chance")
	t.Findings = append(t.Findings, *f)
	sort.SliceStable(found, func(i, j int) bool { return certainty(found[i].p) < certainty(found[j].p) })
	for _, c := range found[:min(maxCircles, len(found))] {
		f := a.finding(WhatCircle, Share, -1, "")
		f.By = append([]Value{{ByCircle, strings.Join(append(c.names[:], c.names[0]), " > ")}}, f.By...)
		f.Value, f.P, f.Interval, f.Method = stats.Known(c.share), c.p, stats.NoInterval("not computed"), "smallest of the three shares; p: the largest of three one-sided ones"
		if c.p.OK && c.p.Value*float64(2*triples) > 1-a.options.Level {
			f.note("may be chance: there are %s", plural(triples, "triple"))
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

// circle is the three in this order, where each won most against the next.
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

// disagreeing names the judges that say something else than the others do among themselves.
func (j *judges) disagreeing(t *Table) error {
	if len(j.judges.list) < 3 {
		return nil // of two it is not known who is the odd one
	}
	var p []float64
	var odd []string
	for _, judge := range j.judges.sorted() {
		with, apart := j.beside(judge)
		m := stats.MeanOfPortions(with, j.options.Level)
		f := j.finding(WhatWith, Share, m.N, Value{ByJudge, j.judges.list[judge]})
		if len(j.labels.list) == 0 {
			f.What, f.Unit = WhatDistance, Score
		}
		f.Value, f.SE, f.Interval, f.Clusters, f.Method = m.Mean, m.SE, m.Interval, m.Clusters, "Student over answers"
		if f.Unit == Share {
			low, high := 0.0, 1.0
			f.Interval = clipped(f.Interval, &low, &high)
		}
		d := stats.MeanOfPortions(apart, j.options.Level)
		if f.P = d.P; d.Mean.OK {
			f.note("%+.3f from what the others have among themselves", d.Mean.Value)
		}
		worse := d.Mean.OK && (d.Mean.Value < 0) == (f.Unit == Share) && d.Mean.Value != 0
		if p = append(p, 1); d.P.OK && worse {
			p[len(p)-1] = d.P.Value
		}
		odd = append(odd, fmt.Sprintf("judge %s disagrees with the others: %s", j.judges.list[judge], f.Unit.Show(f.Value.Value)))
		t.Findings = append(t.Findings, *f)
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return err
	}
	for i, text := range odd {
		if adjusted[i] < 1-j.options.Level {
			t.note("%s (p = %.2g, all judges tested together)", text, adjusted[i])
		}
	}
	return nil
}

// beside is, answer by answer, how far a judge and the others agree (of labels: the share that says the same; of scores: how far they are apart),
// and by how much that differs from the others among themselves.
func (j *judges) beside(judge uint32) (with, apart []stats.Portion) {
	for unit := range j.units.list {
		var own, rest stats.Portion
		for a := range j.judges.list {
			for b := range a {
				ra, okA := j.ratings[uint64(unit)<<32|uint64(a)]
				rb, okB := j.ratings[uint64(unit)<<32|uint64(b)]
				if !okA || !okB {
					continue
				}
				to := &rest
				if uint32(a) == judge || uint32(b) == judge {
					to = &own
				}
				to.N, to.Sum = to.N+1, to.Sum+j.alike(ra, rb)
			}
		}
		if own.N == 0 {
			continue
		}
		mean := own.Sum / float64(own.N)
		with = append(with, stats.Portion{N: 1, Sum: mean})
		if rest.N > 0 {
			apart = append(apart, stats.Portion{N: 1, Sum: mean - rest.Sum/float64(rest.N)})
		}
	}
	return with, apart
}

// alike is whether two ratings say the same, or how far their scores are apart.
func (j *judges) alike(a, b rating) float64 {
	if len(j.labels.list) > 0 {
		return float64(one(a.label == b.label))
	}
	if a.score > b.score {
		return a.score - b.score
	}
	return b.score - a.score
}
