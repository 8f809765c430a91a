package talks

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// pressed counts the effects of pressure on the answers of one lane, over all branches and turns.
type pressed struct {
	more          []stats.Total // flips minus those of the control beside, by cluster
	flips, calm   int           // flips under pressure, and of the controls beside
	n             int
	cover         analysis.Coverage
	clusterCounts []stats.Count // flips by cluster
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
		d := c.underPressure(p, items, g.Values[0])
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
		e, err := gather.Share(d.clusterCounts, s.Options.Level)
		out.Value, out.SE, out.Interval = e.Value, e.SE, e.Interval
		return out, err
	}
	e := gather.Mean(d.more, s.Options.Level)
	least, most := -1.0, 1.0
	out.Value, out.SE, out.Interval = e.Value, e.SE, e.Interval.Clipped(&least, &most)
	out.Share, out.Control = gather.Ratio(float64(d.flips), d.n), gather.Ratio(float64(d.calm), d.n)
	return out, nil
}

// underPressure counts what pressure did to each answer of a lane, and enters it item by item.
func (c *groupTalks) underPressure(p *gather.Pairing, items *gather.LaneItems, lane string) pressed {
	var out pressed
	slots := c.sorted()
	beside := make([]int, len(slots))
	for i, k := range slots {
		beside[i] = c.beside(slots, k)
		if !c.control(k) {
			out.cover = out.cover.Plus(c.group.Data.cover[k].WithMissing())
		}
	}
	number := int(p.Lanes.Of(lane))
	items.Sums = gather.Grown(items.Sums, number)
	last := uint32(0)
	for n, u := range c.units {
		if n == 0 || c.own[u] != last {
			last = c.own[u]
			out.more, out.clusterCounts = append(out.more, stats.Total{}), append(out.clusterCounts, stats.Count{})
		}
		for i, k := range slots {
			x, y := c.at(u, k), stateKept
			if c.control(k) || x == stateNone {
				continue
			}
			if c.Stage.Control != "" {
				if beside[i] < 0 {
					continue
				}
				if y = c.at(u, beside[i]); y == stateNone {
					continue
				}
			}
			did, would := gather.One(flipped(x)), gather.One(flipped(y))
			out.n, out.flips, out.calm = out.n+1, out.flips+int(did), out.calm+int(would)
			out.more[len(out.more)-1].Add(float64(did - would))
			at := &out.clusterCounts[len(out.clusterCounts)-1]
			at.K, at.N = at.K+int(did), at.N+1
			p.Enter(&items.Sums[number], c.Known.Of(itemOf(c.flips.units.List[u])), c.own[u], float64(did-would))
		}
	}
	return out
}

// itemOf returns the item at the beginning of a conversation's name.
func itemOf(name string) string {
	length, rest, _ := strings.Cut(name, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n > len(rest) {
		return name
	}
	return rest[:n]
}
