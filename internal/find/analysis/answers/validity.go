package answers

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// Validity compares judges with gold: the labels of a file, or else people's.
type Validity struct {
	gather.Job
	yes     []string
	truth   map[string]map[string]int // what is known of a judged answer: labels and how often
	settled map[string]bool           // answers on which people differed, and one decided
	sources map[string]int            // labels by who gave them
	file    bool                      // the labels come from a file
	units   gather.Names
	said    [][]opinion // by judge, then unit
	further int         // verdicts of a judge on an answer that it has judged before, by another prompt
	omitted int         // verdicts on answers beyond those that are kept
	labels  gather.Names
	judges  gather.Names
	right   map[uint32]string // the expected label of units that are known
	certain map[uint32]string // unit: its true label
	cover   gather.Groups[struct{}]
	drawn   *drawnLabels // nil: nobody was asked about drawn answers
	given   *drawnLabels // that declare their probabilities; nil: none do
	every   *drawnLabels // of all answers that judges judged, so that none was chosen
	chosen  bool         // some answers that judges judged have no label
	key     []byte
}

// opinion is a judge's label of an answer.
type opinion struct {
	label uint32
	there bool
	yes   bool
	rated bool // the label counts as yes or no
}

// NewValidity returns the collector that holds judges against gold.
func NewValidity(j gather.Job) *Validity {
	v := &Validity{
		Job: j, yes: j.Stage.Yes(), truth: map[string]map[string]int{}, sources: map[string]int{}, settled: map[string]bool{},
		certain: map[uint32]string{}, right: map[uint32]string{},
	}
	v.cover = gather.NewGroups(j.Spec.By, func() struct{} { return struct{}{} })
	if j.Stage.Draw != nil {
		v.drawn = v.sample(j.Stage.Draw)
	}
	return v
}

// sampled returns the labels that judges are checked by: those of the draw, else those whose file declares their probabilities, else those
// of all answers; nil: none.
func (v *Validity) sampled() *drawnLabels {
	switch {
	case v.drawn != nil && len(v.drawn.labels) > 0:
		return v.drawn
	case v.given != nil:
		return v.given
	case v.every != nil:
		return v.every
	}
	return v.drawn
}

// unit distinguishes a judged answer, or a pair whichever way round, from all others.
func (v *Validity) unit(r *analysis.Row) []byte {
	first, second := r.Lane, r.Other
	if second != "" && first > second {
		first, second = second, first
	}
	v.key = analysis.AppendText(r.AppendUnit(v.key[:0]), first, second, r.Trait)
	return v.key
}

// label returns a row's label whichever way round a pair was shown.
func (v *Validity) label(r *analysis.Row) string {
	if r.Other == "" || r.Lane <= r.Other {
		return r.Label
	}
	switch r.Label {
	case assay.LabelA:
		return assay.LabelB
	case assay.LabelB:
		return assay.LabelA
	}
	return r.Label
}

// Learn enters a label that is taken to be true.
func (v *Validity) Learn(r *analysis.Row) {
	unit := string(v.unit(r))
	if v.drawn != nil {
		v.drawn.hear(unit, r)
	}
	if v.settled[unit] && !r.Adjudicated {
		return
	}
	if r.Adjudicated {
		v.settled[unit] = true
		delete(v.truth, unit)
	}
	switch {
	case v.drawn != nil && (r.Drawn || r.Adjudicated && v.given == nil):
		v.drawn.learn(unit, r)
	case r.Adjudicated && v.given != nil && v.given.labels[unit] != nil:
		v.given.learn(unit, r)
	case v.Stage.Items || v.Stage.Rounds != nil:
	case r.Probability > 0:
		if v.given == nil {
			v.given = v.sample(nil)
		}
		v.given.learn(unit, r)
	case v.chosen:
	case r.Judge == analysis.GoldJudge && !v.file, v.every == nil && !v.file:
		v.every = v.sample(nil)
		v.every.all = true
		fallthrough
	case r.Judge == analysis.GoldJudge || !v.file:
		v.every.learn(unit, r)
	}
	if !r.Valid() || r.Label == "" {
		return
	}
	file := r.Judge == analysis.GoldJudge
	if v.file && !file {
		return // a file is the study's own word
	}
	if file && !v.file {
		clear(v.truth)
		clear(v.sources)
		v.file = true
	}
	said := v.truth[unit]
	if said == nil {
		said = map[string]int{}
		v.truth[unit] = said
	}
	said[v.label(r)]++
	v.sources[r.Judge]++
}

// Expect counts a planned verdict of a model or a rule.
func (v *Validity) Expect(r *analysis.Row) {
	if !r.Person() && r.Vote == 0 && !r.Decided {
		v.cover.Expect(r)
	}
}

// Add enters a verdict of a model or a rule.
func (v *Validity) Add(r *analysis.Row) {
	if r.Person() || r.Vote > 0 {
		return
	}
	if !r.Decided {
		v.cover.Of(r).Cover.Count(r)
	}
	if !r.Valid() || v.Stage.Flips && v.Stage.IsControl(r.Branch) && !slices.Contains(v.Spec.By, analysis.ByBranch) {
		return
	}
	judge := v.judges.Of(r.Judge)
	unit := string(v.unit(r))
	if v.every != nil && v.every.labels[unit] == nil {
		v.every, v.chosen = nil, true
	}
	if d := v.sampled(); d != nil {
		d.judged(unit, judge, r)
	}
	if r.Label != "" {
		v.hear(r, judge)
	}
}

// hear records a judge's label of one answer. Of a pair, the first showing counts.
func (v *Validity) hear(r *analysis.Row, judge uint32) {
	unit, kept := v.units.Within(v.unit(r), gather.MaxUnits)
	if !kept {
		v.omitted++
		return
	}
	v.said = gather.Grown(v.said, int(judge))
	v.said[judge] = gather.Grown(v.said[judge], int(unit))
	if v.said[judge][unit].there {
		v.further += int(gather.One(r.Other == ""))
		return
	}
	yes, rated := v.isYes(r.Label, r.Expect)
	v.said[judge][unit] = opinion{v.labels.Of(v.label(r)), true, yes, rated}
	if said, ok := v.truth[string(v.key)]; ok {
		if label, ok := majority(said); ok {
			v.certain[unit], v.right[unit] = label, r.Expect
		}
	}
}

// majority returns the label of most people; false where two labels are as frequent.
func majority(said map[string]int) (string, bool) {
	best, several := "", false
	for label, n := range said {
		switch {
		case best == "" || n > said[best]:
			best, several = label, false
		case n == said[best]:
			several = true
		}
	}
	return best, best != "" && !several
}

// isYes reports whether a label counts as yes; false where the rubric has no yes.
func (v *Validity) isYes(label, expect string) (yes, ok bool) {
	if len(v.yes) > 0 {
		return slices.Contains(v.yes, label), true
	}
	return label == expect, expect != ""
}

// Tables computes how far judges can be trusted.
func (v *Validity) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "judge validity", By: append([]string{analysis.ByJudge}, v.Spec.By...), Coverage: v.cover.Totals()}
	if d := v.sampled(); len(v.truth) == 0 && (d == nil || len(d.labels) == 0) {
		return nil, nil
	}
	for _, judge := range v.judges.Sorted() {
		if err := v.judge(&t, judge); err != nil {
			return nil, err
		}
	}
	v.notes(&t)
	return []analysis.Table{t}, nil
}

func (v *Validity) notes(t *analysis.Table) {
	if v.omitted > 0 {
		t.Note("%s left out: validity is computed over the first %d answers", analysis.Plural(v.omitted, "verdict"), gather.MaxUnits)
	}
	var who []string
	for name := range v.sources {
		who = append(who, name)
	}
	slices.Sort(who)
	n := 0
	for _, k := range v.sources {
		n += k
	}
	t.Note("gold: %s of %s on %s, of which %d were judged", analysis.Plural(n, "label"), strings.Join(who, ", "),
		analysis.Plural(len(v.truth), "answer"), len(v.certain))
	if v.further > 0 {
		t.Note("of a judge with several prompts the first verdict on an answer counts: %s not held against gold",
			analysis.Plural(v.further, "verdict"))
	}
	if !v.file && v.Stage.Unclear > 0 {
		t.Note("%s chosen because it was not clear which of the two is better: accuracy is that of close pairs more than of all",
			analysis.WereLabels(v.Stage.Unclear))
	}
	if !v.Stage.Items && v.Stage.Rounds == nil && v.sampled() == nil {
		t.Note("these labels were chosen, not drawn: they correct nothing. `assay label` draws a sample; a file with a column " +
			"probability declares one")
	}
}

// judge adds what is known of one judge.
func (v *Validity) judge(t *analysis.Table, judge uint32) error {
	by := analysis.Value{Field: analysis.ByJudge, Value: v.judges.Text(judge)}
	if by.Value == analysis.MeanName {
		if d := v.sampled(); d != nil {
			d.findings(t, judge, by, v.finding)
		}
		return nil
	}
	right, n := v.confusion(t, judge, by.Value)
	f := v.finding(analysis.WhatAccuracy, n, by)
	r := stats.NewRate(right, n, v.Options.Level)
	f.Value, f.SE, f.Interval, f.Method = r.Share, r.SE(), r.Interval, "Wilson, among the labelled"
	if n == 0 {
		*f = f.Unknown("none of the gold labels is on an answer that it judged")
	}
	t.Findings = append(t.Findings, *f)
	if v.Stage.Verb == analysis.Judged && n > 0 {
		v.rates(t, judge, n, by)
	}
	if d := v.sampled(); d != nil {
		d.findings(t, judge, by, v.finding)
	}
	return nil
}

// rates adds how often a judge sees what is yes, and what is no.
func (v *Validity) rates(t *analysis.Table, judge uint32, n int, by analysis.Value) {
	g := v.gold(judge)
	for _, x := range []struct {
		what string
		rate stats.Rate
	}{{analysis.WhatSensitivity, g.Sensitivity(v.Options.Level)}, {analysis.WhatSpecificity, g.Specificity(v.Options.Level)}} {
		f := v.finding(x.what, n, by)
		f.Value, f.Interval, f.Method = x.rate.Share, x.rate.Interval, "Wilson, among the labelled"
		if g == (stats.Gold{}) {
			*f = f.Unknown("no label counts as yes or no: the stage's value is a mean of scores")
		}
		t.Findings = append(t.Findings, *f)
	}
}

func (v *Validity) finding(what string, n int, by ...analysis.Value) *analysis.Finding {
	return &analysis.Finding{What: what, Unit: analysis.Share, N: n, Clusters: n, By: by, Coverage: v.cover.Totals(),
		Bounds: stats.NoInterval("not computed"), Rule: v.Stage.CountingRule()}
}

// gold counts the judge's yes and no against the true ones.
func (v *Validity) gold(judge uint32) stats.Gold {
	var g stats.Gold
	for unit, label := range v.certain {
		said := v.about(judge, unit)
		is, _ := v.isYes(label, v.right[unit])
		switch {
		case !said.rated:
		case said.yes && is:
			g.TruePositive++
		case said.yes:
			g.FalsePositive++
		case is:
			g.FalseNegative++
		default:
			g.TrueNegative++
		}
	}
	return g
}

// about returns the judge's label of an answer, if any.
func (v *Validity) about(judge, unit uint32) opinion {
	if int(judge) >= len(v.said) || int(unit) >= len(v.said[judge]) {
		return opinion{}
	}
	return v.said[judge][unit]
}

// confusion adds the table of the judge's labels by the true ones, and counts the labels that agree.
func (v *Validity) confusion(t *analysis.Table, judge uint32, name string) (right, n int) {
	c := analysis.Confusion{Judge: name}
	for _, l := range v.Stage.Labels {
		c.Labels = append(c.Labels, l.Name)
	}
	place := func(label string) int {
		i := slices.Index(c.Labels, label)
		if i < 0 {
			i = len(c.Labels)
			c.Labels = append(c.Labels, label)
		}
		return i
	}
	type cell struct{ is, said int }
	cells := map[cell]int{}
	var units []uint32
	for unit := range v.certain {
		units = append(units, unit)
	}
	slices.Sort(units)
	for _, unit := range units {
		said := v.about(judge, unit)
		if !said.there {
			continue
		}
		at := cell{place(v.certain[unit]), place(v.labels.Text(said.label))}
		cells[at]++
		n++
		right += int(gather.One(at.is == at.said))
	}
	c.Counts = make([][]int, len(c.Labels))
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(c.Labels))
		for k := range c.Counts[i] {
			c.Counts[i][k] = cells[cell{i, k}]
		}
	}
	if n > 0 {
		t.Confusions = append(t.Confusions, c)
	}
	return right, n
}
