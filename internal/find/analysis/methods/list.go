package methods

import (
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/answers"
	"assay/internal/find/analysis/contests"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/analysis/talks"
)

// collectorOf returns the list of methods: each has a case here, and a file with its collector.
func collectorOf(j gather.Job) gather.Collector {
	switch j.Spec.Method {
	case analysis.Ranking:
		return newPlacing(j)
	case analysis.JudgeBias:
		return newBias(j)
	case analysis.Correlation:
		if j.Stage.Verb == analysis.Judged {
			return answers.NewCorrelations(j)
		}
	case analysis.Flips, analysis.Stances, analysis.FlipCounts, analysis.SideBySide:
		return talks.NewFlips(j)
	case analysis.Agreement:
		return answers.NewJudges(j)
	case analysis.Length:
		return answers.NewLengths(j)
	case analysis.Items:
		return answers.NewItemwise(j)
	case analysis.Variance:
		return answers.NewVariances(j)
	case analysis.NoWorse:
		return answers.NewNoWorse(j)
	case analysis.Validity:
		return answers.NewValidity(j)
	case analysis.Rates:
		return answers.NewRates(j)
	}
	if j.Spec.Control != 0 {
		return contests.NewControlled(j)
	}
	return contests.New(j)
}
