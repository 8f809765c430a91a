package analysis

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/find/stats"
)

// WhatDifference is the mean of the first lane minus that of the second over the items that both have.
const WhatDifference = "difference"

// ByAgainst is the second lane of a difference.
const ByAgainst = "against"

// exactly is the method of differences of single answers that say yes or no.
const exactly = "paired: Newcombe, exact McNemar"

// maxPaired is how many lanes are all compared with each other; beyond, the one that did best is compared with each.
const maxPaired = 10

// pairing gathers what each lane got on each item, so that lanes are compared on the same items.
type pairing struct {
	groups groups[*laneItems]
	lanes  names
	known  *names   // items and clusters
	own    []uint32 // the cluster of each item, plus 1; 0 for what is no item
	rated  bool     // a value is a label that counts, or not
	scored bool     // a value is a score
}

// laneItems are the sums of each lane by item.
type laneItems struct {
	sums []itemSums // by lane
	done map[[2]uint32]difference
}

type itemSums struct {
	items places
	n     counts
	sum   []float64
}

func (s *itemSums) add(item uint32, value float64) {
	k := s.items.of(item)
	s.n.add(k)
	s.sum = grown(s.sum, k)
	s.sum[k] += value
}

// at is the sum of an item that has one.
func (s *itemSums) at(item uint32) total {
	k, _ := s.items.at(item)
	return total{s.n.at(k), s.sum[k]}
}

func newPairing(by []string, known *names) *pairing {
	rest := slices.DeleteFunc(slices.Clone(by), func(f string) bool { return f == ByLane })
	return &pairing{groups: newGroups(rest, func() *laneItems { return &laneItems{} }), known: known}
}

func (p *pairing) add(r *Row, yes, rated bool) {
	var value float64
	switch {
	case rated:
		value, p.rated = float64(one(yes)), true
	case r.Score != nil:
		value, p.scored = *r.Score, true
	case r.Expect != "":
		value, p.rated = float64(one(r.Label == r.Expect)), true
	default:
		return
	}
	d, lane := p.groups.of(r).data, int(p.lanes.of(r.Lane))
	d.sums = grown(d.sums, lane)
	p.enter(&d.sums[lane], p.known.of(r.Item), p.known.of(r.cluster()), value)
}

// enter adds a value of a lane on an item.
func (p *pairing) enter(lane *itemSums, item, cluster uint32, value float64) {
	p.own = grown(p.own, int(item))
	if p.own[item] == 0 {
		p.own[item] = cluster + 1
	}
	lane.add(item, value)
}

// table is the differences; nil where there are no two lanes.
func (p *pairing) table(s *rates) (*Table, error) {
	if len(p.lanes.list) < 2 {
		return nil, nil
	}
	t := &Table{Title: "differences between lanes", By: append([]string{ByLane, ByAgainst}, p.groups.fields...), Coverage: s.groups.totals()}
	lanes := p.lanes.sorted()
	for _, g := range p.groups.sorted() {
		two := everyTwo(lanes)
		if len(lanes) > maxPaired {
			two = g.data.bestAndEach(lanes)
			t.note("more than %d lanes: the best one, %s, against each; it was chosen by these numbers", maxPaired, p.lanes.list[two[0][0]])
		}
		for _, ab := range two {
			a, b := ab[0], ab[1]
			f, _, err := p.difference(g.data, a, b, s)
			if err != nil {
				return nil, err
			}
			f.By = append([]Value{{ByLane, p.lanes.list[a]}, {ByAgainst, p.lanes.list[b]}}, g.by(p.groups.fields)...)
			f.Coverage = s.coverageOf(g.by(p.groups.fields), p.lanes.list[a], p.lanes.list[b])
			t.Findings = append(t.Findings, f)
		}
	}
	return t, nil
}

// everyTwo are all pairs of lanes.
func everyTwo(lanes []uint32) [][2]uint32 {
	var out [][2]uint32
	for i, a := range lanes {
		for _, b := range lanes[i+1:] {
			out = append(out, [2]uint32{a, b})
		}
	}
	return out
}

// bestAndEach pairs the lane with the highest mean with each other one.
func (d *laneItems) bestAndEach(lanes []uint32) [][2]uint32 {
	best, most := lanes[0], math.Inf(-1)
	for _, l := range lanes {
		if int(l) >= len(d.sums) || len(d.sums[l].sum) == 0 {
			continue
		}
		n, sum := 0, 0.0
		for k, x := range d.sums[l].sum {
			n, sum = n+d.sums[l].n.at(k), sum+x
		}
		if mean := sum / float64(n); mean > most {
			best, most = l, mean
		}
	}
	var out [][2]uint32
	for _, l := range lanes {
		if l != best {
			out = append(out, [2]uint32{best, l})
		}
	}
	return out
}

// coverageOf adds up the coverage of two lanes.
func (s *rates) coverageOf(rest []Value, lanes ...string) Coverage {
	var c Coverage
	for _, g := range s.groups.index {
		same := true
		for _, v := range g.by(s.spec.By) {
			same = same && (v.Field == ByLane && slices.Contains(lanes, v.Value) || v.Field != ByLane && slices.Contains(rest, v))
		}
		if same {
			c = c.plus(g.cover.settle())
		}
	}
	return c
}

// difference compares two lanes on the items that both have, with the error of the difference. What was computed once is kept: tables and
// standings want the same.
func (p *pairing) difference(d *laneItems, a, b uint32, s *rates) (Finding, stats.Number, error) {
	at := [2]uint32{a, b}
	if old, ok := d.done[at]; ok {
		return old.Finding, old.se, nil
	}
	f := Finding{What: WhatDifference, Unit: Share, Rule: rule(s.stage), Bounds: stats.NoInterval("not computed for differences")}
	if p.scored {
		f.Unit = Score
	}
	v := p.values(d, a, b)
	f.N = v.n
	se, err := f.compare(v, v.single, s.options)
	if d.done == nil {
		d.done = map[[2]uint32]difference{}
	}
	d.done[at] = difference{f, se}
	return f, se, err
}

// difference is one that was computed.
type difference struct {
	Finding
	se stats.Number
}

// compare estimates the difference of what two lanes got, and returns its error; exact: by the exact test.
func (f *Finding) compare(v paired, exact bool, o Options) (stats.Number, error) {
	if len(v.first) == 0 {
		f.Value = stats.Undefined("no item has verdicts on both")
		f.Interval, f.P = stats.NoInterval("%s", f.Value.Why), f.Value
		return f.Value, nil
	}
	err := f.pair(v.first, v.second, v.clusters, exact, o)
	return meanOf(differences(v.first, v.second, v.clusters), o.Level).SE, err
}

// paired is what two lanes got on the items that both have, with their clusters.
type paired struct {
	first, second []float64
	clusters      []uint32
	single        bool // each is one yes or no
	n             int  // verdicts
}

func (p *pairing) values(d *laneItems, a, b uint32) paired {
	shared := p.shared(d, a, b)
	v := paired{first: make([]float64, len(shared)), second: make([]float64, len(shared)), clusters: make([]uint32, len(shared)), single: true}
	for k, item := range shared {
		x, y := d.sums[a].at(item), d.sums[b].at(item)
		v.first[k], v.second[k] = x.sum/float64(x.n), y.sum/float64(y.n)
		v.clusters[k] = p.own[item]
		v.single = v.single && x.n == 1 && y.n == 1 && binary(x.sum) && binary(y.sum)
		v.n += x.n + y.n
	}
	return v
}

func binary(x float64) bool { return x == 0 || x == 1 }

// shared are the items that two lanes have verdicts on, in the order of their clusters' names and then their own.
func (p *pairing) shared(d *laneItems, a, b uint32) []uint32 {
	var out []uint32
	if int(max(a, b)) >= len(d.sums) {
		return nil
	}
	for _, item := range d.sums[a].items.ids {
		if _, ok := d.sums[b].items.at(item); ok {
			out = append(out, item)
		}
	}
	rank := p.known.byText()
	slices.SortFunc(out, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(rank[p.own[x]-1], rank[p.own[y]-1]), cmp.Compare(rank[x], rank[y]))
	})
	return out
}

// pair estimates the difference of paired values: exactly where both are yes or no and items are independent.
func (f *Finding) pair(first, second []float64, clusters []uint32, single bool, o Options) error {
	totals := differences(first, second, clusters)
	f.Clusters = len(totals)
	if single && len(totals) == len(first) {
		yes, no := make([]bool, len(first)), make([]bool, len(first))
		for k := range first {
			yes[k], no[k] = first[k] == 1, second[k] == 1
		}
		table, err := stats.NewPairTable(yes, no)
		if err != nil {
			return err
		}
		d := table.Difference(o.Level)
		f.Value, f.Interval, f.P, f.Method = d.Difference, d.Interval, d.Test.Exact, exactly
		f.SE = o.mean(totals).se
		if f.Interval.OK && f.P.OK && leavesOut(f.Interval, 0) != (f.P.Value < 1-o.Level) {
			f.note("interval (Newcombe) and test (exact McNemar) are different methods and disagree here: the test decides")
		}
		return nil
	}
	n, e := f.N, o.mean(totals)
	if least, most := -1.0, 1.0; f.Unit == Share {
		e.interval = clipped(e.interval, &least, &most)
	}
	e.put(f)
	f.N, f.Method, f.P = n, "paired: "+e.method, e.p
	return nil
}

// differences adds up first minus second by cluster; those of one cluster stand together.
func differences(first, second []float64, clusters []uint32) []total {
	var out []total
	for k := range first {
		if k == 0 || clusters[k] != clusters[k-1] {
			out = append(out, total{})
		}
		g := &out[len(out)-1]
		g.n++
		g.sum += first[k] - second[k]
	}
	return out
}
