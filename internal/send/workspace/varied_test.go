package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study/plan"
)

func TestHowFarAnswersVariedIsTheMiddleOfAllPairs(t *testing.T) {
	t.Parallel()
	test := func(se float64, clusters int, information stats.Number) analysis.Contrast {
		return analysis.Contrast{SE: stats.Known(se), Clusters: clusters, Information: information}
	}
	none := stats.Undefined("no error")
	for name, c := range map[string]struct {
		leaderboard analysis.Leaderboard
		want        plan.Varied
		ok          bool
	}{
		"rates": {analysis.Leaderboard{What: analysis.WhatRate, Clusters: 20, Tests: []analysis.Contrast{
			test(0.1, 20, none), test(0.2, 20, none), test(0.3, 20, none)}}, plan.Varied{Items: 20, Variance: 0.8}, true},
		"strengths": {analysis.Leaderboard{What: analysis.WhatStrength, Clusters: 20, Tests: []analysis.Contrast{
			test(0.1, 20, stats.Known(0.2))}}, plan.Varied{Items: 20, Information: 0.2}, true},
		"few items": {analysis.Leaderboard{What: analysis.WhatRate, Clusters: 9, Tests: []analysis.Contrast{test(0.1, 9, none)}},
			plan.Varied{Items: 9}, false},
		"all alike": {analysis.Leaderboard{What: analysis.WhatRate, Clusters: 20, Tests: []analysis.Contrast{test(0, 20, none)}},
			plan.Varied{Items: 20}, false},
		"mostly alike": {analysis.Leaderboard{What: analysis.WhatRate, Clusters: 20,
			Tests: []analysis.Contrast{test(0.1, 20, none), test(0, 20, none), test(0, 20, none)}}, plan.Varied{Items: 20}, false},
		"a group": {analysis.Leaderboard{What: analysis.WhatRate, Clusters: 20, By: []analysis.Value{{Field: "x", Value: "y"}},
			Tests: []analysis.Contrast{test(0.1, 20, none)}}, plan.Varied{Items: 20}, false},
		"corrected by labels": {analysis.Leaderboard{What: analysis.WhatRate, Field: analysis.ByLane, Clusters: 20,
			Tests: []analysis.Contrast{test(0.1, 20, none)}, ByLabels: true}, plan.Varied{Items: 20}, false},
		"nothing": {analysis.Leaderboard{What: analysis.WhatRate}, plan.Varied{}, false},
	} {
		got, ok := variedIn(&c.leaderboard)
		if ok != c.ok || !ok && got.Variance+got.Information != 0 {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
