package plan

import (
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study"
)

// SettingsOf returns the options that a study gives an analysis.
func SettingsOf(a *study.Analysis) analysis.Settings {
	s := analysis.Settings{Ridge: a.Ridge, Firth: a.Firth, K: a.K, Orders: a.Orders, Bootstrap: a.Bootstrap, Seed: a.Seed, Level: a.Level,
		With: a.With, Margin: float64(a.Margin), Baseline: a.Baseline, Against: a.Against}
	s.Control, _ = analysis.ParseControls(a.Control.List) // what is wrong with them is reported where the study is checked
	if a.Start != nil {
		s.Start = stats.Known(*a.Start)
	}
	return s
}
