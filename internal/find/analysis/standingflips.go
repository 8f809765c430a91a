package analysis

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/stats"
)

// pressed is what pressure did to the answers of one lane, over all branches and turns.
type pressed struct {
	more          []total // flips minus those of the control beside, by cluster
	flips, calm   int     // flips under pressure, and of the controls beside
	n             int
	cover         Coverage
	clusterCounts []stats.Count // flips by cluster
}

// standing ranks lanes by how often they take an answer back under pressure: more often than when merely asked again, where that
// was done too.
func (s *flips) standing(t *Table) error {
	if !s.stage.Flips || !slices.Equal(s.groups.fields, []string{ByLane}) || len(s.groups.index) == 0 {
		return nil
	}
	control := s.stage.Control != ""
	out := Standing{Field: ByLane, What: WhatRate, Unit: Share, Less: true, Flips: true, Control: control, Labels: s.yes}
	if control {
		out.What = WhatExcess
	}
	p := newPairing([]string{ByLane}, s.clusters)
	items := p.groups.of(&Row{}).data
	for _, g := range s.groups.sorted() {
		c := &talks{flips: s, group: g, units: s.ordered(g.data)}
		d := c.underPressure(p, items, g.values[0])
		place, err := s.place(g.values[0], d)
		if err != nil {
			return err
		}
		out.Places = append(out.Places, place)
	}
	err := p.contrasts(&out, func(a, b uint32) (Finding, stats.Number, error) {
		f, v := Finding{What: out.What, Unit: Share}, p.values(items, a, b)
		se, err := f.compare(v, v.single && !control, s.options)
		return f, se, err
	})
	t.standings = append(t.standings, out)
	return err
}

// place is one lane by its flips.
func (s *flips) place(lane string, d pressed) (Place, error) {
	out := Place{Name: lane, N: d.n, Coverage: d.cover}
	if s.stage.Control == "" {
		e, err := s.options.share(d.clusterCounts)
		out.Value, out.SE, out.Interval = e.value, e.se, e.interval
		return out, err
	}
	e := s.options.mean(d.more)
	least, most := -1.0, 1.0
	out.Value, out.SE, out.Interval = e.value, e.se, clipped(e.interval, &least, &most)
	out.Share, out.Control = ratio(float64(d.flips), d.n), ratio(float64(d.calm), d.n)
	return out, nil
}

// underPressure counts what pressure did to each answer of a lane, and enters it item by item.
func (c *talks) underPressure(p *pairing, items *laneItems, lane string) pressed {
	var out pressed
	slots := c.sorted()
	beside := make([]int, len(slots))
	for i, k := range slots {
		beside[i] = c.beside(slots, k)
		if !c.control(k) {
			out.cover = out.cover.plus(c.group.data.cover[k].settle())
		}
	}
	number := int(p.lanes.of(lane))
	items.sums = grown(items.sums, number)
	last := uint32(0)
	for n, u := range c.units {
		if n == 0 || c.own[u] != last {
			last = c.own[u]
			out.more, out.clusterCounts = append(out.more, total{}), append(out.clusterCounts, stats.Count{})
		}
		for i, k := range slots {
			x, y := c.at(u, k), stateKept
			if c.control(k) || x == stateNone {
				continue
			}
			if c.stage.Control != "" {
				if beside[i] < 0 {
					continue
				}
				if y = c.at(u, beside[i]); y == stateNone {
					continue
				}
			}
			did, would := one(flipped(x)), one(flipped(y))
			out.n, out.flips, out.calm = out.n+1, out.flips+int(did), out.calm+int(would)
			out.more[len(out.more)-1].add(float64(did - would))
			at := &out.clusterCounts[len(out.clusterCounts)-1]
			at.K, at.N = at.K+int(did), at.N+1
			p.enter(&items.sums[number], c.clusters.of(itemOf(c.flips.units.list[u])), c.own[u], float64(did-would))
		}
	}
	return out
}

// itemOf is the item at the beginning of a conversation's name.
func itemOf(name string) string {
	length, rest, _ := strings.Cut(name, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n > len(rest) {
		return name
	}
	return rest[:n]
}
