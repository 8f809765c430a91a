package analysis

import (
	"cmp"
	"slices"

	"assay/stats"
)

// WhatDifference is the mean of the first lane minus that of the second over the items that both have.
const WhatDifference = "difference"

// ByAgainst is the second lane of a difference.
const ByAgainst = "against"

// maxPaired is how many lanes are all compared with each other; beyond, each is compared with the first alone.
const maxPaired = 10

// pairing gathers what each lane got on each item, so that lanes are compared on the same items.
type pairing struct {
	groups groups[*laneItems]
	lanes  names
	items  names
	own    []uint32 // the cluster of each item
	under  names    // clusters
}

// laneItems are the sums of each lane by item.
type laneItems struct {
	sums []map[uint32]total // by lane
}

func newPairing(by []string) *pairing {
	rest := slices.DeleteFunc(slices.Clone(by), func(f string) bool { return f == ByLane })
	return &pairing{groups: newGroups(rest, func() *laneItems { return &laneItems{} })}
}

func (p *pairing) add(r *Row, yes, rated bool) {
	var value float64
	switch {
	case rated:
		value = float64(one(yes))
	case r.Score != nil:
		value = *r.Score
	case r.Expect != "":
		value = float64(one(r.Label == r.Expect))
	default:
		return
	}
	lane, item := p.lanes.of(r.Lane), p.items.of(r.Item)
	if int(item) == len(p.own) {
		p.own = append(p.own, p.under.of(r.cluster()))
	}
	d := p.groups.of(r).data
	d.sums = grown(d.sums, int(lane))
	if d.sums[lane] == nil {
		d.sums[lane] = map[uint32]total{}
	}
	t := d.sums[lane][item]
	d.sums[lane][item] = total{t.n + 1, t.sum + value}
}

// table is the differences; nil where there are no two lanes.
func (p *pairing) table(s *rates) (*Table, error) {
	if len(p.lanes.list) < 2 {
		return nil, nil
	}
	t := &Table{Title: "differences between lanes", By: append([]string{ByLane, ByAgainst}, p.groups.fields...), Coverage: s.groups.totals()}
	lanes := p.lanes.sorted()
	for _, g := range p.groups.sorted() {
		for i, a := range lanes {
			for _, b := range lanes[i+1:] {
				if len(lanes) > maxPaired && i > 0 {
					continue
				}
				f, err := p.difference(g.data, a, b, s)
				if err != nil {
					return nil, err
				}
				f.By = append([]Value{{ByLane, p.lanes.list[a]}, {ByAgainst, p.lanes.list[b]}}, g.by(p.groups.fields)...)
				f.Coverage = s.coverageOf(g.by(p.groups.fields), p.lanes.list[a], p.lanes.list[b])
				t.Findings = append(t.Findings, f)
			}
		}
	}
	if len(lanes) > maxPaired {
		t.note("more than %d lanes: each against %s", maxPaired, p.lanes.list[lanes[0]])
	}
	return t, nil
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

// difference compares two lanes on the items that both have.
func (p *pairing) difference(d *laneItems, a, b uint32, s *rates) (Finding, error) {
	f := Finding{What: WhatDifference, Unit: Share, Rule: rule(s.stage), Bounds: stats.NoInterval("not told for differences")}
	if len(s.yes) == 0 {
		f.Unit = Score
	}
	shared := p.shared(d, a, b)
	first, second := make([]float64, len(shared)), make([]float64, len(shared))
	clusters, single := make([]int, len(shared)), true
	for k, item := range shared {
		x, y := d.sums[a][item], d.sums[b][item]
		first[k], second[k] = x.sum/float64(x.n), y.sum/float64(y.n)
		clusters[k] = int(p.own[item])
		single = single && x.n == 1 && y.n == 1 && binary(x.sum) && binary(y.sum)
		f.N += x.n + y.n
	}
	if len(shared) == 0 {
		f.Value = stats.Undefined("no item has verdicts on both")
		f.Interval, f.P = stats.NoInterval("%s", f.Value.Why), f.Value
		return f, nil
	}
	return f, f.pair(first, second, clusters, single, s.options)
}

func binary(x float64) bool { return x == 0 || x == 1 }

// shared are the items that two lanes have verdicts on, in the order of their clusters' names and then their own.
func (p *pairing) shared(d *laneItems, a, b uint32) []uint32 {
	var out []uint32
	if int(max(a, b)) >= len(d.sums) {
		return nil
	}
	for item := range d.sums[a] {
		if _, ok := d.sums[b][item]; ok {
			out = append(out, item)
		}
	}
	slices.SortFunc(out, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(p.under.list[p.own[x]], p.under.list[p.own[y]]), cmp.Compare(p.items.list[x], p.items.list[y]))
	})
	return out
}

// pair estimates the difference of paired values: exactly where both are yes or no and items are independent.
func (f *Finding) pair(first, second []float64, clusters []int, single bool, o Options) error {
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
		f.Value, f.Interval, f.P, f.Method = d.Difference, d.Interval, d.Test.Exact, "paired: Newcombe, exact McNemar"
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

// differences adds up first minus second by cluster, in the order in which clusters appear.
func differences(first, second []float64, clusters []int) []total {
	var out []total
	at := map[int]int{}
	for k := range first {
		g, ok := at[clusters[k]]
		if !ok {
			g = len(out)
			at[clusters[k]] = g
			out = append(out, total{})
		}
		out[g].n++
		out[g].sum += first[k] - second[k]
	}
	return out
}
