package runs_test

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// judging has the lanes judge: what holds "yes" is a verdict.
func judging(w *world) {
	w.plan.verdict = func(o assay.Outcome) assay.Verdict {
		if strings.Contains(o.Text, "yes") {
			return assay.Verdict{State: assay.VerdictValid, Label: "yes"}
		}
		return assay.Verdict{State: assay.VerdictMalformed, Why: "it holds no yes"}
	}
}

// says has the first n replies, in batches and live, hold a text, and the rest another.
func says(w *world, n int, first, rest string) {
	said := 0
	next := func() assay.Outcome {
		if said++; said <= n {
			return assay.Outcome{Ending: assay.Answered, Text: first}
		}
		return assay.Outcome{Ending: assay.Answered, Text: rest}
	}
	w.fake.live = func(string, int) (assay.Outcome, error) { return next(), nil }
	w.fake.answer = func(assay.Key, string) (assay.Outcome, string) { return next(), "" }
}

func TestACanaryWithoutAVerdictHoldsItsJudge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, judging, func(w *world) { w.canary = store.CanaryDue })
	says(w, 1, "Well …", "yes")
	_, err := w.drive()
	w.ok(err)
	l := w.lane("red")
	if len(w.fake.jobs) != 0 || l.State != store.LaneStopped || l.Canary != store.CanaryFailed ||
		!strings.Contains(l.Reason, "holds no yes") {
		t.Fatalf("%d jobs, lane %+v", len(w.fake.jobs), l)
	}
	w.retry()
	w.finished(store.ResultDone)
	if l := w.lane("red"); l.Endings[assay.Answered] != 3 || l.Unread != 1 {
		t.Errorf("sent all the same: %+v", l)
	}
}

func TestAJudgeThatOnlyTalksIsStopped(t *testing.T) {
	t.Parallel()
	const items = 6000 // more than one slice
	for _, c := range []struct {
		name  string
		live  bool
		share float64
		bad   int // so many replies come first and hold no verdict
		stops bool
	}{
		{"live, nothing but talk", true, 0, items, true},
		{"in batches, nothing but talk", false, 0, 100, true},
		{"live, one verdict at last", true, 0, items - 1, true},
		{"live, some talk", true, 0, 10, false},
		{"live, much talk under stop_if", true, 0.3, items / 2, true},
		{"in batches, some talk under stop_if", false, 0.3, 5, false},
		{"in batches, much talk under stop_if", false, 0.3, 15, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := liveOf(items)
			if !c.live {
				set = func(w *world) { one(w); w.plan.items, w.plan.cut.Size = 100, 25 }
			}
			w := newWorld(t, set, judging, func(w *world) {
				if c.share > 0 {
					w.plan.policy.StopAbove = map[string]float64{"red": c.share}
				}
			})
			says(w, c.bad, "Well …", "yes")
			_, err := w.drive()
			w.ok(err)
			l := w.lane("red")
			if stopped := l.State == store.LaneStopped && strings.Contains(l.Reason, "verdict"); stopped != c.stops {
				t.Errorf("the lane is %s with %d of %d unread: %s\n%s", l.State, l.Unread, l.Ended(), l.Reason, w.history())
			}
		})
	}
}

func TestARunOfWhichNoVerdictCanBeReadIsNotDone(t *testing.T) {
	t.Parallel()
	for bad, want := range map[int]store.Result{3: store.ResultIncomplete, 2: store.ResultDone} {
		w := newWorld(t, one, judging)
		says(w, bad, "Well …", "yes")
		w.finished(want)
	}
}
