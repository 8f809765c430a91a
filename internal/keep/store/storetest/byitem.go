package storetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// itemFacts reads what is known about items, item by item.
func itemFacts(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "q", func(yield func(assay.Item, error) bool) {
		for _, id := range []string{"é", "b1", "q0", "B", "b-1", "a", "q2"} {
			if !yield(assay.Item{ID: id, Cluster: id, Fields: map[string]any{"text": "Fields of " + id + " are 100% FINE"}}, nil) {
				return
			}
		}
	}))
	g := b.to(b.staged(store.Batch, 4), store.Fetched)
	b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Errored), b.outcome(g, 2, assay.Refused))
	var verdicts []store.Verdict
	for _, item := range []string{"b1", "a", "é"} {
		at := assay.Coordinates{Stage: "good", Item: item, Lane: "gpt", Judge: "j"}
		verdicts = append(verdicts, store.Verdict{Run: b.run.No, At: at, State: assay.VerdictValid, Label: "yes"})
	}
	verdicts[0].At.Lane = "\x1fgpt" // a name with the mark in it
	verdicts = append(verdicts, store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "other", Item: "a"}, State: assay.VerdictMissing})
	_, err := b.s.Runs.AddVerdicts(b.ctx, verdicts)
	b.ok(err)
	walk := func(f store.FactsAsked) []string {
		var out []string
		for f, err := range b.s.Pages.ItemFacts(b.ctx, b.run.No, f) {
			b.ok(err)
			switch {
			case f.Ord >= 0:
				out = append(out, fmt.Sprintf("%s is %d", f.Item, f.Ord))
			case f.Verdict != nil:
				out = append(out, fmt.Sprintf("%s %s %q %s", f.Verdict.At.Item, f.Verdict.At.Stage, f.Verdict.At.Lane, f.Verdict.Label))
			default:
				out = append(out, fmt.Sprintf("%s %s %s", f.Item, f.Lane, f.Ending))
			}
		}
		return out
	}
	want := []string{"B is 3", "a is 5", `a good "gpt" yes`, "b-1 is 4", "b1 is 1", `b1 good "\x1fgpt" yes`, "q0 is 2", "q2 is 6",
		"q2 gpt refused", "é is 0", `é good "gpt" yes`}
	if d := cmp.Diff(want, walk(store.FactsAsked{Input: "q", Judging: []string{"good"}, Asking: []string{"answers"}})); d != "" {
		t.Error(d)
	}
	want = []string{"q0 gpt answered", "q2 gpt refused"}
	if d := cmp.Diff(want, walk(store.FactsAsked{Input: "none", Asking: []string{"answers"}, Whole: true})); d != "" {
		t.Error(d)
	}
	text := settlement(b.attempt(0, 0), assay.Answered).Outcome.Text
	for words, want := range map[string]map[string]bool{
		"fields OF b-": {"b-1": true}, "100% fine": {"a": true, "q0": true}, "10_% fine": {}, "B-": {"b-1": true},
		text: {"q0": true}, `\`: {},
	} {
		among := []string{"a", "b-1", "q0"}
		if words == "100% fine" {
			among = []string{"a", "q0"}
		}
		got, err := b.s.Pages.ItemsSaying(b.ctx, b.run.No, "q", []string{"answers"}, among, words)
		b.ok(err)
		if d := cmp.Diff(want, got); d != "" || words == "" {
			t.Errorf("%q: %s", words, d)
		}
	}
}
