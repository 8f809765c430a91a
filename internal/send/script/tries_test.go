package script_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/planner"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
)

func TestAMalformedVerdictIsAskedForOnceMoreAndNeverTwice(t *testing.T) {
	t.Parallel()
	judges := minds.DefaultJudges()
	judges.Malformed = 0.5
	r := newRigWith(t, simulator.Options{Seed: 1, Judges: &judges})
	run := r.run(lanes + `  - {name: one, ask: q, turns: ["{{ text }}", Sure?], lanes: [g, h, f]}
  - {name: ok, judge: one, of: each, rubric: likert, judges: [j], second_try: true}
  - {name: once, judge: one, of: each, rubric: likert, judges: [j]}
`)
	if run.Result != store.ResultDone {
		t.Errorf("the run is %s, want done: what no second try was needed for is spared", run.Result)
	}
	asked, again := map[int]int{}, 0 // by turn
	for a, err := range r.ledger.Reader.Answers(context.Background(), run.No, "ok", "j") {
		if err != nil {
			t.Fatal(err)
		}
		if a.At.Again > 0 {
			again++
		} else {
			asked[a.At.Turn]++
		}
	}
	states, second := map[assay.VerdictState]int{}, 0
	for v, err := range r.ledger.Reader.Verdicts(context.Background(), run.No, "ok") {
		if err != nil {
			t.Fatal(err)
		}
		if v.At.Again > 0 {
			t.Errorf("the verdict on %+v stands at its second try", v.At)
		}
		states[v.State]++
		if v.Again > 0 {
			second++
		}
	}
	if asked[1] != 9 || asked[2] != 9 || again == 0 || again == 18 || second != again {
		t.Errorf("asked by turn %v, %d second verdicts; want 9 in turns 1 and 2, and one second verdict for each second try", asked, second)
	}
	if n := states[assay.VerdictValid] + states[assay.VerdictMalformed] + states[assay.VerdictAbstained]; n != 18 {
		t.Errorf("verdicts %v, want one for each of 18 answers", states)
	}
	if before := r.verdicts(run)["once malformed"]; states[assay.VerdictMalformed] >= before {
		t.Errorf("%d malformed with a second try, %d without", states[assay.VerdictMalformed], before)
	}
	// A restart reads everything again, and changes nothing.
	want := r.verdicts(run)
	fresh := &planner.Planner{Library: library(r.ledger, r.planner.Files)}
	if err := fresh.Absorb(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.verdicts(run)); diff != "" {
		t.Errorf("verdicts after a restart (-want +got):\n%s", diff)
	}
}
