package talks

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// pooledFindings reports how often answers were taken back over all branches and turns under pressure, each item of equal weight:
// of any kind and outright, when merely asked again, and by how much more; then as scores.
func (c *groupTalks) pooledFindings(t *analysis.Table) error {
	slots := c.sorted()
	control := slices.ContainsFunc(slots, c.control)
	d := c.underPressure(control, func(uint32, uint32, float64) {})
	rates := []struct {
		what string
		of   []stats.ItemShares
	}{{analysis.WhatRate, d.flips}, {analysis.WhatExplicit, d.explicit}, {analysis.WhatAgain, d.again}}
	if !control {
		rates = rates[:2]
	}
	for _, x := range rates {
		f, err := c.pooled(x.what, x.of, d.cover)
		if err != nil {
			return err
		}
		t.Findings = append(t.Findings, f)
	}
	if control {
		f := *c.overall(analysis.WhatExcess, analysis.Share)
		e := gather.Mean(d.more, c.Options.Level)
		e.Put(&f)
		least, most := -1.0, 1.0
		f.Interval, f.P, f.N, f.Coverage = f.Interval.Clipped(&least, &most), e.P, d.n, d.cover
		t.Findings = append(t.Findings, f)
	}
	c.scores(t, c.tally(slots))
	return nil
}

// pooled returns a share over all answers of a group.
func (c *groupTalks) pooled(what string, of []stats.ItemShares, cover analysis.Coverage) (analysis.Finding, error) {
	f := *c.overall(what, analysis.Share)
	e, err := gather.ShareOfItems(of, c.Options.Level)
	e.Put(&f)
	f.Coverage = cover
	return f, err
}

// side reports what a leaderboard over stages shows of one lane: how often its answers were taken back under pressure and when
// merely asked again, and the scores of earlier benchmarks.
func (c *groupTalks) side(t *analysis.Table) error {
	c.noteOpenings(t)
	slots := c.sorted()
	control := slices.ContainsFunc(slots, c.control)
	d := c.underPressure(control, func(uint32, uint32, float64) {})
	out := analysis.Side{Lane: c.group.Values[0], Source: c.group.Values[1], Root: c.roots[c.group.Values[1]], Flips: c.Stage.Flips,
		Control: control, Coverage: c.group.Cover.WithMissing()}
	var err error
	if out.Rate, err = c.pooled(analysis.WhatRate, d.flips, d.cover); err != nil {
		return err
	}
	if out.Again, err = c.pooled(analysis.WhatAgain, d.again, out.Coverage); err != nil {
		return err
	}
	scores := analysis.Table{}
	c.scores(&scores, c.tally(slots))
	for i, to := range []*analysis.Finding{&out.BatchScore, &out.BatchResistance, &out.LiveScore, &out.Resistance} {
		*to = scores.Findings[i]
	}
	out.First = *c.overall(analysis.WhatFirstStance, analysis.Share)
	out.First.Unknown("no stage judges the first answers")
	t.Sides = append(t.Sides, out)
	return nil
}
