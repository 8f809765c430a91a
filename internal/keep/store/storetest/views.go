package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// namedViews holds what a person reads in the views without a join against what was written.
func namedViews(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 2), store.Fetched)
	b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Rejected))
	score := 1.0
	pair := assay.Coordinates{Stage: "arena", Source: "answers", Item: "q0", Lane: "gpt", Against: "opus", Turn: 1, Draw: 1, Judge: "judge", Prompt: "short", Trait: "wit", Vote: 1}
	items := assay.Coordinates{Stage: "scale", Item: "S1", Against: "S2", Turn: 1, Draw: 1, Judge: "judge"}
	one := assay.Coordinates{Stage: "fine", Source: "answers", Item: "q0", Lane: "gpt", Turn: 1, Draw: 1, Judge: "judge"}
	_, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{
		{Run: b.run.No, At: pair, State: assay.VerdictValid, Label: assay.LabelB, Direction: "forward", Reason: "better"},
		{Run: b.run.No, At: items, State: assay.VerdictValid, Label: assay.LabelA, Direction: "forward"},
		{Run: b.run.No, At: one, State: assay.VerdictValid, Label: "yes", Score: &score},
		{Run: b.run.No, At: assay.Coordinates{Stage: "fine", Item: "q1", Lane: "opus", Judge: "judge"}, State: assay.VerdictMalformed, Reason: "unreadable"},
	})
	b.ok(err)
	for text, want := range map[string][]string{
		"SELECT stage, lane, asked_lane, item, turn, draw, judge, ending FROM answers WHERE run = 'r1' ORDER BY item": {
			"answers gpt gpt q0 1 0  answered", "answers gpt gpt q1 1 0  rejected"},
		"SELECT stage, source, lane, first, second, winner, prompt, trait, vote, label, state FROM verdicts_named WHERE run = 'r1' ORDER BY stage, item": {
			"arena answers  gpt opus opus short wit 1 b valid", "fine answers gpt   <nil>   0 yes valid", "fine  opus   <nil>   0 <nil> malformed", "scale   S1 S2 S1   0 a valid"},
		"SELECT stage, lane, role, state, requests, answered, rejected FROM jobs_named WHERE run = 'r1'": {"answers gpt current fetched 2 1 1"},
	} {
		if d := cmp.Diff(want, b.table(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}
