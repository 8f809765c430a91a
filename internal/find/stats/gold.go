package stats

// Gold counts a judge's labels against the true ones on the items that people labelled.
type Gold struct {
	TruePositive, FalsePositive, FalseNegative, TrueNegative int
}

// Sensitivity returns the share of true yes that the judge calls yes.
func (g Gold) Sensitivity(level float64) Rate {
	return NewRate(g.TruePositive, g.TruePositive+g.FalseNegative, level)
}

// Specificity returns the share of true no that the judge calls no.
func (g Gold) Specificity(level float64) Rate {
	return NewRate(g.TrueNegative, g.TrueNegative+g.FalsePositive, level)
}
