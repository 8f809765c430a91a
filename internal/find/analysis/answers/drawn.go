package answers

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// drawnLabels are people's labels on answers that were drawn, and what judges say of all answers.
type drawnLabels struct {
	gather.Job
	draw     *analysis.Draw // nil: each label came with the probability of its answer
	lanes    []string
	yes      []string
	labels   map[string]*drawnLabel   // by unit
	said     map[string][]float64     // by unit, what each person said, whoever decides
	byItem   map[string][]*drawnLabel // of pairs that declare their probabilities, by item and kind
	verdicts []*checked.Sample        // by judge, on all answers
	meetings meetings                 // of pairs
	clusters gather.Names
	found    map[uint32]*analysis.Checked // by judge, once it was computed
}

// drawnLabel is people's label of one answer, or of the first lane of a pair.
type drawnLabel struct {
	lane, other int // of a pair, in the order of their names; else other is -1
	cluster     int
	weight      float64 // 1/probability, as it was declared
	sum, n      float64
	undecided   bool // a person cannot tell
	verdicts    map[uint32]average
	sure        map[uint32]sureness
}

// sureness is how sure a judge is of one verdict.
type sureness struct{ confidence, value float64 }

// average is a sum of so many values.
type average struct{ sum, n float64 }

func (m average) value() float64 { return m.sum / m.n }

// newDrawnLabels returns none yet. Without a draw, labels declare their probabilities.
func newDrawnLabels(j gather.Job, yes []string, draw *analysis.Draw) *drawnLabels {
	d := &drawnLabels{Job: j, yes: yes, draw: draw, labels: map[string]*drawnLabel{}, byItem: map[string][]*drawnLabel{},
		said: map[string][]float64{}, found: map[uint32]*analysis.Checked{}}
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
			verdicts: map[uint32]average{}, sure: map[uint32]sureness{}}
		item := r.Item
		if d.pairs() && d.draw == nil {
			item = d.met(r)
		}
		d.labels[unit], d.byItem[item] = l, append(d.byItem[item], l)
	}
	if r.Probability > 0 {
		l.weight = 1 / r.Probability
	}
	if r.Adjudicated {
		l.sum, l.n, l.undecided = 0, 0, false
	}
	value, ok := d.value(r)
	if !r.Valid() || !ok {
		l.undecided = true
		return
	}
	l.sum, l.n = l.sum+value, l.n+1
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
	for int(judge) >= len(d.verdicts) {
		d.verdicts = append(d.verdicts, checked.NewSample(len(d.lanes)))
	}
	if d.pairs() {
		d.compared(judge, r, value)
	} else {
		d.verdicts[judge].Judged(int(d.clusters.Of(r.ClusterName())), lane, value)
	}
	if l := d.labels[unit]; l != nil {
		if m, there := l.verdicts[judge]; !there || d.pairs() { // both orders of a pair count
			l.verdicts[judge] = average{m.sum + value, m.n + 1}
		}
		if _, there := l.sure[judge]; !there && r.Confidence != nil {
			l.sure[judge] = sureness{*r.Confidence, value}
		}
	}
}

// complete returns the drawn items whose labels are all there, in the order of the draw, and how many were left out because a person could
// not tell. Where labels declare their probabilities, an item has all that it is given.
func (d *drawnLabels) complete(judge uint32) (items []string, left int) {
	for _, item := range d.order() {
		labels := d.byItem[item]
		if len(labels) == 0 || d.draw != nil && len(labels) < checked.LabelsOfItem(len(d.lanes), d.pairs()) {
			continue
		}
		whole := !d.pairs() || len(labels) == pairOf(0, len(lanesOf(labels)))
		for _, l := range labels {
			_, judged := l.verdicts[judge]
			whole = whole && judged && l.n > 0
		}
		switch {
		case whole:
			items = append(items, item)
		case slices.ContainsFunc(labels, func(l *drawnLabel) bool { return l.undecided }):
			left++
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
	return d.draw.Looks(1 - d.Options.Level)
}

// sample returns a judge's verdicts with the labels of some items.
func (d *drawnLabels) sample(judge uint32, items []string) *checked.Sample {
	if d.pairs() {
		return d.shares(judge, items)
	}
	weight := d.weights(items)
	var all []checked.Label
	for i, item := range items {
		for _, l := range d.byItem[item] {
			all = append(all, checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: l.verdicts[judge].value(),
				Value: l.sum / l.n, Weight: weight(item, l)})
		}
	}
	return d.verdicts[judge].With(all)
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
	if c := d.found[judge]; c != nil || int(judge) >= len(d.verdicts) {
		return c
	}
	items, left := d.complete(judge)
	out := &analysis.Checked{State: checked.Unchecked, Items: len(items), LeftOut: left, Lanes: d.lanes, Declared: d.draw == nil,
		Pairs: d.pairs()}
	labels := func(n int) (sum int) {
		for _, item := range items[:n] {
			sum += len(d.byItem[item])
		}
		return sum
	}
	out.Labels = labels(len(items))
	looks := d.looks(len(items))
	for _, l := range looks[:len(looks)-1] { // the last one is beyond the plan, or of all that was declared
		if out.Next == 0 && l.Items > len(items) {
			out.Next = max(l.Items, checked.FewestChecked)
		}
	}
	s, errors := d.sample(judge, items), d.errors(judge, items)
	last := items
	out.Agrees, out.AgreesInterval = errors.ErrorRate(d.errorScale(), d.Options.Level)
	for _, l := range looks {
		if l.Items > len(items) || l.Items < checked.FewestClusters || d.draw != nil && !d.draw.Covers(items[:l.Items]) {
			continue
		}
		s, errors = d.sample(judge, items[:l.Items]), d.errors(judge, items[:l.Items])
		c := s.Correct(checked.Options{Scale: d.scale(), Level: 1 - l.Alpha})
		out.Look(c, l, 1-d.Options.Level)
		last = items[:l.Items]
		out.Labels = labels(l.Items)
	}
	out.State = s.State(out.Corrected != nil)
	if out.Corrected != nil {
		out.Error, out.ErrorInterval = errors.ErrorRate(d.errorScale(), d.Options.Level)
		out.Bias, out.BiasInterval = errors.Bias(d.Options.Level)
		out.ErrsOn(s, errors, d.errorScale(), d.Options.Level)
		d.calibrate(out, judge, last)
	}
	if out.Shares = d.yes != nil || d.pairs(); out.Agrees.OK && out.Shares {
		out.Agrees = stats.Known(1 - out.Agrees.Value)
		if i := out.AgreesInterval; i.OK {
			out.AgreesInterval = stats.Between(1-i.High, 1-i.Low)
		}
	}
	d.found[judge] = out
	return out
}

// calibrate holds how sure a judge is against how often it is right: its confidence, minus the share of people who say the same.
func (d *drawnLabels) calibrate(c *analysis.Checked, judge uint32, items []string) {
	var all []checked.Label
	weight := d.weights(items)
	for i, item := range items {
		for _, l := range d.byItem[item] {
			if s, told := l.sure[judge]; told && (d.yes != nil || d.pairs()) {
				all = append(all, checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: s.confidence,
					Value: 1 - math.Abs(s.value-l.sum/l.n), Weight: weight(item, l)})
			}
		}
	}
	c.Sure = len(all)
	c.Over, c.OverInterval = checked.NewSample(len(d.lanes)).With(all).Bias(d.Options.Level)
}

// findings adds what people's labels correct: the value of each lane.
func (d *drawnLabels) findings(t *analysis.Table, judge uint32, by analysis.Value,
	finding func(what string, n int, by ...analysis.Value) *analysis.Finding) {
	c := d.checked(judge)
	if c == nil {
		return
	}
	t.Note("%s: %s", by.Value, c.Words())
	d.agree(t)
	if c.Corrected == nil {
		return
	}
	if r2 := c.Corrected.R2; r2.OK && r2.Value > 0 && c.Corrected.Use == checked.JudgeHelps {
		worth := checked.WorthOf(c.Corrected.Labelled, c.Corrected.Clusters, r2.Value)
		price := ""
		if each, ok := d.price(c, by.Value); ok {
			price = fmt.Sprintf(" (%s)", assay.Dollars(worth.Verdicts*each))
		}
		t.Note("one label is worth %.0f more verdicts%s; with the judge %s are as good as %.0f", worth.Verdicts, price,
			analysis.Plural(c.Corrected.Labelled, "labelled cluster"), worth.Labels)
	}
	d.byLane(t, c, by, finding)
	what := analysis.WhatTrueRate
	if d.pairs() {
		what = analysis.WhatTrueWins
	}
	for i, v := range c.Corrected.Values {
		f := finding(what, v.Answers, by, analysis.Value{Field: analysis.ByLane, Value: c.Lanes[i]})
		f.Unit = c.Unit()
		f.Clusters, f.Value, f.SE, f.Interval = v.Clusters, v.Value, v.SE, v.Interval
		f.Method = "labels of people, and what the judge knows beyond them (PPI++), by cluster"
		f.Note("%s; the judge alone: %s", c.Used(c.LabelsOf(i)), f.Unit.Show(v.Judge.Value))
		t.Findings = append(t.Findings, *f)
	}
}

// price returns what one more judged answer costs; false where a price is not known.
func (d *drawnLabels) price(c *analysis.Checked, judge string) (float64, bool) {
	if d.Stage.Spent == nil || d.pairs() {
		return 0, false
	}
	sum, known := d.Stage.Spent.Verdicts[judge]
	answers := 0
	for i, lane := range c.Lanes {
		own, ok := d.Stage.Spent.Answers[lane]
		sum, known, answers = sum+own, known && ok, answers+c.Corrected.Values[i].Answers
	}
	return sum / float64(max(1, answers)), known && answers > 0
}

// byLane adds how the judge errs on each lane, and whether that is alike on all of them.
func (d *drawnLabels) byLane(t *analysis.Table, c *analysis.Checked, by analysis.Value,
	finding func(what string, n int, by ...analysis.Value) *analysis.Finding) {
	for _, e := range c.OnLanes {
		lane := analysis.Value{Field: analysis.ByLane, Value: c.Lanes[e.Lane]}
		wrong, bias := finding(analysis.WhatWrong, e.Labels, by, lane), finding(analysis.WhatBias, e.Labels, by, lane)
		wrong.Value, wrong.Interval, wrong.Method = e.Error, e.ErrorInterval, "drawn labels, Wilson, by cluster"
		if !c.Shares {
			wrong.Method = "drawn labels, mean distance, Student, by cluster"
		}
		bias.Value, bias.Interval, bias.Method = e.Bias, e.BiasInterval, "judge minus drawn labels, Student, by cluster"
		for _, f := range []*analysis.Finding{wrong, bias} {
			f.Unit, f.Clusters = c.Unit(), e.Clusters
			t.Findings = append(t.Findings, *f)
		}
	}
	switch {
	case !c.Alike.OK:
		t.Note("%s: whether it errs alike on all lanes is not tested: %s", by.Value, c.Alike.Why)
	case c.Alike.Value <= checked.Significant:
		t.Note("%s does not err alike on all lanes (p = %.2g): letters and ranks come from corrected numbers alone", by.Value,
			c.Alike.Value)
	default:
		t.Note("%s is not shown to err differently on any lane (p = %.2g)", by.Value, c.Alike.Value)
	}
}

// Sampled reports whether any labels were drawn, or declare that they were: these alone show how good a judge is.
func (v *Validity) Sampled() bool { return v.sampled() != nil }

// EachChecked returns how far each judge was checked by labels that were drawn.
func (v *Validity) EachChecked() map[string]*analysis.Checked {
	out := map[string]*analysis.Checked{}
	for judge, name := range v.judges.List {
		if d := v.sampled(); d != nil {
			out[name] = d.checked(uint32(judge))
		}
	}
	return out
}

// Checked returns how far the judge whose numbers the stage has was checked by labels that were drawn: the jury, else the only one. Where
// all of a jury have to agree, what it decides is no sample of the answers.
func (v *Validity) Checked() *analysis.Checked {
	judge := 0
	if v.Stage.Jury != "" {
		judge = slices.Index(v.judges.List, analysis.JuryName)
	}
	if d := v.sampled(); d != nil && judge >= 0 && (v.Stage.Jury != "" || len(v.judges.List) == 1) &&
		v.Stage.Jury != analysis.JuryUnanimous {
		return d.checked(uint32(judge))
	}
	return nil
}
