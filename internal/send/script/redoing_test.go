package script_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
)

// redo orders one more draw and drives the run to its end. It returns what the order was answered.
func (r *rig) redo(run store.Run, o engine.Redo) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	text, err := json.Marshal(o)
	if err != nil {
		r.t.Fatal(err)
	}
	no, err := r.ledger.Runs.PutOrder(ctx, store.Order{Run: run.No, Kind: store.OrderRedo, Args: string(text), By: "anna"})
	if err != nil {
		r.t.Fatal(err)
	}
	st, err := (&local.Driver{Engine: r.engine}).Drive(ctx, run.No)
	if err != nil || !st.Closed || st.Result != store.ResultDone {
		r.t.Fatalf("after the redo: %+v, %v", st, err)
	}
	order, err := r.ledger.Reader.Order(ctx, no)
	if err != nil {
		r.t.Fatal(err)
	}
	return order.Answer
}

// texts returns the answers of a run by coordinates.
func (r *rig) texts(run store.Run) map[assay.Coordinates]string {
	r.t.Helper()
	out := map[assay.Coordinates]string{}
	for a, err := range r.ledger.Reader.Answers(context.Background(), run.No, "", "") {
		if err != nil {
			r.t.Fatal(err)
		}
		if !a.Outcome.Ending.Stands() {
			r.t.Errorf("%+v has no answer", a.At)
		}
		out[a.At] = a.Outcome.Text
	}
	return out
}

// added returns the requests that have an answer now and had none before, as stage, turn, branch and draw; what was answered
// before must have stayed as it was.
func added(t *testing.T, before, after map[assay.Coordinates]string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for at, text := range after {
		was, there := before[at]
		if there && was != text {
			t.Errorf("the answer to %+v was replaced", at)
		}
		if !there {
			out[fmt.Sprintf("%s turn %d %s draw %d vote %d", at.Stage, at.Turn, at.Branch, at.Draw, at.Vote)]++
		}
	}
	return out
}

func TestARedoIsAFurtherDrawThatJudgesReadAndNothingIsReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes +
		`  - {name: one, ask: q, turns: ["{{ text }}", {each: {doubt: Sure?, expert: An expert says no.}}], lanes: [g, h], repeats: 2}
  - {name: flips, judge: one, rubric: flip, judges: [j]}
`)
	before := r.texts(run)
	answer := r.redo(run, engine.Redo{Stage: "one", Lane: "g", Item: "a", Branch: "doubt", Draw: 2})
	if answer != "3 requests are asked again, as further draws" {
		t.Errorf("the order was answered %q", answer)
	}
	after := r.texts(run)
	want := map[string]int{"one turn 1  draw 4 vote 0": 1, "one turn 2 doubt draw 4 vote 0": 1, "flips turn 2 doubt draw 4 vote 0": 1}
	if d := cmp.Diff(want, added(t, before, after)); d != "" {
		t.Errorf("asked again (-want +got):\n%s", d)
	}
	second := assay.Coordinates{Stage: "one", Item: "a", Lane: "g", Turn: 2, Branch: "doubt", Draw: 4}
	built, err := r.planner.Build(context.Background(), run, store.Batch, []assay.Coordinates{second})
	if err != nil {
		t.Fatal(err)
	}
	first := assay.Coordinates{Stage: "one", Item: "a", Lane: "g", Turn: 1, Draw: 4}
	if got := built[0].Request.Prompt.Messages[1].Text; got != after[first] || got == "" {
		t.Errorf("the further draw follows %q, want its own first answer %q", got, after[first])
	}
	before = maps.Clone(after)
	r.redo(run, engine.Redo{Stage: "one", Lane: "g", Item: "a", Branch: "doubt", Draw: 2})
	want = map[string]int{"one turn 1  draw 6 vote 0": 1, "one turn 2 doubt draw 6 vote 0": 1, "flips turn 2 doubt draw 6 vote 0": 1}
	if d := cmp.Diff(want, added(t, before, r.texts(run))); d != "" {
		t.Errorf("asked a third time (-want +got):\n%s", d)
	}
}

func TestARedoOfAJudgeIsOneMoreVote(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}
  - {name: ok, judge: one, rubric: stance, judges: [j]}
  - {name: arena, compare: one, identical: ask, pairs: {all: true, order: both}, rubric: better, judges: [j]}
`)
	verdicts := func() int {
		n := 0
		for _, m := range r.verdicts(run) {
			n += m
		}
		return n
	}
	for _, c := range []struct {
		redo engine.Redo
		want map[string]int
	}{
		{engine.Redo{Stage: "ok", Lane: "j", Item: "b"}, map[string]int{"ok turn 1  draw 1 vote 1": 2}},
		{engine.Redo{Stage: "arena", Lane: "j", Item: "b"}, map[string]int{"arena turn 1  draw 1 vote 1": 2}},
		{engine.Redo{Stage: "arena", Lane: "j", Item: "b", Draw: 1}, map[string]int{"arena turn 1  draw 1 vote 2": 2}},
		{engine.Redo{Stage: "arena", Lane: "j", Item: "nosuch"}, map[string]int{}},
		{engine.Redo{Stage: "arena", Lane: "g", Item: "b"}, map[string]int{}},
		{engine.Redo{Stage: "nowhere", Lane: "j", Item: "b"}, map[string]int{}},
	} {
		before, had := r.texts(run), verdicts()
		r.redo(run, c.redo)
		got := added(t, before, r.texts(run))
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.redo, d)
		}
		more := 0
		for _, n := range got {
			more += n
		}
		if now := verdicts(); now != had+more {
			t.Errorf("%+v: %d verdicts, want %d", c.redo, now, had+more)
		}
	}
}
