package methods_test

import (
	"fmt"
	"testing"

	"assay/internal/find/analysis"
)

func TestItemsAndTheirClustersAreCountedApart(t *testing.T) {
	t.Parallel()
	var rows []analysis.Row
	for i := range 30 {
		for k, lane := range []string{"one", "two"} {
			label := "right"
			if (i+k)%3 == 0 {
				label = "wrong"
			}
			r := said(lane, fmt.Sprintf("q%02d", i), label)
			r.Cluster = fmt.Sprintf("topic%d", i%10)
			rows = append(rows, r)
		}
	}
	s := report(t, correct(), []analysis.Spec{{}}, rows).Leaderboards[0]
	if c := s.Tests[0]; c.Items != 30 || c.Clusters != 10 || s.PerCluster() != 3 {
		t.Errorf("%d items in %d clusters, %g in each", c.Items, c.Clusters, s.PerCluster())
	}
}
