package answers

import (
	"fmt"
	"math"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats/checked"
)

// calibrate holds how sure a judge is against how often it is right: its confidence, minus the share of people who say the same.
func (d *drawnLabels) calibrate(c *analysis.Checked, judge uint32, items []string) {
	var all []checked.Label
	weight := d.weights(items)
	for i, item := range items {
		for _, l := range d.byItem[item] {
			s, told := l.sure[judge]
			right := 1 - math.Abs(s.value-l.sum/l.n)
			if d.Stage.Weighed { // its value is a mean of its labels
				right = l.named[s.label] / l.n
			}
			if told && (d.yes != nil || d.pairs() || d.Stage.Weighed) {
				all = append(all, checked.Label{Item: i, Cluster: l.cluster, Lane: l.lane, Verdict: s.confidence, Value: right,
					Weight: weight(item, l)})
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
		t.Note("%s: one label is worth %.0f more verdicts%s; with the judge %s are as good as %.0f", by.Value, worth.Verdicts, price,
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
		if i < len(c.Bounds) {
			f.Bounds = c.Bounds[i]
		}
		t.Findings = append(t.Findings, *f)
	}
	d.apart(t, c, by, finding)
}

// apart adds the corrected differences of every two lanes.
func (d *drawnLabels) apart(t *analysis.Table, c *analysis.Checked, by analysis.Value,
	finding func(what string, n int, by ...analysis.Value) *analysis.Finding) {
	if len(c.Lanes) > mostApart {
		return
	}
	for _, x := range c.Corrected.Differences {
		a, b := &c.Corrected.Values[x.A], &c.Corrected.Values[x.B]
		f := finding(analysis.WhatTrueGap, min(a.Answers, b.Answers), by, analysis.Value{Field: analysis.ByLane, Value: c.Lanes[x.A]},
			analysis.Value{Field: analysis.ByAgainst, Value: c.Lanes[x.B]})
		f.Unit = c.Unit()
		f.Clusters, f.Value, f.SE, f.Interval = x.Clusters, x.Value, x.SE, x.Interval
		f.P, f.Method = c.Claim(x.A, x.B), "as the values; p over all planned looks"
		f.Note("the judge alone: %s", f.Shown().Show(a.Judge.Value-b.Judge.Value))
		t.Findings = append(t.Findings, *f)
	}
}

// mostApart is how many lanes have all of their corrected differences in the table.
const mostApart = 12

// price returns what one more judged answer costs; false where a price is not known.
func (d *drawnLabels) price(c *analysis.Checked, judge string) (float64, bool) {
	if d.Stage.Spent == nil || d.pairs() {
		return 0, false
	}
	sum, known := d.Stage.Spent.Verdicts[judge]
	if judge == analysis.JuryName || judge == analysis.MeanName { // all of them judge each answer
		for _, of := range d.Stage.Spent.Verdicts {
			sum, known = sum+of, true
		}
	}
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
