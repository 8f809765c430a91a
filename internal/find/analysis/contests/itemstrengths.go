package contests

import (
	"errors"
	"math"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// correlation holds the strengths of items against what is known of them.
func (a *arena) correlation(t *analysis.Table) error {
	with := a.Spec.Settings.With
	fit, how, err := a.finite(t, analysis.BradleyT, a.field())
	var none *stats.NoMaximum
	if errors.As(err, &none) {
		t.Findings = append(t.Findings,
			a.finding(analysis.WhatPearson, analysis.Index, -1, "").Unknown("%s", a.noStrengths(none, a.field())))
		return nil
	}
	if err != nil {
		return err
	}
	var found, known []float64
	for i, name := range a.names {
		if x, ok := gather.NumberIn(a.Stage.Known[with][name]); ok {
			found, known = append(found, math.Round(fit.Theta[i]*1e9)/1e9), append(known, x) // equal strengths share a rank
		}
	}
	gather.Correlate(t, a.finding(analysis.WhatPearson, analysis.Index, -1, ""), found, known, len(a.names), with, "strengths by "+how,
		a.Options.Level)
	return nil
}
