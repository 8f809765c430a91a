package gather

import (
	"cmp"
	"iter"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// Pairing gathers what each lane got on each item, so that lanes are compared on the same items.
type Pairing struct {
	Job
	Groups Groups[*LaneItems]
	Lanes  Names
	own    []uint32 // the cluster of each item, plus 1; 0 for what is no item
	Rated  bool     // a value is a label that counts, or not
	Scored bool     // a value is a score
}

// LaneItems are the sums of each lane by item.
type LaneItems struct {
	Sums []ItemSums // by lane
	done map[[2]uint32]Difference
}

// ItemSums are sums of values by item.
type ItemSums struct {
	Items Places
	n     Counts
	sum   Sums
}

// Add enters a value on an item.
func (s *ItemSums) Add(item uint32, value float64) {
	k := s.Items.Of(item)
	s.n.Add(k)
	s.sum.Add(k, value)
}

// At returns the sum of an item that has one.
func (s *ItemSums) At(item uint32) stats.Total {
	k, _ := s.Items.At(item)
	return s.Total(k)
}

// Total returns the sum at a place.
func (s *ItemSums) Total(k int) stats.Total { return stats.Total{N: s.n.At(k), Sum: s.sum.At(k)} }

// Mean returns the mean at a place.
func (s *ItemSums) Mean(k int) float64 { return s.sum.At(k) / float64(s.n.At(k)) }

// NewPairing returns an empty pairing in groups by the fields, the lane left out.
func NewPairing(j Job, by []string) *Pairing {
	rest := slices.DeleteFunc(slices.Clone(by), func(f string) bool { return f == analysis.ByLane })
	return &Pairing{Job: j, Groups: NewGroups(rest, func() *LaneItems { return &LaneItems{} })}
}

// Add enters a verdict: yes or no where it is rated, else its score, else whether it is the expected one.
func (p *Pairing) Add(r *analysis.Row, yes, rated bool) {
	var value float64
	switch {
	case rated:
		value, p.Rated = float64(One(yes)), true
	case r.Score != nil:
		value, p.Scored = *r.Score, true
	case r.Expect != "":
		value, p.Rated = float64(One(r.Label == r.Expect)), true
	default:
		return
	}
	d, lane := p.Groups.Of(r).Data, int(p.Lanes.Of(r.Lane))
	d.Sums = Grown(d.Sums, lane)
	p.Enter(&d.Sums[lane], p.Known.Of(r.Item), p.Known.Of(r.ClusterName()), value)
}

// Enter adds a value of a lane on an item.
func (p *Pairing) Enter(lane *ItemSums, item, cluster uint32, value float64) {
	p.own = Grown(p.own, int(item))
	if p.own[item] == 0 {
		p.own[item] = cluster + 1
	}
	lane.Add(item, value)
}

// Difference compares two lanes on the items that both have. What was computed once is kept: tables and leaderboards want
// the same.
func (p *Pairing) Difference(d *LaneItems, a, b uint32) (Difference, error) {
	at := [2]uint32{a, b}
	if old, ok := d.done[at]; ok {
		return old, nil
	}
	f := analysis.Finding{What: analysis.WhatDifference, Unit: analysis.Share, Rule: p.Stage.CountingRule(),
		Bounds: stats.NoInterval("not computed for differences")}
	if p.Scored {
		f.Unit = analysis.Score
	}
	v := p.Values(d, a, b)
	out, err := Compare(f, v, v.Single, p.Options.Level)
	if d.done == nil {
		d.done = map[[2]uint32]Difference{}
	}
	d.done[at] = out
	return out, err
}

// Difference is a finding about two lanes on the same items.
type Difference struct {
	analysis.Finding
	exact  bool         // an exact test decides
	spread stats.Number // standard error from differences by cluster, whatever decides
	units  int          // as many clusters as Student's t has
	items  int          // that both have
	won    [2]int       // of an exact test: items on which the first, or the second, alone is right
}

// Compare estimates the difference of what two lanes got; exact: by the exact test where items are independent.
func Compare(f analysis.Finding, v Paired, exact bool, level float64) (Difference, error) {
	if len(v.first) == 0 {
		f.Value = stats.Undefined("no item has verdicts on both")
		f.Interval, f.P = stats.NoInterval("%s", f.Value.Why), f.Value
		return Difference{Finding: f, spread: f.Value}, nil
	}
	f.N = len(v.first)
	exact, err := Pair(&f, v.first, v.second, v.clusters, exact, level)
	mean := stats.MeanOver(differences(v.first, v.second, v.clusters), level)
	out := Difference{Finding: f, exact: exact, spread: mean.SE, units: mean.Units, items: len(v.first)}
	for k := range v.first {
		if exact && v.first[k] > v.second[k] {
			out.won[0]++
		} else if exact && v.first[k] < v.second[k] {
			out.won[1]++
		}
	}
	return out, err
}

// Paired holds the results of two lanes on the items that both have, with their clusters.
type Paired struct {
	first, second []float64
	clusters      []uint32
	Single        bool // each is one yes or no
}

// Values returns what two lanes got on the items that both have.
func (p *Pairing) Values(d *LaneItems, a, b uint32) Paired {
	shared := p.shared(d, a, b)
	v := Paired{first: make([]float64, len(shared)), second: make([]float64, len(shared)), clusters: make([]uint32, len(shared)),
		Single: true}
	for k, item := range shared {
		x, y := d.Sums[a].At(item), d.Sums[b].At(item)
		v.first[k], v.second[k] = x.Sum/float64(x.N), y.Sum/float64(y.N)
		v.clusters[k] = p.own[item]
		v.Single = v.Single && x.N == 1 && y.N == 1 && binary(x.Sum) && binary(y.Sum)
	}
	return v
}

func binary(x float64) bool { return x == 0 || x == 1 }

// shared returns the items that two lanes have verdicts on, in the order of their clusters' names and then their own.
func (p *Pairing) shared(d *LaneItems, a, b uint32) []uint32 {
	if int(max(a, b)) >= len(d.Sums) {
		return nil
	}
	out := make([]uint32, 0, min(d.Sums[a].Items.Len(), d.Sums[b].Items.Len()))
	for k := range d.Sums[a].Items.Len() {
		item := d.Sums[a].Items.ID(k)
		if _, ok := d.Sums[b].Items.At(item); ok {
			out = append(out, item)
		}
	}
	rank := p.Known.ByText()
	slices.SortFunc(out, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(rank[p.own[x]-1], rank[p.own[y]-1]), cmp.Compare(rank[x], rank[y]))
	})
	return out
}

// WithTest ends the method of a difference that has an exact test beside its interval.
const WithTest = ", exact McNemar"

// Pair estimates the difference of paired values: exactly where both are yes or no and items are independent, which it
// reports.
func Pair(f *analysis.Finding, first, second []float64, clusters []uint32, single bool, level float64) (exact bool, err error) {
	mean := stats.MeanOver(differences(first, second, clusters), level)
	f.Clusters = mean.Clusters
	if single && mean.Clusters == len(first) {
		yes, no := make([]bool, len(first)), make([]bool, len(first))
		for k := range first {
			yes[k], no[k] = first[k] == 1, second[k] == 1
		}
		table, err := stats.NewPairTable(yes, no)
		if err != nil {
			return false, err
		}
		d := table.Difference(level)
		f.Value, f.Interval, f.P, f.Method = d.Difference, d.Interval, d.Test.Exact, "paired: Newcombe"+WithTest
		f.SE = meanOf(mean).SE
		if f.Interval.OK && f.P.OK && f.Interval.LeavesOut(0) != (f.P.Value < 1-level) {
			f.Note("interval (Newcombe) and test (exact McNemar) are different methods and disagree here: the test decides")
		}
		return true, nil
	}
	n, e := f.N, meanOf(mean)
	if least, most := -1.0, 1.0; f.Unit == analysis.Share {
		e.Interval = e.Interval.Clipped(&least, &most)
	}
	e.Put(f)
	f.N, f.Method, f.P = n, "paired: "+e.method, e.P
	return false, nil
}

// differences adds up first minus second by cluster; those of one cluster are adjacent.
func differences(first, second []float64, clusters []uint32) iter.Seq[stats.Total] {
	return func(yield func(stats.Total) bool) {
		var one stats.Total
		for k := range first {
			if k > 0 && clusters[k] != clusters[k-1] {
				if !yield(one) {
					return
				}
				one = stats.Total{}
			}
			one.Add(first[k] - second[k])
		}
		if one.N > 0 {
			yield(one)
		}
	}
}

// Contrasts holds every two places of a leaderboard against each other: those without a verdict, too, so that the number of
// tests that are corrected together is the planned one.
func (p *Pairing) Contrasts(out *analysis.Leaderboard, between func(a, b uint32) (Difference, error)) error {
	if len(out.Places) > analysis.MaxCompared {
		return nil
	}
	for i := range out.Places {
		for k := range i {
			a, known := p.Lanes.Find(out.Places[k].Name)
			b, too := p.Lanes.Find(out.Places[i].Name)
			if !known || !too {
				none := stats.Undefined("no item has verdicts on both")
				out.Tests = append(out.Tests, analysis.Contrast{First: k, Second: i, Difference: none, SE: none, P: none,
					Interval: stats.NoInterval("%s", none.Why), Information: none})
				continue
			}
			f, err := between(a, b)
			if err != nil {
				return err
			}
			out.Tests = append(out.Tests, analysis.Contrast{First: k, Second: i, Difference: f.Value, SE: f.spread, Interval: f.Interval,
				P: f.P, Clusters: f.Clusters, Units: f.units, Items: f.items, Ahead: f.won[0], Behind: f.won[1],
				Information: PerItem(f.spread, f.Clusters)})
			if f.Method != "" {
				out.Method, out.Test = f.Method, analysis.ByErrors
			}
			if f.exact {
				out.Test = analysis.ExactPairs
			}
		}
	}
	return nil
}

// PerItem returns the information of one more item about a difference: that of an average item so far.
func PerItem(se stats.Number, items int) stats.Number {
	if !se.OK || !(se.Value > 0) || items < 1 {
		return stats.Undefined("the difference has no error")
	}
	return stats.Known(1 / (se.Value * se.Value * float64(items)))
}
