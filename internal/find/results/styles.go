package results

import (
	"context"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// readStyles reads what the answers look like that a stage compares, where an analysis controls for it. Texts pass by one after the other: five
// counts of each stay.
func (d *rowReader) readStyles(ctx context.Context, st *study.Stage, s analysis.Stage) error {
	d.styles, d.itemStyles = nil, nil
	switch {
	case !d.styled[s.Name]:
		return nil
	case s.Items:
		return d.readItemStyles(ctx, st)
	}
	d.styles = map[assay.Key]analysis.Style{}
	for _, from := range d.sources(st) {
		for a, err := range d.Ledger.Answers(ctx, d.run.No, from.Name, "") {
			if err != nil {
				return err
			}
			if !a.Ended || !a.Outcome.Ending.Stands() {
				continue
			}
			text, err := d.wholeText(ctx, a)
			if err != nil {
				return err
			}
			d.styles[a.Key] = analysis.StyleOf(text)
		}
	}
	return nil
}

// wholeText is the text of an answer; one too long for a row is read from the bytes that came.
func (d *rowReader) wholeText(ctx context.Context, a store.Answer) (string, error) {
	if !a.Over {
		return a.Outcome.Text, nil
	}
	whole, err := d.Scripts.Whole(ctx, d.run, a)
	return whole.Outcome.Text, err
}

// readItemStyles reads what items look like that are compared with each other.
func (d *rowReader) readItemStyles(ctx context.Context, st *study.Stage) error {
	d.itemStyles = map[string]analysis.Style{}
	for it, err := range d.Ledger.Items(ctx, d.run.No, st.Compare) {
		if err != nil {
			return err
		}
		if text, err := plan.ComparedText(it); err == nil { // of one without a text nothing is known
			d.itemStyles[strings.Clone(it.ID)] = analysis.StyleOf(text)
		}
	}
	return nil
}

// style fills in what the two of a verdict look like.
func (d *rowReader) style(r *analysis.Row, v *store.Verdict) {
	if d.itemStyles != nil {
		r.Style, r.OtherStyle = d.itemStyles[r.Lane], d.itemStyles[r.Other]
	} else if d.styles != nil {
		r.Style, r.OtherStyle = d.styles[v.Subject], d.styles[v.Against]
	}
}
