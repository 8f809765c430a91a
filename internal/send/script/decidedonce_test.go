package script_test

import (
	"testing"
	"testing/fstest"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/planner"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
)

const jury = lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g], mode: live}
  - {name: voted, judge: one, rubric: {prompt: "{{ answer.text }}", labels: {good: 1, bad: 0}}, judges: [j, h], jury: majority, mode: live}
  - {name: more, ask: q, prompt: "More: {{ text }}", lanes: [g], mode: live, where: 'verdict("voted").state == "valid"'}
`

func TestAStageIsNotClosedWhileAnswersOfItAreUnread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	run := r.begin(ctx, fstest.MapFS{"s.yaml": {Data: []byte(jury)}})
	late := r.advanceBut(run, "voted", "h")
	r.settle(late)
	s, err := r.planner.Open(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verdicts.Close(ctx); err != nil {
		t.Fatal(err)
	}
	more := store.GroupKey{Stage: "more", Lane: "g", Turn: 1}
	for q, err := range s.Requests(ctx, more, store.Live, nil) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("item %q is asked on half a jury's word", q.At.Item)
	}
	if err := s.Verdicts.Absorb(ctx); err != nil {
		t.Fatal(err)
	}
	if got := r.verdicts(run)["voted valid"]; got != 6 {
		t.Errorf("%d verdicts of the jury, want 6", got)
	}
}

// advanceBut extends a run and brings its segments to their ends until only those of one judge are left. It returns the last
// of these.
func (r *rig) advanceBut(run store.Run, stage, lane string) store.Segment {
	r.t.Helper()
	ctx := r.t.Context()
	for {
		if _, err := r.engine.Extend(ctx, run.No); err != nil {
			r.t.Fatal(err)
		}
		all, err := r.ledger.Reader.Segments(ctx, run.No)
		if err != nil {
			r.t.Fatal(err)
		}
		var left []store.Segment
		moved := false
		for _, g := range all {
			switch {
			case g.State.Terminal():
			case g.Stage == stage && g.Lane == lane:
				left = append(left, g)
			default:
				r.settle(g)
				moved = true
			}
		}
		if !moved && len(left) > 0 {
			return left[len(left)-1]
		}
	}
}

// settle brings a segment to its end.
func (r *rig) settle(g store.Segment) {
	r.t.Helper()
	for !g.State.Terminal() {
		if err := r.engine.Advance(r.t.Context(), g.No); err != nil {
			r.t.Fatal(err)
		}
		var err error
		if g, err = r.ledger.Reader.Segment(r.t.Context(), g.No); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestWhatWasDecidedIsBuiltAgainWhateverItsConditionSaysNow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	run := r.run(lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g]}
  - {name: part, judge: one, rubric: exact, where: 'id != "a"'}
  - {name: rest, continue: one, turns: [Sure?], where: 'verdict("part").state == "missing"'}
`)
	var at []assay.Coordinates
	for a, err := range r.ledger.Reader.Answers(ctx, run.No, "rest", "g") {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, a.At)
	}
	if len(at) != 1 || at[0].Item != "a" {
		t.Fatalf("asked %v, want item a alone", at)
	}
	// Another process has read nothing yet: to it, a verdict may still come.
	fresh := &planner.Planner{Library: library(r.ledger, r.planner.Files)}
	built, err := fresh.Build(ctx, run, store.Live, at)
	if err != nil || len(built) != 1 || built[0].At != at[0] {
		t.Errorf("built %d requests, error %v; want the one that was decided", len(built), err)
	}
}

func TestAConditionWaitsForASecondTry(t *testing.T) {
	t.Parallel()
	judges := minds.DefaultJudges()
	judges.Malformed = 0.5
	r := newRigWith(t, simulator.Options{Seed: 1, Judges: &judges})
	ctx := t.Context()
	run := r.begin(ctx,
		fstest.MapFS{"s.yaml": {Data: []byte(lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h, f], mode: live}
  - {name: ok, judge: one, rubric: likert, judges: [j], second_try: true, mode: live}
  - {name: more, continue: one, turns: [Sure?], mode: live, where: 'verdict("ok").state == "malformed"'}
`)}})
	first := r.advanceBut(run, "ok", "j")
	r.settle(first)
	s, err := r.planner.Open(ctx, run)
	if err == nil {
		err = s.Verdicts.Absorb(ctx)
	}
	if err == nil {
		_, err = s.Verdicts.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.verdicts(run)["ok malformed"] == 0 {
		t.Fatal("no verdict is malformed")
	}
	for _, lane := range []string{"g", "h", "f"} {
		for q, err := range s.Requests(ctx, store.GroupKey{Stage: "more", Lane: lane, Turn: 1}, store.Live, nil) {
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("item %q of lane %s is asked before the second try", q.At.Item, lane)
		}
	}
}
