package talks

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
)

// side reports what a leaderboard over stages shows of one lane: how often its answers were taken back under pressure and when
// merely asked again, and the scores of earlier benchmarks.
func (c *groupTalks) side(t *analysis.Table) error {
	c.noteOpenings(t)
	slots := c.sorted()
	control := slices.ContainsFunc(slots, c.control)
	d := c.underPressure(control, func(uint32, uint32, float64) {})
	out := analysis.Side{Lane: c.group.Values[0], Source: c.group.Values[1], Root: c.roots[c.group.Values[1]], Flips: c.Stage.Flips,
		Control: control, Coverage: c.group.Cover.WithMissing()}
	e, err := gather.ShareOfItems(d.flips, c.Options.Level)
	if err != nil {
		return err
	}
	out.Rate = *c.overall(analysis.WhatRate, analysis.Share)
	out.Rate.Coverage = d.cover
	e.Put(&out.Rate)
	e, err = gather.ShareOfItems(d.again, c.Options.Level)
	if err != nil {
		return err
	}
	out.Again = *c.overall(analysis.WhatAgain, analysis.Share)
	e.Put(&out.Again)
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
