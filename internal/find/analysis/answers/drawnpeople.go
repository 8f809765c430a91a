package answers

import (
	"maps"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
	"assay/internal/find/stats/checked"
)

// hear enters what a person said, for how far people agree.
func (d *drawnLabels) hear(unit string, r *analysis.Row) {
	if value, ok := d.value(r); ok && r.Valid() && r.Person() && !r.Adjudicated && r.Drawn {
		d.said[unit] = append(d.said[unit], value)
	}
}

// agree notes where people do not agree among themselves. Corrected intervals contain it.
func (d *drawnLabels) agree(t *analysis.Table) {
	var said [][]float64
	for _, unit := range slices.Sorted(maps.Keys(d.said)) {
		said = append(said, d.said[unit])
	}
	if p := checked.Agree(said); p.Differ() {
		t.Note("people do not agree among themselves (in %s, on %s that several labelled): the judge cannot be better than they are",
			analysis.Share.Show(p.Agreement.Value), analysis.Plural(p.Twice, "answer"))
	}
}

// earlier counts labels that were given before the judge's prompt changed.
func (d *drawnLabels) earlier() (n int) {
	for _, l := range d.labels {
		n += int(gather.One(l.earlier && l.n > 0))
	}
	return n
}

// agreement counts the labels that test the judge on what it judged, of whole items or not, and returns on which share of them it says
// the same.
func (d *drawnLabels) agreement(judge uint32) (given int, agrees stats.Number, in stats.Interval) {
	var all []checked.Label
	for i, item := range d.order() {
		for _, l := range d.byItem[item] {
			if m, judged := l.verdicts[judge]; judged && l.n > 0 && !l.earlier {
				all = append(all, checked.Label{Item: i, Cluster: l.cluster, Verdict: m.value(), Value: l.sum / l.n, Weight: l.weight})
			}
		}
	}
	wrong, in := checked.NewSample(1).With(all).ErrorRate(d.errorScale(), d.Options.Level)
	if !wrong.OK || d.yes == nil && !d.pairs() {
		return len(all), stats.Undefined("scores agree more or less"), stats.NoInterval("scores agree more or less")
	}
	if in.OK {
		in = stats.Between(1-in.High, 1-in.Low)
	}
	return len(all), stats.Known(1 - wrong.Value), in
}
