package workspace

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
)

// grown returns the small study with a lane, an item, a draw, a judge and its stage more.
func grown() string {
	return strings.NewReplacer(
		"expect: \"2\"}]", "expect: \"2\"}, {id: three, text: What is three?, expect: \"3\"}]",
		"stages:", "  c: {model: openai/gpt-4.1-nano}\n  j: {model: openai/gpt-4.1}\nstages:",
		"turns: [\"{{ text }}\"]", "turns: [\"{{ text }}\"], repeats: 2",
	).Replace(smallStudy) + "  - {name: fine, judge: answers, rubric: stance, judges: [j]}\n"
}

// extended gives a run more to ask, and returns it with the changes and what it takes over.
func (r *rig) extended(h *Home) (store.Run, string, TakeOver) {
	r.t.Helper()
	words, taken := "", TakeOver{}
	run, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{
		Resumed: func(Current) error { return nil },
		Confirm: func([]store.Run, *Edit) error { r.t.Error("a new run is begun"); return nil },
		Extend:  func(now Current, over TakeOver) error { words, taken = now.Edit.Words(), over; return nil },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return run, words, taken
}

func TestAStudyThatOnlyAddsExtendsItsRun(t *testing.T) {
	t.Parallel()
	for _, state := range []store.RunState{store.RunClosed, store.RunOpen} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, smallStudy)
			h := r.open(false)
			run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			before := map[string]string{}
			if state == store.RunClosed {
				run = r.drive(h, run, Drive{}).Run
				before = r.texts(h, run)
			}
			r.write("study.yaml", grown())
			again, words, over := r.extended(h)
			if d := cmp.Diff("lanes +2 (c, j), stages +1 (fine), repeats of stage answers (nothing → 2), items of input "+
				"questions +1 (three)", words); d != "" {
				t.Error(d)
			}
			if again.ID != run.ID || again.State != store.RunOpen || over.Most != int64(2*len(before)) || over.New != 36-over.Most ||
				over.Cost.Expected.Sum <= 0 {
				t.Errorf("%s is %s, %+v", again.ID, again.State, over)
			}
			c := r.drive(h, again, Drive{})
			if c.State != runs.StateDone {
				t.Fatalf("it is %s", c.State)
			}
			asked := map[string]int{}
			for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "answers", "") {
				if err != nil || a.Reused != 0 || a.Try != 1 {
					t.Error(a.At, a.Reused, a.Try, err)
				}
				asked[a.At.Lane]++
			}
			if d := cmp.Diff(map[string]int{"a": 6, "b": 6, "c": 6}, asked); d != "" {
				t.Error(d)
			}
			verdicts := map[string]int{}
			for _, stage := range []string{"checked", "fine"} {
				for v, err := range h.Ledger.Reader.Verdicts(r.ctx, run.No, stage) {
					if err != nil || v.State == assay.VerdictMissing {
						t.Error(v.At, v.State, err)
					}
					verdicts[stage]++
				}
			}
			if d := cmp.Diff(map[string]int{"checked": 18, "fine": 18}, verdicts); d != "" {
				t.Error(d)
			}
			for item, text := range before {
				if r.texts(h, c.Run)[item] == "" || text == "" {
					t.Errorf("the answer to %s is gone", item)
				}
			}
			// The same command again has nothing to do.
			if now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{})); err != nil || now.Run.ID != run.ID ||
				now.Edit != nil {
				t.Errorf("%+v, %v", now, err)
			}
		})
	}
}

func TestANoLeavesARunAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	r.write("study.yaml", grown())
	_, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}),
		Doorkeeper{Extend: func(Current, TakeOver) error { return errors.New("no") }})
	now, lost := h.Ledger.Reader.Run(r.ctx, run.No)
	if err == nil || lost != nil || now.Digest != run.Digest || now.State != store.RunClosed {
		t.Errorf("%+v, %v, %v", now, err, lost)
	}
}

func TestWhatWasCancelledOrAskedAgainDoesNotGrow(t *testing.T) {
	t.Parallel()
	for kind, args := range map[store.OrderKind]string{store.OrderCancel: "{}",
		store.OrderRedo: `{"stage":"answers","lane":"a","item":"one"}`} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, smallStudy)
			h := r.open(false)
			run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if _, err := h.PutOrder(r.ctx, run, store.Order{Kind: kind, Args: args}); err != nil {
				t.Fatal(err)
			}
			r.drive(h, run, Drive{})
			r.write("study.yaml", grown())
			now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
			if err != nil || now.Run.No != 0 || now.Edit == nil || now.Edit.Grows {
				t.Errorf("%+v, %v", now, err)
			}
		})
	}
}
