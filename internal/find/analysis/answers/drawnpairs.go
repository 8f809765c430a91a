package answers

import (
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats/checked"
)

// meetings are the ways in which lanes met, each on one item, and what judges say of every two of them. There may be as many as items.
type meetings struct {
	ways     gather.Names
	clusters []uint32
	blocks   []int // of the draw, of their items
	judges   []won
}

// won counts the wins of the first of two lanes, by name, by one judge, and how often they met: one way after the other.
type won struct {
	sums   []float32 // of halves: exact
	times  []uint16
	shares map[int]*checked.Sample // what follows from them, by part of the draw
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
func (d *drawnLabels) compared(judge uint32, r *analysis.Row, at place, value float64) {
	d.meetings.judges = gather.Grown(d.meetings.judges, int(judge))
	a, b := slices.Index(d.lanes, min(r.Lane, r.Other)), slices.Index(d.lanes, max(r.Lane, r.Other))
	if a < 0 || b < 0 || a == b {
		return
	}
	way, kept := d.meetings.ways.Within([]byte(d.met(r)), gather.MaxUnits)
	if !kept {
		return
	}
	d.meetings.clusters = gather.Grown(d.meetings.clusters, int(way))
	d.meetings.clusters[way] = d.clusters.Of(r.ClusterName())
	d.meetings.blocks = gather.Grown(d.meetings.blocks, int(way))
	d.meetings.blocks[way] = at.block
	if a > b { // lanes that a file declares are numbered as they come
		value = 1 - value
	}
	w := &d.meetings.judges[judge]
	k := int(way)*d.everyTwo() + pairOf(a, b)
	w.sums, w.times = gather.Grown(w.sums, k), gather.Grown(w.times, k)
	w.sums[k], w.times[k] = w.sums[k]+float32(value), w.times[k]+1
}

// everyTwo returns how many pairs of lanes there are.
func (d *drawnLabels) everyTwo() int { return pairOf(0, len(d.lanes)) }

// value returns the share that the first of two lanes has won in a way; false: they did not meet.
func (w *won) value(at int) (float64, bool) {
	if at >= len(w.times) || w.times[at] == 0 {
		return 0, false
	}
	return float64(w.sums[at]) / float64(w.times[at]), true
}

// shares returns the share of wins of each lane on all items, by a judge, with people's on some items.
func (d *drawnLabels) shares(judge uint32, items []string) *checked.Sample {
	w := &d.meetings.judges[judge]
	part, items := d.about(items)
	if w.shares == nil {
		w.shares = map[int]*checked.Sample{}
	}
	if w.shares[part] == nil {
		w.shares[part] = d.judgedShares(judge, part)
	}
	return w.shares[part].With(d.labelledShares(judge, items))
}

// judgedShares returns those of the judge, on items on which every two lanes met: only there do shares of wins compare.
func (d *drawnLabels) judgedShares(judge uint32, part int) *checked.Sample {
	s, ways := checked.NewSample(len(d.lanes)), &d.meetings.ways
	for _, way := range ways.Ordered(func(a, b uint32) int { return strings.Compare(ways.Text(a), ways.Text(b)) }) {
		shares, whole := make([]float64, len(d.lanes)), d.meetings.blocks[way] <= part
		for b := range d.lanes {
			for a := range b {
				first, met := d.meetings.judges[judge].value(int(way)*d.everyTwo() + pairOf(a, b))
				shares[a], shares[b], whole = shares[a]+first, shares[b]+1-first, whole && met
			}
		}
		for lane, x := range shares {
			if whole {
				s.Judged(int(d.meetings.clusters[way]), lane, x/float64(len(d.lanes)-1))
			}
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
