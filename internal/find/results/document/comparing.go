package document

import (
	"context"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/send/script/rounds"
	"assay/internal/show/report"
	"assay/internal/show/report/words"
	"assay/internal/study"
)

// comparingOf returns what a comparison is in each stage that ranks by them, and how many its neighbours have left.
func comparingOf(ctx context.Context, r *results.Reader, found *findings.Findings) (map[string]report.Comparing, error) {
	out := map[string]report.Comparing{}
	compared := func(b analysis.Leaderboard) bool { return b.Verb == analysis.Compared }
	if !slices.ContainsFunc(found.Report.Leaderboards, compared) {
		return out, nil
	}
	s, err := r.Scripts.Open(ctx, found.Run)
	if err != nil {
		return nil, err
	}
	for i := range found.Report.Leaderboards {
		b := &found.Report.Leaderboards[i]
		st, ok := s.Study().Stage(b.Stage)
		if !ok || !compared(*b) {
			continue
		}
		c := report.Comparing{Verdicts: s.VerdictsOfOne(b.Stage), PerItem: 2, Left: map[[2]string]int{}}
		if findings.Decided(s.Study(), st) {
			c.Verdicts = 1
		}
		if b.Field == analysis.ByLane && s.Compares(b.Stage) != nil { // nothing is sent, so that nothing can be bought: only items help
			if c.PerItem = 1; st.Pairs != nil && (st.Pairs.Order == study.OrderBoth || st.Pairs.Reverse == 1) {
				c.PerItem = 2
			}
			for _, two := range words.Neighbours(b) {
				c.Left[two] = 0
			}
		} else if b.Field == analysis.ByLane {
			for _, two := range words.Neighbours(b) {
				settled, err := s.Settled(ctx, rounds.Settle{Stage: b.Stage, First: two[0], Second: two[1]})
				if err != nil {
					return nil, err
				}
				c.Left[two] = settled.Left
			}
		}
		out[b.Stage] = c
	}
	return out, nil
}
