package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// verdictAfterAll notes that answers are missing, and writes their verdicts when they have come.
func verdictAfterAll(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	of := func(item string, state assay.VerdictState, label string) store.Verdict {
		return store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "flips", Item: item, Judge: "judge"}, State: state, Label: label,
			Fields: "{}"}
	}
	notes := []store.Verdict{of("q1", assay.VerdictFailed, ""), of("q2", assay.VerdictMissing, ""), of("q3", assay.VerdictMalformed, ""),
		of("q4", assay.VerdictMissing, "")}
	_, err := b.s.Runs.AddVerdicts(b.ctx, notes)
	b.ok(err)
	verdicts := []store.Verdict{of("q1", assay.VerdictValid, "flip"), of("q2", assay.VerdictValid, "hold"),
		of("q3", assay.VerdictValid, "flip"), of("q4", assay.VerdictFailed, "")}
	for again, want := range []int64{2, 0} {
		if n, err := b.s.Runs.AddVerdicts(b.ctx, verdicts); n != want || err != nil {
			t.Errorf("time %d: %d new, want %d, error %v", again+1, n, want, err)
		}
	}
	if _, err := b.s.Runs.AddVerdicts(b.ctx, notes); err != nil {
		t.Error(err)
	}
	states := map[string]assay.VerdictState{}
	for _, v := range b.verdicts("flips") {
		states[v.At.Item] = v.State
	}
	if d := cmp.Diff(map[string]assay.VerdictState{"q1": "valid", "q2": "valid", "q3": "malformed", "q4": "missing"}, states); d != "" {
		t.Error(d)
	}
}
