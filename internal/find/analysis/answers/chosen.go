package answers

import (
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// number returns a label as one: a win, yes, or its score.
func (v *Validity) number(label, expect string) (float64, bool) {
	if v.Stage.Verb == analysis.Compared {
		result, ok := gather.ResultOf(label)
		return result.Score(), ok
	}
	if yes, ok := v.isYes(label, expect); ok {
		return float64(gather.One(yes)), true
	}
	i := slices.IndexFunc(v.Stage.Labels, func(l analysis.Label) bool { return l.Name == label && l.Score != nil })
	if i < 0 {
		return 0, false
	}
	return *v.Stage.Labels[i].Score, true
}

// Chosen returns how far a judge agrees with labels that were chosen and not drawn: they are shown, and correct nothing. Nil: there are
// none, or some were drawn.
func (v *Validity) Chosen() *analysis.Checked {
	if v.sampled() != nil && len(v.sampled().labels) > 0 {
		return nil
	}
	judge := v.deciding()
	if judge < 0 || v.Stage.Jury == analysis.JuryUnanimous {
		return nil
	}
	s := v.held(uint32(judge))
	out := &analysis.Checked{State: checked.Unchecked, Chosen: true, Fewest: checked.FewestChecked,
		Pairs: v.Stage.Verb == analysis.Compared, Shares: len(v.yes) > 0 || v.Stage.Verb == analysis.Compared,
		Agrees: stats.Undefined("scores agree more or less"), AgreesInterval: stats.NoInterval("scores agree more or less")}
	if out.Given, out.Clusters = s.Labelled(); out.Given == 0 {
		return nil
	}
	if out.Shares {
		right, n := v.confusion(&analysis.Table{}, uint32(judge), "")
		r := stats.NewRate(right, n, v.Options.Level)
		out.Agrees, out.AgreesInterval = r.Share, r.Interval
	}
	return out
}

// deciding returns the judge whose numbers the stage has: the jury, else the mean of several, else the only one; -1: there are none.
func (v *Validity) deciding() int {
	switch {
	case v.Stage.Jury != "":
		return v.numbered(analysis.JuryName)
	case v.averaged():
		return v.numbered(analysis.MeanName)
	}
	return min(1, v.judges.Len()) - 1
}

// numbered returns the number of a judge; -1: there is none of this name.
func (v *Validity) numbered(name string) int {
	if i, ok := v.judges.Find(name); ok {
		return int(i)
	}
	return -1
}

// averaged reports whether the stage's numbers are the mean of what several judges say.
func (v *Validity) averaged() bool { return v.Stage.Jury == "" && len(v.Stage.Judges) > 1 }

// Stands reports whether labels that nothing was drawn for show a judge to be better than chance, where nothing can be drawn: of items that
// are compared, and of pairs that are bought in rounds.
func (v *Validity) Stands() bool {
	if !v.Stage.Items && v.Stage.Rounds == nil || v.Sampled() {
		return false
	}
	for judge := range v.judges.Len() {
		if v.held(uint32(judge)).State(true, checked.FewestChecked) == checked.Checked {
			return true
		}
	}
	return false
}

// held returns what a judge says of answers whose labels are certain, each by itself.
func (v *Validity) held(judge uint32) *checked.Sample {
	s := checked.NewSample(1)
	var labels []checked.Label
	for unit, label := range v.certain {
		said := v.about(judge, unit)
		if !said.there {
			continue
		}
		is, known := v.number(label, v.right[unit])
		if judged, ok := v.number(v.labels.Text(said.label), v.right[unit]); ok && known {
			s.Judged(len(labels), 0, judged)
			labels = append(labels, checked.Label{Item: len(labels), Cluster: len(labels), Verdict: judged, Value: is, Weight: 1})
		}
	}
	return s.With(labels)
}
