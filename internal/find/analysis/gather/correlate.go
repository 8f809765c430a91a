package gather

import (
	"math"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// NumberIn returns the number that a text holds, if any.
func NumberIn(text string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// Correlate adds both correlations of what was found with what is known.
func Correlate(t *analysis.Table, like *analysis.Finding, found, known []float64, all int, with, how string, level float64) {
	for _, c := range []struct {
		what, method string
		of           func(x, y []float64, level float64) stats.Correlation
	}{{analysis.WhatPearson, "Pearson, Fisher's z", stats.NewPearson},
		{analysis.WhatSpearman, "Spearman, Bonett-Wright", stats.NewSpearman}} {
		f := *like
		r := c.of(found, known, level)
		f.What, f.Unit, f.N, f.Clusters, f.Method = c.what, analysis.Index, r.N, r.N, c.method+"; "+how
		f.Value, f.SE, f.Interval, f.P = r.R, r.SE, r.Interval, r.P
		f.Note("with %s", with)
		if left := all - r.N; left > 0 {
			f.Note("%d of %d have no number in %s", left, all, with)
		}
		t.Findings = append(t.Findings, f)
	}
}
