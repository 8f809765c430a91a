package methods_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/analysis"
)

// The same verdicts give the same digits to the last: no sum hangs on the order of a map.
func TestClustersAreAddedUpInOneOrder(t *testing.T) {
	t.Parallel()
	stage := correct()
	stage.Judges = []string{"j1", "j2"}
	var rows []analysis.Row
	for item := range 300 {
		cluster := item * item % 37
		for j, judge := range stage.Judges {
			for vote := range 2 { // asked twice; the second judge contradicts the first in some clusters, and itself in some answers
				r := said("m", fmt.Sprint(item), []string{"right", "wrong"}[(item/3+j*(cluster/5)+vote*(item/7))%2])
				r.Judge, r.Vote, r.Cluster = judge, vote, fmt.Sprint("c", cluster)
				rows = append(rows, r)
			}
		}
	}
	specs := []analysis.Spec{{Method: analysis.Agreement}, {Method: analysis.JudgeBias}}
	want := report(t, stage, specs, rows)
	for range 30 {
		if diff := cmp.Diff(want, report(t, stage, specs, rows)); diff != "" {
			t.Fatal(diff)
		}
	}
}
