package answers

import (
	"strconv"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// variances gathers repeated draws of the same question, to estimate how much of the spread more draws would take away.
type variances struct {
	gather.Job
	yes    []string
	units  gather.Names
	groups gather.Groups[map[uint32]*stats.Draws]
	key    []byte
}

// NewVariances returns the collector of the variance between items and between draws.
func NewVariances(j gather.Job) gather.Collector {
	v := &variances{Job: j, yes: j.Stage.Yes()}
	v.groups = gather.NewGroups(j.Spec.By, func() map[uint32]*stats.Draws { return map[uint32]*stats.Draws{} })
	return v
}

func (v *variances) Expect(r *analysis.Row) { v.groups.Expect(r) }

func (v *variances) Add(r *analysis.Row) {
	g := v.groups.Of(r)
	g.Cover.Count(r)
	value, ok := gather.ValueOf(r, v.yes, false)
	if !r.Valid() || !ok {
		return
	}
	v.key = analysis.AppendText(v.key[:0], r.Item, r.Template, r.Branch, r.Lane, r.Judge, r.Prompt, strconv.Itoa(r.Turn))
	unit := v.units.OfBytes(v.key)
	d := g.Data[unit]
	if d == nil {
		d = &stats.Draws{}
		g.Data[unit] = d
	}
	d.Add(value)
}

func (v *variances) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "variance", Coverage: v.groups.Totals()}
	for _, g := range v.groups.Sorted() {
		var all []stats.Draws
		for _, unit := range v.units.Sorted() {
			if d, ok := g.Data[unit]; ok {
				all = append(all, *d)
			}
		}
		p := stats.SplitDraws(all)
		for _, x := range []struct {
			what  string
			value stats.Number
		}{{analysis.WhatBetween, p.Between}, {analysis.WhatWithin, p.Within}, {analysis.WhatICC, p.ICC}} {
			f := analysis.Finding{What: x.what, Unit: analysis.Index, By: g.By(v.Spec.By), Coverage: g.Cover.WithMissing(),
				Rule: v.Stage.CountingRule(), N: p.Draws, Clusters: p.Items}
			f.Value, f.Interval, f.Bounds, f.Method = x.value, stats.NoInterval("not computed"), stats.NoInterval("not computed"),
				"one-way analysis of variance"
			t.Findings = append(t.Findings, f)
		}
	}
	t.Note("more draws of the same items take away the variance between draws alone")
	return []analysis.Table{t}, nil
}
