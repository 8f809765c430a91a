package answers

import (
	"maps"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
)

// meeting is what a judge says of the pairs of lanes that met on one item in one way.
type meeting struct {
	cluster int
	pairs   []average // of every two lanes, what the first of them by name has won
}

// pairs reports whether lanes are compared: a lane's value on an item is then the share of its comparisons there that it won.
func (d *drawnLabels) pairs() bool { return d.Stage.Verb == analysis.Compared }

// met returns what distinguishes one way in which lanes met on an item.
func (d *drawnLabels) met(r *analysis.Row) string {
	return string(analysis.AppendText(r.AppendUnit(nil), r.Trait))
}

// pairOf returns the number of a pair of lanes, whichever way round.
func pairOf(a, b int) int { return max(a, b)*(max(a, b)-1)/2 + min(a, b) }

// compared enters a judge's verdict on a pair.
func (d *drawnLabels) compared(judge uint32, r *analysis.Row, won float64) {
	a, b := slices.Index(d.lanes, min(r.Lane, r.Other)), slices.Index(d.lanes, max(r.Lane, r.Other))
	if a < 0 || b < 0 || a == b {
		return
	}
	for int(judge) >= len(d.meetings) {
		d.meetings = append(d.meetings, map[string]*meeting{})
	}
	at := d.met(r)
	m := d.meetings[judge][at]
	if m == nil {
		m = &meeting{int(d.clusters.Of(r.ClusterName())), make([]average, len(d.lanes)*(len(d.lanes)-1)/2)}
		d.meetings[judge][at] = m
	}
	if a > b { // lanes that a file declares are numbered as they come
		won = 1 - won
	}
	p := &m.pairs[pairOf(a, b)]
	p.sum, p.n = p.sum+won, p.n+1
}

// whole reports whether every two lanes met: only then do shares of wins compare.
func (m *meeting) whole() bool {
	return !slices.ContainsFunc(m.pairs, func(p average) bool { return p.n == 0 })
}

// shares returns the share of wins of each lane on all items, by a judge, with people's on some items.
func (d *drawnLabels) shares(judge uint32, items []string) *checked.Sample {
	return d.judgedShares(judge).With(d.labelledShares(judge, items))
}

// judgedShares returns those of the judge.
func (d *drawnLabels) judgedShares(judge uint32) *checked.Sample {
	s := checked.NewSample(len(d.lanes))
	for _, at := range slices.Sorted(maps.Keys(d.meetings[judge])) {
		m := d.meetings[judge][at]
		if !m.whole() {
			continue
		}
		won := make([]float64, len(d.lanes))
		for b := range d.lanes {
			for a := range b {
				won[a] += m.pairs[pairOf(a, b)].value()
				won[b] += 1 - m.pairs[pairOf(a, b)].value()
			}
		}
		for lane, w := range won {
			s.Judged(m.cluster, lane, w/float64(len(d.lanes)-1))
		}
	}
	return s
}

// labelledShares returns those of people.
func (d *drawnLabels) labelledShares(judge uint32, items []string) (all []checked.Label) {
	weight := d.weights(items)
	for i, item := range items {
		own := d.byItem[item]
		of := make([]checked.Label, len(d.lanes))
		for _, l := range own {
			said, judged := l.sum/l.n, l.verdicts[judge].value()
			of[l.lane].Value, of[l.lane].Verdict = of[l.lane].Value+said, of[l.lane].Verdict+judged
			of[l.other].Value, of[l.other].Verdict = of[l.other].Value+1-said, of[l.other].Verdict+1-judged
		}
		lanes := lanesOf(own)
		for _, lane := range lanes {
			n := float64(len(lanes) - 1)
			all = append(all, checked.Label{Item: i, Cluster: own[0].cluster, Lane: lane, Verdict: of[lane].Verdict / n,
				Value: of[lane].Value / n, Weight: weight(item, own[0])})
		}
	}
	return all
}

// lanesOf returns the lanes that labels are on.
func lanesOf(labels []*drawnLabel) (out []int) {
	for _, l := range labels {
		for _, lane := range []int{l.lane, l.other} {
			if lane >= 0 && !slices.Contains(out, lane) {
				out = append(out, lane)
			}
		}
	}
	slices.Sort(out)
	return out
}

// scaleOfShares returns the scale of shares of wins: as fine as the comparisons of a lane on one labelled item.
func (d *drawnLabels) scaleOfShares() checked.Scale {
	most := 2
	for _, labels := range d.byItem {
		most = max(most, len(lanesOf(labels)))
	}
	return checked.Scale{High: 1, Step: 1 / float64(most-1)}
}

// errors returns a judge's verdicts and people's labels as they were given: of pairs, on each of them, for both of its lanes.
func (d *drawnLabels) errors(judge uint32, items []string) *checked.Sample {
	if !d.pairs() {
		return d.sample(judge, items)
	}
	weight := d.weights(items)
	var all []checked.Label
	for i, item := range items {
		for _, l := range d.byItem[item] {
			of := checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: l.verdicts[judge].value(), Value: l.sum / l.n,
				Weight: weight(item, l)}
			turned := of
			turned.Lane, turned.Verdict, turned.Value = l.other, 1-of.Verdict, 1-of.Value
			all = append(all, of, turned)
		}
	}
	return checked.NewSample(len(d.lanes)).With(all)
}

// errorScale returns that of a judge's errors: of pairs, right or wrong.
func (d *drawnLabels) errorScale() checked.Scale {
	if d.pairs() {
		return checked.YesNo()
	}
	return d.scale()
}

// weights returns 1/probability of each label on some items.
func (d *drawnLabels) weights(items []string) func(item string, l *drawnLabel) float64 {
	if d.draw == nil {
		return func(_ string, l *drawnLabel) float64 { return l.weight }
	}
	of := d.draw.Weights(items)
	return func(item string, _ *drawnLabel) float64 { return of[item] }
}
