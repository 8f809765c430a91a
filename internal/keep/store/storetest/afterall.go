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
	of := func(item string, state store.VerdictState, label string) store.Verdict {
		return store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "flips", Item: item, Judge: "judge"}, State: state, Label: label, Fields: "{}"}
	}
	notes := []store.Verdict{of("q1", store.VerdictFailed, ""), of("q2", store.VerdictMissing, ""), of("q3", store.VerdictMalformed, ""), of("q4", store.VerdictMissing, "")}
	_, err := b.s.Runs.AddVerdicts(b.ctx, notes)
	b.ok(err)
	said := []store.Verdict{of("q1", store.VerdictValid, "flip"), of("q2", store.VerdictValid, "hold"), of("q3", store.VerdictValid, "flip"), of("q4", store.VerdictFailed, "")}
	for again, want := range []int64{2, 0} {
		if n, err := b.s.Runs.AddVerdicts(b.ctx, said); n != want || err != nil {
			t.Errorf("time %d: %d new, want %d, error %v", again+1, n, want, err)
		}
	}
	if _, err := b.s.Runs.AddVerdicts(b.ctx, notes); err != nil {
		t.Error(err)
	}
	states := map[string]store.VerdictState{}
	for _, v := range b.verdicts("flips") {
		states[v.At.Item] = v.State
	}
	if d := cmp.Diff(map[string]store.VerdictState{"q1": "valid", "q2": "valid", "q3": "malformed", "q4": "missing"}, states); d != "" {
		t.Error(d)
	}
}
