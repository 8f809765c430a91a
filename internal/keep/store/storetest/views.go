package storetest

import (
	"testing"
	"time"

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
	pair := assay.Coordinates{Stage: "arena", Source: "answers", Item: "q0", Lane: "gpt", Against: "opus", Turn: 1, Draw: 1, Judge: "judge",
		Prompt: "short", Trait: "wit", Vote: 1}
	items := assay.Coordinates{Stage: "scale", Item: "S1", Against: "S2", Turn: 1, Draw: 1, Judge: "judge"}
	one := assay.Coordinates{Stage: "fine", Source: "answers", Item: "q0", Lane: "gpt", Turn: 1, Draw: 1, Judge: "judge"}
	_, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{
		{Run: b.run.No, At: pair, State: assay.VerdictValid, Label: assay.LabelB, Direction: "forward", Reason: "better"},
		{Run: b.run.No, At: items, State: assay.VerdictValid, Label: assay.LabelA, Direction: "forward"},
		{Run: b.run.No, At: one, State: assay.VerdictValid, Label: "yes", Score: &score},
		{Run: b.run.No, At: assay.Coordinates{Stage: "fine", Item: "q1", Lane: "opus", Judge: "judge"}, State: assay.VerdictMalformed,
			Reason: "unreadable"},
	})
	b.ok(err)
	for text, want := range map[string][]string{
		"SELECT stage, lane, asked_lane, item, turn, draw, judge, ending FROM answers WHERE run = 'r1' ORDER BY item": {
			"answers gpt gpt q0 1 0  answered", "answers gpt gpt q1 1 0  rejected"},
		"SELECT stage, source, lane, first, second, winner, prompt, trait, vote, label, state FROM verdicts_named WHERE run = 'r1' ORDER " +
			"BY stage, item": {
			"arena answers  gpt opus opus short wit 1 b valid", "fine answers gpt   <nil>   0 yes valid",
			"fine  opus   <nil>   0 <nil> malformed", "scale   S1 S2 S1   0 a valid"},
		"SELECT stage, lane, role, state, requests, answered, rejected FROM jobs_named " +
			"WHERE run = 'r1'": {"answers gpt current fetched 2 1 1"},
	} {
		if d := cmp.Diff(want, b.table(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func views(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 4), store.Fetched)
	bad := b.outcome(g, 1, assay.Errored)
	bad.Again = &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 3}
	b.settle(g, b.outcome(g, 0, assay.Answered), bad, b.outcome(g, 2, assay.Rejected), b.outcome(g, 3, assay.Cut))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	h := b.to(b.resend(), store.Fetched)
	b.settle(h, b.outcome(h, 0, assay.Answered))
	b.ok(b.s.Work.Finish(b.ctx, h.Lease, time.Time{}))
	b.staged(store.Batch, 1)
	tests := []struct {
		text string
		want []string
	}{
		{"SELECT lane, status, count, cache_hits FROM lane_status WHERE run = 'r1' ORDER BY lane, status",
			[]string{"gpt answered 2 2", "gpt cut 1 1", "gpt open 1 0", "gpt rejected 1 0", "gpt unasked 995 0", "opus unasked 1000 0"}},
		{"SELECT lane, planned, generations, completed, errors, cache_hits, runs FROM lane_coverage WHERE study = 'demo' ORDER BY lane",
			[]string{"gpt 1000 5 3 1 3 1", "opus 1000 0 0 0 0 1"}},
		{"SELECT lane, item, status, code, message, attempt FROM run_errors WHERE run = 'r1'", []string{"gpt q2 rejected oops it broke 1"}},
		{"SELECT lane, provider, mode, segments, attempts, priced, unpriced, spent_nano, reserved_nano, input_tokens, output_tokens FROM " +
			"run_spend ORDER BY segments", []string{"gpt openai batch 1 1 1 0 1000 0 10 5", "gpt openai batch 2 5 4 0 5000 0 20 10"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, b.table(tt.text)); d != "" {
			t.Errorf("%s\n%s", tt.text, d)
		}
	}
}

func askedOf(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	b.staged(store.Batch, 2)
	group := store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}}
	other := group
	other.Turn = 2
	for _, tt := range []struct {
		group store.Group
		most  int64
		want  map[assay.Key]int64
		all   bool
	}{
		{group, 2, map[assay.Key]int64{b.attempt(0, 0).Key: 1, b.attempt(0, 1).Key: 1}, true},
		{group, 1, nil, false},
		{other, 1, nil, true},
	} {
		got, all, err := b.s.Work.AskedOf(b.ctx, tt.group, tt.most)
		b.ok(err)
		if d := cmp.Diff(tt.want, got); d != "" || all != tt.all {
			t.Errorf("%+v, at most %d: all %v, %s", tt.group, tt.most, all, d)
		}
	}
}
