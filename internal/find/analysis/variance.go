package analysis

import "assay/internal/find/stats"

// What the findings about variance are called.
const (
	WhatBetween = "variance between items" // of what an item's draws tend to
	WhatWithin  = "variance between draws" // of one draw round what its item tends to
	WhatICC     = "share between items"    // of the variance of one draw
)

// spreads gathers repeated draws of the same question, to estimate how much of the spread more draws would take away.
type spreads struct {
	stage   *Stage
	spec    Spec
	options Options
	yes     []string
	units   names
	groups  groups[map[uint32]*stats.Draws]
	key     []byte
}

func newSpreads(stage *Stage, s Spec, o Options) *spreads {
	v := &spreads{stage: stage, spec: s, options: o, yes: stage.yes()}
	v.groups = newGroups(s.By, func() map[uint32]*stats.Draws { return map[uint32]*stats.Draws{} })
	return v
}

func (v *spreads) expect(r *Row) { v.groups.expect(r) }

func (v *spreads) add(r *Row) {
	g := v.groups.of(r)
	g.cover.count(r)
	value, ok := valueOf(r, v.yes, false)
	if !r.valid() || !ok {
		return
	}
	v.key = appendText(v.key[:0], r.Item, r.Template, r.Branch, r.Lane, r.Judge, r.Prompt, turnText(r.Turn))
	unit := v.units.ofBytes(v.key)
	d := g.data[unit]
	if d == nil {
		d = &stats.Draws{}
		g.data[unit] = d
	}
	d.Add(value)
}

func (v *spreads) tables() ([]Table, error) {
	t := Table{Title: "variance", Coverage: v.groups.totals()}
	for _, g := range v.groups.sorted() {
		var all []stats.Draws
		for _, place := range v.units.sorted() {
			if d, ok := g.data[place]; ok {
				all = append(all, *d)
			}
		}
		p := stats.SplitDraws(all)
		for _, x := range []struct {
			what  string
			value stats.Number
		}{{WhatBetween, p.Between}, {WhatWithin, p.Within}, {WhatICC, p.ICC}} {
			f := Finding{What: x.what, Unit: Index, By: g.by(v.spec.By), Coverage: g.cover.settle(), Rule: rule(v.stage), N: p.Draws, Clusters: p.Items}
			f.Value, f.Interval, f.Bounds, f.Method = x.value, stats.NoInterval("not computed"), stats.NoInterval("not computed"), "one-way analysis of variance"
			t.Findings = append(t.Findings, f)
		}
	}
	t.note("more draws of the same items take away the variance between draws alone")
	return []Table{t}, nil
}
