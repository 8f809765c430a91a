package answers

import (
	"maps"
	"slices"

	"assay/internal/find/analysis"
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
