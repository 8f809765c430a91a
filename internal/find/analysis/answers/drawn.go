package answers

import (
	"maps"
	"math"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// drawnLabels are people's labels on answers that were drawn, and what judges say of all answers.
type drawnLabels struct {
	gather.Job
	draw     *analysis.Draw // nil: each label came with the probability of its answer
	all      bool           // that judges judged has a label
	lanes    []string
	yes      []string
	labels   map[string]*drawnLabel   // by unit
	said     map[string][]float64     // by unit, what each person said, whoever decides
	byItem   map[string][]*drawnLabel // of pairs that declare their probabilities, by item and kind
	frame    frame
	verdicts []judgedParts // by judge
	meetings meetings      // of pairs
	several  *several      // nil: one judges, or a jury
	clusters gather.Names
	found    map[uint32]*analysis.Checked // by judge, once it was computed
}

// drawnLabel is people's label of one answer, or of the first lane of a pair.
type drawnLabel struct {
	lane, other int  // of a pair, in the order of their names; else other is -1
	first       bool // the first answer of a conversation
	cluster     int
	weight      float64 // 1/probability, as it was declared
	sum, n      float64
	undecided   bool // a person cannot tell
	earlier     bool // given before the judge's prompt changed
	verdicts    map[uint32]average
	sure        map[uint32]sureness
	named       map[string]float64 // how many people gave each label
}

// sureness is how sure a judge is of one verdict.
type sureness struct {
	confidence, value float64
	label             string
}

// average is a sum of so many values.
type average struct{ sum, n float64 }

func (m average) value() float64 { return m.sum / m.n }

// newDrawnLabels returns none yet. Without a draw, labels declare their probabilities.
func newDrawnLabels(j gather.Job, yes []string, draw *analysis.Draw) *drawnLabels {
	d := &drawnLabels{Job: j, yes: yes, draw: draw, frame: newFrame(draw), labels: map[string]*drawnLabel{},
		byItem: map[string][]*drawnLabel{},
		said:   map[string][]float64{}, found: map[uint32]*analysis.Checked{}}
	if draw != nil {
		d.lanes = draw.Lanes
	}
	return d
}

// lane returns the number of a lane; of labels that declare their probabilities, new ones are added.
func (d *drawnLabels) lane(name string) int {
	lane := slices.Index(d.lanes, name)
	if lane < 0 && d.draw == nil {
		lane, d.lanes = len(d.lanes), append(d.lanes, name)
	}
	return lane
}

// learn enters a person's label.
func (d *drawnLabels) learn(unit string, r *analysis.Row) {
	lane, other := d.lane(r.Lane), -1
	if d.pairs() {
		if lane, other = d.lane(min(r.Lane, r.Other)), d.lane(max(r.Lane, r.Other)); other < 0 {
			return
		}
	}
	if lane < 0 {
		return
	}
	l := d.labels[unit]
	if l == nil {
		l = &drawnLabel{lane: lane, other: other, cluster: int(d.clusters.Of(r.ClusterName())), weight: 1,
			first: r.Turn <= 1 && r.Branch == "", verdicts: map[uint32]average{}, sure: map[uint32]sureness{},
			named: map[string]float64{}}
		item := r.Item
		if d.pairs() && d.draw == nil {
			item = d.met(r)
		}
		d.labels[unit], d.byItem[item] = l, append(d.byItem[item], l)
	}
	if r.Probability > 0 {
		l.weight, d.frame.among = 1/r.Probability, max(d.frame.among, r.Among)
	}
	if r.Adjudicated {
		l.sum, l.n, l.undecided = 0, 0, false
		clear(l.named)
	}
	l.earlier = l.earlier || r.Earlier
	value, ok := d.value(r)
	if !r.Valid() || !ok {
		l.undecided = true
		return
	}
	l.sum, l.n = l.sum+value, l.n+1
	l.named[r.Label]++
}

// value returns a verdict as a number; of a pair, what the lane whose name comes first has won.
func (d *drawnLabels) value(r *analysis.Row) (float64, bool) {
	if !d.pairs() {
		return gather.ValueOf(r, d.yes, false)
	}
	result, ok := gather.ResultOf(r.Label)
	if won := result.Score(); r.Lane <= r.Other {
		return won, ok
	}
	return 1 - result.Score(), ok
}

// judged enters a judge's verdict.
func (d *drawnLabels) judged(unit string, judge uint32, r *analysis.Row) {
	value, ok := d.value(r)
	lane := slices.Index(d.lanes, r.Lane)
	if lane < 0 || !ok {
		return
	}
	d.parts(judge)
	at := d.placeOf(r, lane)
	if d.pairs() {
		d.placeOf(r, slices.Index(d.lanes, r.Other))
		d.compared(judge, r, at, value)
	} else {
		d.enter(judge, at, int(d.clusters.Of(r.ClusterName())), lane, value)
	}
	if d.several != nil {
		d.averaged(unit, r, lane, at, value)
	}
	if l := d.labels[unit]; l != nil {
		if m, there := l.verdicts[judge]; !there || d.pairs() { // both orders of a pair count
			l.verdicts[judge] = average{m.sum + value, m.n + 1}
		}
		if d.several != nil {
			m := l.verdicts[d.several.judge]
			l.verdicts[d.several.judge] = average{m.sum + value, m.n + 1}
		}
		if _, there := l.sure[judge]; !there && r.Confidence != nil {
			l.sure[judge] = sureness{*r.Confidence, value, r.Label}
		}
	}
}

// complete returns the drawn items whose labels are all there, in the order of the draw, and those that were left out because a person
// could not tell. Where labels declare their probabilities, an item has all that it is given.
func (d *drawnLabels) complete(judge uint32) (items, left []string) {
	for _, item := range d.order() {
		labels := d.byItem[item]
		if len(labels) == 0 || slices.ContainsFunc(labels, func(l *drawnLabel) bool { return l.earlier }) ||
			d.draw != nil && len(labels) < checked.LabelsOfItem(len(d.lanes), d.pairs()) {
			continue
		}
		whole := !d.pairs() || len(labels) == pairOf(0, len(lanesOf(labels)))
		if labels = d.onJudged(judge, labels); len(labels) == 0 {
			continue
		}
		for _, l := range labels {
			_, judged := l.verdicts[judge]
			whole = whole && judged && l.n > 0
		}
		switch {
		case whole:
			items = append(items, item)
		case slices.ContainsFunc(labels, func(l *drawnLabel) bool { return l.undecided }):
			left = append(left, item)
		}
	}
	return items, left
}

// order returns the items in the order in which they are labelled.
func (d *drawnLabels) order() []string {
	if d.draw == nil {
		return slices.Sorted(maps.Keys(d.byItem))
	}
	return d.draw.Order()
}

// looks returns at how many labelled items numbers are corrected: labels that come with their probabilities are all there.
func (d *drawnLabels) looks(items int) []checked.Look {
	if d.draw == nil {
		return []checked.Look{{Items: items, Alpha: 1 - d.Options.Level}}
	}
	return d.draw.Looks(1-d.Options.Level, d.later())
}

// sample returns a judge's verdicts with the labels of some items.
func (d *drawnLabels) sample(judge uint32, items []string) *checked.Sample {
	if d.pairs() {
		return d.shares(judge, items)
	}
	return d.single(judge, items, 0)
}

// single returns those of single answers. Labels that a person could not give are taken to be of that value.
func (d *drawnLabels) single(judge uint32, items []string, otherwise float64) *checked.Sample {
	part, items := d.about(items)
	return d.verdicts[judge].all[part].With(d.labelsOf(judge, items, otherwise))
}

// labelsOf returns the labels of some items.
func (d *drawnLabels) labelsOf(judge uint32, items []string, otherwise float64) (all []checked.Label) {
	weight := d.weights(items)
	for i, item := range items {
		for _, l := range d.byItem[item] {
			value := otherwise
			if l.n > 0 {
				value = l.sum / l.n
			}
			if v, judged := l.verdicts[judge]; judged {
				all = append(all, checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: v.value(), Value: value,
					Weight: weight(item, l)})
			}
		}
	}
	return all
}

// bounds returns where the values of lanes lie whatever the labels would be that a person could not give: all as low as they can be, or
// all as high. Of pairs, and of scores without ends, it is not computed.
func (d *drawnLabels) bounds(judge uint32, items, left []string) (out []stats.Interval) {
	scale := d.scale()
	if d.pairs() || scale.High <= scale.Low {
		return nil
	}
	all := slices.Concat(items, left)
	low := d.single(judge, all, scale.Low).Correct(checked.Options{Scale: scale, Level: d.Options.Level})
	high := d.single(judge, all, scale.High).Correct(checked.Options{Scale: scale, Level: d.Options.Level})
	for lane := range d.lanes {
		a, b := low.Values[lane].Value, high.Values[lane].Value
		if !a.OK || !b.OK {
			out = append(out, stats.NoInterval("%s", a.Why))
			continue
		}
		out = append(out, stats.Between(min(a.Value, b.Value), max(a.Value, b.Value)))
	}
	return out
}

// scale returns that of the stage's verdicts.
func (d *drawnLabels) scale() checked.Scale {
	if d.pairs() {
		return d.scaleOfShares()
	}
	if d.yes != nil {
		return checked.YesNo()
	}
	s := checked.Scale{Step: 1}
	if d.Stage.Low != nil && d.Stage.High != nil {
		s.Low, s.High = *d.Stage.Low, *d.Stage.High
	}
	var scores []float64
	for _, l := range d.Stage.Labels {
		if l.Score != nil {
			scores = append(scores, *l.Score)
		}
	}
	slices.Sort(scores)
	for i := 1; i < len(scores); i++ {
		if gap := scores[i] - scores[i-1]; gap > 0 && (i == 1 || gap < s.Step) {
			s.Step = gap
		}
	}
	return s
}

// checked returns how far a judge was checked, and what its labels correct. It is computed at planned numbers of labelled items alone, so
// that looking after each label claims nothing that is not so.
func (d *drawnLabels) checked(judge uint32) *analysis.Checked {
	if d.several != nil && judge == d.several.judge {
		d.average()
	}
	if c := d.found[judge]; c != nil || int(judge) >= len(d.verdicts) {
		return c
	}
	items, left := d.complete(judge)
	out := &analysis.Checked{State: checked.Unchecked, Items: len(items), Fewest: checked.FewestChecked, LeftOut: len(left), Lanes: d.lanes,
		Declared: d.draw == nil && !d.all, Pairs: d.pairs(), Shares: d.yes != nil || d.pairs(), Earlier: d.earlier()}
	if d.all {
		out.Frame = len(d.byItem)
	} else if d.draw != nil {
		out.Frame = len(d.draw.Items)
	}
	if out.Frame > 0 {
		out.Fewest = min(out.Fewest, max(out.Frame, checked.FewestClusters))
	}
	labels := func(items []string) (sum int) {
		for _, item := range items {
			sum += len(d.onJudged(judge, d.byItem[item]))
		}
		return sum
	}
	out.Labels = labels(items)
	looks := d.looks(len(items))
	out.Next = d.next(looks, len(items), out.Fewest)
	s, errors := d.sample(judge, items), d.errors(judge, items)
	_, out.Clusters = s.Labelled()
	last, _ := d.about(items)
	used := items
	out.Given, out.Agrees, out.AgreesInterval = d.agreement(judge)
	for _, l := range looks {
		if l.Items > len(items) || l.Items < checked.FewestClusters || d.draw != nil && d.draw.Covered(items[:l.Items]) == 0 {
			continue
		}
		last, used = d.about(items[:l.Items])
		s, errors = d.sample(judge, used), d.errors(judge, used)
		out.Look(s.Correct(checked.Options{Scale: d.scale(), Level: 1 - l.Alpha}), l, 1-d.Options.Level)
		out.Labels = labels(used)
		if c := d.firsts(judge, used, l); c != nil {
			out.LookAtFirst(c, l, 1-d.Options.Level)
		}
	}
	if out.About, out.Later = d.without(last); out.Later > 0 && out.Next == 0 && d.draw.Grows(out.Later) {
		out.Next = looks[len(looks)-1].Items
	}
	if out.State = s.State(out.Corrected != nil, out.Fewest); out.State == checked.Unchecked && out.Given+out.Earlier > 0 {
		out.State = checked.BeingChecked
	}
	if out.Corrected != nil {
		out.Error, out.ErrorInterval = errors.ErrorRate(d.errorScale(), d.Options.Level)
		out.Bias, out.BiasInterval = errors.Bias(d.Options.Level)
		out.ErrsOn(s, errors, d.errorScale(), d.Options.Level)
		d.calibrate(out, judge, used)
		if out.Incomplete() {
			out.Bounds = d.bounds(judge, used, left)
		}
	}
	if judged := d.later(); out.Declared && d.frame.among > 0 && 10*judged >= 11*d.frame.among {
		out.Outgrown(d.frame.among, judged)
	} else if sum := d.sum(); out.Declared && math.Abs(sum-float64(judged)) >= 0.1*float64(judged) {
		out.Sum = int(math.Round(sum))
	}
	if out.Declared && out.Corrected != nil {
		if a := s.Apart(); a.P.OK && a.P.Value <= checked.Unlike {
			out.Refuse(a)
		}
	}
	out.OfFirst()
	d.found[judge] = out
	return out
}

// Sampled reports whether any labels were drawn, or declare that they were: these alone show how good a judge is.
func (v *Validity) Sampled() bool { return v.sampled() != nil }

// EachChecked returns how far each judge was checked by labels that were drawn.
func (v *Validity) EachChecked() map[string]*analysis.Checked {
	out := map[string]*analysis.Checked{}
	for judge := range uint32(v.judges.Len()) {
		name := v.judges.Text(judge)
		if d := v.sampled(); d != nil && name != analysis.MeanName {
			out[name] = d.checked(judge)
		}
	}
	return out
}

// Checked returns how far the judge whose numbers the stage has was checked by labels that were drawn; nil: by none.
func (v *Validity) Checked() *analysis.Checked {
	if !v.Sampled() {
		return nil
	}
	if v.Stage.Jury == analysis.JuryUnanimous {
		return v.refused()
	}
	judge := v.deciding()
	if judge < 0 {
		return nil
	}
	c := v.sampled().checked(uint32(judge))
	if c != nil && v.averaged() && c.Each == nil {
		c.Each = v.eachOf()
	}
	return c
}
