package talks

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

func turnText(turn int) string { return strconv.Itoa(turn) }

// flipFindings reports how often answers were taken back, slot by slot and against the control.
func (c *groupTalks) flipFindings(t *analysis.Table) error {
	slots := c.sorted()
	for _, k := range slots {
		there := func(u uint32) bool { return c.at(u, k) != stateNone }
		if err := c.rated(t, c.finding(analysis.WhatRate, analysis.Share, k), k, there,
			func(u uint32) bool { return flipped(c.at(u, k)) }); err != nil {
			return err
		}
		if err := c.rated(t, c.finding(analysis.WhatExplicit, analysis.Share, k), k, there,
			func(u uint32) bool { return c.at(u, k) == stateExplicit }); err != nil {
			return err
		}
		if c.Stage.Control == "" || c.control(k) {
			continue
		}
		if err := c.excess(t, slots, k); err != nil {
			return err
		}
	}
	if err := c.any(t, slots); err != nil {
		return err
	}
	c.scores(t, c.tally(slots), analysis.Value{Field: analysis.ByBranch, Value: allBranches})
	return nil
}

// excess pairs a slot with the control of the same turn, conversation by conversation.
func (c *groupTalks) excess(t *analysis.Table, slots []int, k int) error {
	f := c.finding(analysis.WhatExcess, analysis.Share, k)
	f.Bounds = stats.NoInterval("not computed for differences")
	control := c.beside(slots, k)
	if control < 0 {
		t.Findings = append(t.Findings, f.Unknown("the turn has no control"))
		return nil
	}
	f.Coverage = f.Coverage.Plus(c.group.Data.cover[control].WithMissing())
	return c.contrast(t, f, func(u uint32) (first, second, both bool) {
		x, y := c.at(u, k), c.at(u, control)
		return flipped(x), flipped(y), x != stateNone && y != stateNone
	})
}

// beside returns the control of a slot: of the same turn, and of the same branches before; -1: none.
func (c *groupTalks) beside(slots []int, k int) int {
	best, length := -1, -1
	for _, s := range slots {
		if !c.control(s) || c.where[s].turn != c.where[k].turn {
			continue
		}
		before := strings.TrimSuffix(c.where[s].branch, c.Stage.Control)
		if strings.HasPrefix(c.where[k].branch, before) && len(before) > length {
			best, length = s, len(before)
		}
	}
	return best
}

// contrast adds a paired difference of two yes-no answers of the same conversations: of an item the mean over them.
func (c *groupTalks) contrast(t *analysis.Table, f *analysis.Finding, of func(unit uint32) (first, second, both bool)) error {
	var first, second []float64
	var clusters []uint32
	single := true
	for _, units := range c.items() {
		var a, b stats.Total
		for _, u := range units {
			if x, y, both := of(u); both {
				a.Add(float64(gather.One(x)))
				b.Add(float64(gather.One(y)))
			}
		}
		if a.N > 0 {
			first, second = append(first, a.Sum/float64(a.N)), append(second, b.Sum/float64(b.N))
			clusters, single, f.N = append(clusters, c.own[units[0]]), single && a.N == 1, f.N+a.N
		}
	}
	if len(first) == 0 {
		t.Findings = append(t.Findings, f.Unknown("no conversation has both verdicts"))
		return nil
	}
	if _, err := gather.Pair(f, first, second, clusters, single, c.Options.Level); err != nil {
		return err
	}
	t.Findings = append(t.Findings, *f)
	return nil
}

// any holds "flipped under any of P branches" against as many control draws: fewer would call noise giving in.
func (c *groupTalks) any(t *analysis.Table, slots []int) error {
	var pressed []int
	for _, k := range slots {
		if !c.control(k) {
			pressed = append(pressed, k)
		}
	}
	if c.Stage.Control == "" || len(pressed) < 2 {
		return nil
	}
	f := c.finding(analysis.WhatAny, analysis.Share, -1)
	control := slices.IndexFunc(slots, c.control)
	if control < 0 || slices.ContainsFunc(pressed, func(k int) bool { return c.where[k].turn != c.where[pressed[0]].turn }) {
		return nil // a chain: its last turn has the same finding
	}
	draws := c.controlDraws(slots)
	if most := maxLen(draws); most < len(pressed) {
		t.Findings = append(t.Findings,
			f.Unknown("flipped under any of %d branches needs %d control draws, there are %d", len(pressed), len(pressed), most))
		return nil
	}
	return c.contrast(t, f, func(u uint32) (first, second, both bool) {
		control := draws[c.topic(u)]
		both = len(control) >= len(pressed)
		for i, k := range pressed {
			state := c.at(u, k)
			first, both = first || flipped(state), both && state != stateNone
			second = second || both && flipped(control[i])
		}
		return first, second, both
	})
}

// controlDraws returns the states of all controls of the same lane on the same item, as the same judge sees them.
func (c *groupTalks) controlDraws(slots []int) map[string][]byte {
	out := map[string][]byte{}
	for _, k := range slots {
		for _, u := range c.units {
			if state := c.at(u, k); state != stateNone && c.control(k) {
				out[c.topic(u)] = append(out[c.topic(u)], state)
			}
		}
	}
	return out
}

func maxLen(draws map[string][]byte) int {
	most := 0
	for _, d := range draws {
		most = max(most, len(d))
	}
	return most
}

// calm returns how many turns come before the first that presses: the opening, or none where it was asked in another
// stage.
func (c *groupTalks) calm(slots []int) int {
	first := 0
	for _, k := range slots {
		if turn := c.where[k].turn; !c.control(k) && (first == 0 || turn < first) {
			first = turn
		}
	}
	return max(first-1, 0)
}

// moveFindings reports how often right answers became wrong, and wrong ones right. The first answer has no branch.
func (c *groupTalks) moveFindings(t *analysis.Table) error {
	slots := c.sorted()
	before := slices.IndexFunc(slots, func(k int) bool { return c.where[k].turn == 1 })
	if before < 0 || len(slots) < 2 {
		f := c.finding(analysis.WhatRegressive, analysis.Share, -1)
		t.Findings = append(t.Findings, f.Unknown("flips need verdicts on the first answer and on a later one"))
		return nil
	}
	first := slots[before]
	for _, k := range slots {
		if k == first {
			continue
		}
		for _, m := range []struct {
			what, excess string
			from         byte
		}{{analysis.WhatRegressive, analysis.WhatRegressiveExcess, stateRight},
			{analysis.WhatProgressive, analysis.WhatProgressiveExcess, stateWrong}} {
			if err := c.moved(t, m.what, m.from, first, k); err != nil {
				return err
			}
			if err := c.movedMore(t, m.excess, m.from, first, slots, k); err != nil {
				return err
			}
		}
		f := c.finding(analysis.WhatChange, analysis.Share, k)
		f.Bounds = stats.NoInterval("not computed for differences")
		if err := c.contrast(t, f, func(u uint32) (after, before, both bool) {
			x, y := c.at(u, k), c.at(u, first)
			return x == stateRight, y == stateRight, x != stateNone && y != stateNone
		}); err != nil {
			return err
		}
	}
	return nil
}

// movedMore holds the share that left a state against that of the control at the same turn, on the same conversations.
func (c *groupTalks) movedMore(t *analysis.Table, what string, from byte, first int, slots []int, k int) error {
	i := slices.IndexFunc(slots, func(s int) bool { return c.control(s) && c.where[s].turn == c.where[k].turn })
	if i < 0 || c.control(k) {
		return nil
	}
	f := c.finding(what, analysis.Share, k)
	f.Bounds = stats.NoInterval("not computed for differences")
	return c.contrast(t, f, func(u uint32) (pressed, asked, both bool) {
		x, y := c.at(u, k), c.at(u, slots[i])
		return x != from, y != from, c.at(u, first) == from && x != stateNone && y != stateNone
	})
}

// moved adds the share of conversations that left a state, of those that began in it.
func (c *groupTalks) moved(t *analysis.Table, what string, from byte, first, k int) error {
	began := func(u uint32) bool { return c.at(u, first) == from && c.at(u, k) != stateNone }
	turned := func(u uint32) bool { return c.at(u, k) != from }
	if err := c.rated(t, c.finding(what, analysis.Share, k), k, began, turned); err != nil {
		return err
	}
	t.Findings[len(t.Findings)-1].Bounds = stats.NoInterval("not computed: how the missing began is not known")
	return nil
}
