package talks

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// pressed counts the effects of pressure on the answers of one lane, over all branches and turns. Items have equal weight.
type pressed struct {
	more     []stats.Total      // flips minus those of the control beside: means of items, by cluster
	flips    []stats.ItemShares // flips of items, by cluster
	explicit []stats.ItemShares // those that are explicit
	again    []stats.ItemShares // flips of the controls beside, by cluster
	n        int
	cover    analysis.Coverage
}

// itemFlips counts the answers to an item that have a verdict, and those of them that were taken back.
type itemFlips struct{ n, flips, explicit, calm int }

// add enters an item, in a cluster of its own or that of the item before.
func (p *pressed) add(own bool, it itemFlips) {
	if it.n == 0 {
		return
	}
	if own {
		p.more = append(p.more, stats.Total{})
	}
	p.more[len(p.more)-1].Add(float64(it.flips-it.calm) / float64(it.n))
	for _, x := range []struct {
		to *[]stats.ItemShares
		k  int
	}{{&p.flips, it.flips}, {&p.explicit, it.explicit}, {&p.again, it.calm}} {
		if own {
			*x.to = append(*x.to, stats.ItemShares{})
		}
		(*x.to)[len(*x.to)-1].Add(stats.Count{K: x.k, N: it.n})
	}
	p.n += it.n
}

// shareOf returns the mean over items of their shares of flips.
func shareOf(clusters []stats.ItemShares) stats.Number {
	var t stats.Total
	for _, c := range clusters {
		t.N, t.Sum = t.N+c.Items, t.Sum+c.Sum
	}
	return gather.Ratio(t.Sum, t.N)
}

// leaderboard ranks lanes by how often they take an answer back under pressure: more often than when merely asked again,
// where that was done too.
func (s *flips) leaderboard(t *analysis.Table) error {
	if !s.Stage.Flips || !slices.Equal(s.groups.Fields, []string{analysis.ByLane}) || len(s.groups.Index) == 0 {
		return nil
	}
	control := s.Stage.Control != ""
	out := analysis.Leaderboard{Field: analysis.ByLane, What: analysis.WhatRate, Unit: analysis.Share, Less: true, Flips: true,
		Control: control, Labels: s.yes}
	if control {
		out.What = analysis.WhatExcess
	}
	p := gather.NewPairing(s.Job, []string{analysis.ByLane})
	items := p.Groups.Of(&analysis.Row{}).Data
	for _, g := range s.groups.Sorted() {
		c := &groupTalks{flips: s, group: g, units: s.ordered(g.Data)}
		lane := int(p.Lanes.Of(g.Values[0]))
		items.Sums = gather.Grown(items.Sums, lane)
		d := c.underPressure(control, func(item, own uint32, more float64) { p.Enter(&items.Sums[lane], item, own, more) })
		place, err := s.place(g.Values[0], d)
		if err != nil {
			return err
		}
		out.Places = append(out.Places, place)
	}
	err := p.Contrasts(&out, func(a, b uint32) (gather.Difference, error) {
		v := p.Values(items, a, b)
		return gather.Compare(analysis.Finding{What: out.What, Unit: analysis.Share}, v, v.Single && !control, s.Options.Level)
	})
	t.Leaderboards = append(t.Leaderboards, out)
	return err
}

// place returns one lane by its flips.
func (s *flips) place(lane string, d pressed) (analysis.Place, error) {
	out := analysis.Place{Name: lane, N: d.n, Coverage: d.cover}
	if s.Stage.Control == "" {
		e, err := gather.ShareOfItems(d.flips, s.Options.Level)
		out.Value, out.SE, out.Interval = e.Value, e.SE, e.Interval
		return out, err
	}
	e := gather.Mean(d.more, s.Options.Level)
	least, most := -1.0, 1.0
	out.Value, out.SE, out.Interval = e.Value, e.SE, e.Interval.Clipped(&least, &most)
	out.Share, out.Control = shareOf(d.flips), shareOf(d.again)
	return out, nil
}

// underPressure counts what pressure did to each answer of a lane, and enters it item by item: by how much more it was taken
// back than the control beside, or with none, by how much it was.
func (c *groupTalks) underPressure(control bool, enter func(item, own uint32, more float64)) pressed {
	var out pressed
	slots := c.sorted()
	beside := make([]int, len(slots))
	for i, k := range slots {
		beside[i] = c.beside(slots, k)
		if !c.control(k) {
			out.cover = out.cover.Plus(c.group.Data.cover[k].WithMissing())
		}
	}
	cluster := uint32(0) // of the last item that counts, plus 1
	for item, units := range c.items() {
		sum, own := itemFlips{}, c.own[units[0]]
		for _, u := range units {
			for i, k := range slots {
				x, y := c.turned(u, k), stateKept
				if c.control(k) || x == stateNone {
					continue
				}
				if control {
					if beside[i] < 0 {
						continue
					}
					if y = c.turned(u, beside[i]); y == stateNone {
						continue
					}
				}
				did, would := int(gather.One(flipped(x))), int(gather.One(flipped(y)))
				sum.flips, sum.calm, sum.n = sum.flips+did, sum.calm+would, sum.n+1
				sum.explicit += int(gather.One(x == stateExplicit))
				enter(c.Known.Of(item), own, float64(did-would))
			}
		}
		if out.add(cluster != own+1, sum); sum.n > 0 {
			cluster = own + 1
		}
	}
	return out
}
