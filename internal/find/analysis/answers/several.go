package answers

import (
	"maps"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats/checked"
)

// several is what several judges say of each answer on average: numbers of a stage without a jury are these.
type several struct {
	judge uint32 // the number of their mean among judges
	units gather.Names
	said  []averaged // by unit
}

// averaged is what judges say of one answer.
type averaged struct {
	cluster uint32
	lane    int
	place
	average
}

// averaged enters what one of several judges says of an answer.
func (d *drawnLabels) averaged(unit string, r *analysis.Row, lane int, at place, value float64) {
	s := d.several
	if d.pairs() {
		d.compared(s.judge, r, at, value)
		return
	}
	k, kept := s.units.Within([]byte(unit), gather.MaxUnits)
	if !kept {
		return
	}
	s.said = gather.Grown(s.said, int(k))
	u := &s.said[k]
	u.cluster, u.lane, u.place, u.average = d.clusters.Of(r.ClusterName()), lane, at, average{u.sum + value, u.n + 1}
}

// average gives the mean of several judges the verdicts that follow from theirs, once all are there.
func (d *drawnLabels) average() {
	s := d.several
	d.parts(s.judge)
	for _, u := range s.said {
		d.enter(s.judge, u.place, int(u.cluster), u.lane, u.value())
	}
	s.said = nil
}

// sample starts labels that check judges: of several, their mean, too.
func (v *Validity) sample(draw *analysis.Draw) *drawnLabels {
	d := newDrawnLabels(v.Job, v.yes, draw)
	if v.averaged() {
		d.several = &several{judge: v.judges.Of(analysis.MeanName)}
	}
	return d
}

// onJudged leaves the labels on lanes that a judge judged at all: of what a file has beyond them, the judge's numbers are not.
func (d *drawnLabels) onJudged(judge uint32, labels []*drawnLabel) []*drawnLabel {
	if d.draw != nil || d.pairs() || int(judge) >= len(d.verdicts) {
		return labels
	}
	has := func(l *drawnLabel) bool { return d.verdicts[judge].all[0].Has(l.lane) }
	if !slices.ContainsFunc(labels, func(l *drawnLabel) bool { return !has(l) }) {
		return labels
	}
	var out []*drawnLabel
	for _, l := range labels {
		if has(l) {
			out = append(out, l)
		}
	}
	return out
}

// eachOf returns how far each of several judges was checked.
func (v *Validity) eachOf() (out []analysis.JudgeChecked) {
	by := v.EachChecked()
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if c := by[name]; c != nil && name != analysis.JuryName {
			out = append(out, analysis.JudgeChecked{Judge: name, Checked: c})
		}
	}
	return out
}

// refused returns how far the judges of a jury were checked that decides only where all agree.
func (v *Validity) refused() *analysis.Checked {
	d := v.sampled()
	if len(d.labels) == 0 || v.judges.Len() == 0 {
		return nil
	}
	return &analysis.Checked{State: checked.Unchecked, Given: len(d.labels), Lanes: d.lanes, Each: v.eachOf(),
		Why: "a jury that decides only where all agree leaves answers out, so that labels check each judge and correct nothing"}
}
