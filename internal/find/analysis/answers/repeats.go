package answers

import (
	"maps"
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// repeats gathers what judges say when they are asked the same twice.
type repeats struct {
	gather.Job
	groups  gather.Groups[map[string]*asked]
	scored  bool // verdicts are scores without labels
	planned bool // rows were expected
	again   bool // a judge was to be asked the same more than once
	omitted int
	key     []byte
}

// asked holds the verdicts of a judge on one answer, or on one pair in one order.
type asked struct {
	cluster uint32
	labels  []string
	scores  []float64
}

// NewRepeats returns the collector of what judges say when they are asked the same twice.
func NewRepeats(j gather.Job) gather.Collector {
	return &repeats{Job: j, groups: gather.NewGroups(j.Spec.By, func() map[string]*asked { return map[string]*asked{} })}
}

func (p *repeats) Expect(r *analysis.Row) {
	p.groups.Expect(r)
	p.planned, p.again = true, p.again || r.Vote > 0
}

func (p *repeats) Add(r *analysis.Row) {
	g := p.groups.Of(r)
	g.Cover.Count(r)
	if !r.Valid() || p.planned && !p.again { // nothing is held of judges that were asked once
		return
	}
	p.key = analysis.AppendText(r.AppendUnit(p.key[:0]), r.Lane, r.Other, r.Trait, r.Prompt, r.Judge)
	a := g.Data[string(p.key)]
	if a == nil {
		if len(g.Data) >= gather.MaxUnits {
			p.omitted++
			return
		}
		a = &asked{cluster: p.Known.Of(r.ClusterName())}
		g.Data[string(p.key)] = a
	}
	if r.Label != "" {
		a.labels = append(a.labels, r.Label)
	} else if r.Score != nil {
		a.scores, p.scored = append(a.scores, *r.Score), true
	}
}

func (p *repeats) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "repeats", Coverage: p.groups.Totals()}
	for _, g := range p.groups.Sorted() {
		f := analysis.Finding{What: analysis.WhatRepeats, Unit: analysis.Share, By: g.By(p.Spec.By), Coverage: g.Cover.WithMissing(),
			Rule: p.Stage.CountingRule(), Bounds: stats.NoInterval("not computed")}
		totals := map[uint32]stats.Total{}
		for _, key := range slices.Sorted(maps.Keys(g.Data)) {
			if apart, ok := g.Data[key].apart(); ok {
				sum := totals[g.Data[key].cluster]
				sum.Add(apart)
				totals[g.Data[key].cluster] = sum
			}
		}
		if p.scored {
			f.Unit = analysis.Score
		}
		if len(totals) == 0 {
			t.Findings = append(t.Findings, f.Unknown("no judge was asked twice about the same"))
			continue
		}
		gather.Mean(gather.ByKey(totals), p.Options.Level).Put(&f)
		f.Interval = f.Interval.Clipped(new(float64), nil)
		t.Findings = append(t.Findings, f)
	}
	if p.omitted > 0 {
		t.Note("%s left out: repeat noise is computed over the first %d answers of a judge", analysis.Plural(p.omitted, "verdict"),
			gather.MaxUnits)
	}
	return []analysis.Table{t}, nil
}

// apart returns the share of pairs of verdicts that differ, or how far scores are apart; false: there is but one.
func (a *asked) apart() (float64, bool) {
	sum, pairs := 0.0, 0
	if len(a.labels) > 1 {
		for i, x := range a.labels {
			for _, y := range a.labels[:i] {
				if pairs++; x != y {
					sum++
				}
			}
		}
		return sum / float64(pairs), true
	}
	for i, x := range a.scores {
		for _, y := range a.scores[:i] {
			sum, pairs = sum+math.Abs(x-y), pairs+1
		}
	}
	return sum / float64(max(1, pairs)), pairs > 0
}
