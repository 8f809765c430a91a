package answers

import (
	"maps"
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
	lanes    []string
	yes      []string
	labels   map[string]*drawnLabel // by unit
	byItem   map[string][]*drawnLabel
	verdicts []*checked.Sample // by judge, on all answers
	clusters gather.Names
	found    map[uint32]*analysis.Checked // by judge, once it was computed
}

// drawnLabel is what people said of one answer.
type drawnLabel struct {
	lane, cluster int
	weight        float64 // 1/probability, as it was declared
	sum, n        float64
	undecided     bool // a person cannot tell
	verdicts      map[uint32]float64
}

// newDrawnLabels returns none yet. Without a draw, labels declare their probabilities.
func newDrawnLabels(j gather.Job, yes []string, draw *analysis.Draw) *drawnLabels {
	d := &drawnLabels{Job: j, yes: yes, draw: draw, labels: map[string]*drawnLabel{}, byItem: map[string][]*drawnLabel{},
		found: map[uint32]*analysis.Checked{}}
	if draw != nil {
		d.lanes = draw.Lanes
	}
	return d
}

// learn enters a person's label.
func (d *drawnLabels) learn(unit string, r *analysis.Row) {
	lane := slices.Index(d.lanes, r.Lane)
	switch {
	case lane < 0 && d.draw != nil:
		return
	case lane < 0:
		lane, d.lanes = len(d.lanes), append(d.lanes, r.Lane)
	}
	l := d.labels[unit]
	if l == nil {
		l = &drawnLabel{lane: lane, cluster: int(d.clusters.Of(r.ClusterName())), weight: 1, verdicts: map[uint32]float64{}}
		d.labels[unit], d.byItem[r.Item] = l, append(d.byItem[r.Item], l)
	}
	if r.Probability > 0 {
		l.weight = 1 / r.Probability
	}
	if r.Adjudicated {
		l.sum, l.n, l.undecided = 0, 0, false
	}
	value, ok := gather.ValueOf(r, d.yes, false)
	if !r.Valid() || !ok {
		l.undecided = true
		return
	}
	l.sum, l.n = l.sum+value, l.n+1
}

// judged enters a judge's verdict.
func (d *drawnLabels) judged(unit string, judge uint32, r *analysis.Row) {
	lane := slices.Index(d.lanes, r.Lane)
	value, ok := gather.ValueOf(r, d.yes, false)
	if lane < 0 || !ok {
		return
	}
	for int(judge) >= len(d.verdicts) {
		d.verdicts = append(d.verdicts, checked.NewSample(len(d.lanes)))
	}
	d.verdicts[judge].Judged(int(d.clusters.Of(r.ClusterName())), lane, value)
	if l := d.labels[unit]; l != nil {
		if _, there := l.verdicts[judge]; !there {
			l.verdicts[judge] = value
		}
	}
}

// complete returns the drawn items whose labels are all there, in the order of the draw, and how many were left out because a person could
// not tell. Where labels declare their probabilities, an item has all that it is given.
func (d *drawnLabels) complete(judge uint32) (items []string, left int) {
	for _, item := range d.order() {
		labels := d.byItem[item]
		if len(labels) == 0 || d.draw != nil && len(labels) < len(d.draw.Drawn(item)) {
			continue
		}
		whole := true
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
	var all []checked.Label
	var weights map[string]float64
	if d.draw != nil {
		weights = d.draw.Weights(items)
	}
	for i, item := range items {
		for _, l := range d.byItem[item] {
			weight := l.weight
			if d.draw != nil {
				weight = weights[item]
			}
			all = append(all, checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: l.verdicts[judge], Value: l.sum / l.n,
				Weight: weight})
		}
	}
	return d.verdicts[judge].With(all)
}

// scale returns that of the stage's verdicts.
func (d *drawnLabels) scale() checked.Scale {
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
	out := &analysis.Checked{State: checked.Unchecked, Items: len(items), LeftOut: left, Lanes: d.lanes, Declared: d.draw == nil}
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
	s := d.sample(judge, items)
	out.Agrees, out.AgreesInterval = s.ErrorRate(d.scale(), d.Options.Level)
	for _, l := range looks {
		if l.Items > len(items) || l.Items < checked.FewestClusters || d.draw != nil && !d.draw.Covers(items[:l.Items]) {
			continue
		}
		s = d.sample(judge, items[:l.Items])
		c := s.Correct(checked.Options{Scale: d.scale(), Level: 1 - l.Alpha})
		out.Look(c, l, 1-d.Options.Level)
		out.Labels = labels(l.Items)
	}
	out.State = s.State(out.Corrected != nil)
	if out.Corrected != nil {
		out.Error, out.ErrorInterval = s.ErrorRate(d.scale(), d.Options.Level)
		out.Bias, out.BiasInterval = s.Bias(d.Options.Level)
		out.ErrsOn(s, d.scale(), d.Options.Level)
	}
	if out.YesNo = d.yes != nil; out.Agrees.OK && out.YesNo {
		out.Agrees = stats.Known(1 - out.Agrees.Value)
		if i := out.AgreesInterval; i.OK {
			out.AgreesInterval = stats.Between(1-i.High, 1-i.Low)
		}
	}
	d.found[judge] = out
	return out
}

// findings adds what people's labels correct: the value of each lane.
func (d *drawnLabels) findings(t *analysis.Table, judge uint32, by analysis.Value,
	finding func(what string, n int, by ...analysis.Value) *analysis.Finding) {
	c := d.checked(judge)
	if c == nil {
		return
	}
	t.Note("%s: %s", by.Value, c.Words())
	if c.Corrected == nil {
		return
	}
	if r2 := c.Corrected.R2; r2.OK && r2.Value > 0 && c.Corrected.Use == checked.JudgeHelps {
		worth := checked.WorthOf(c.Corrected.Labelled, c.Corrected.Clusters, r2.Value)
		t.Note("one label is worth %.0f more verdicts; with the judge %s are as good as %.0f", worth.Verdicts,
			analysis.Plural(c.Corrected.Labelled, "labelled cluster"), worth.Labels)
	}
	d.byLane(t, c, by, finding)
	for i, v := range c.Corrected.Values {
		f := finding(analysis.WhatTrueRate, v.Answers, by, analysis.Value{Field: analysis.ByLane, Value: c.Lanes[i]})
		if d.yes == nil {
			f.Unit = analysis.Score
		}
		f.Clusters, f.Value, f.SE, f.Interval = v.Clusters, v.Value, v.SE, v.Interval
		f.Method = "labels of people, and what the judge knows beyond them (PPI++), by cluster"
		f.Note("%s; the judge alone: %s", c.Used(v.Labels), f.Unit.Show(v.Judge.Value))
		t.Findings = append(t.Findings, *f)
	}
}

// byLane adds how the judge errs on each lane, and whether that is alike on all of them.
func (d *drawnLabels) byLane(t *analysis.Table, c *analysis.Checked, by analysis.Value,
	finding func(what string, n int, by ...analysis.Value) *analysis.Finding) {
	unit := analysis.Share
	if !c.YesNo {
		unit = analysis.Score
	}
	for _, e := range c.OnLanes {
		lane := analysis.Value{Field: analysis.ByLane, Value: c.Lanes[e.Lane]}
		wrong, bias := finding(analysis.WhatWrong, e.Labels, by, lane), finding(analysis.WhatBias, e.Labels, by, lane)
		wrong.Value, wrong.Interval, wrong.Method = e.Error, e.ErrorInterval, "drawn labels, Wilson, by cluster"
		if !c.YesNo {
			wrong.Method = "drawn labels, mean distance, Student, by cluster"
		}
		bias.Value, bias.Interval, bias.Method = e.Bias, e.BiasInterval, "judge minus drawn labels, Student, by cluster"
		for _, f := range []*analysis.Finding{wrong, bias} {
			f.Unit, f.Clusters = unit, e.Clusters
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
