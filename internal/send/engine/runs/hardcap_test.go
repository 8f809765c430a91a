package runs_test

import (
	"context"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// TestAnAnswerOfUnknownCostKeepsItsReservation has one answer in each mode that does not report its tokens.
func TestAnAnswerOfUnknownCostKeepsItsReservation(t *testing.T) {
	t.Parallel()
	mute := func(text string, is bool) assay.Outcome {
		o := assay.Outcome{Ending: assay.Answered, Text: text, Usage: assay.Usage{Known: true, Input: 10, Output: 10}}
		if is {
			o.Usage = assay.Usage{}
		}
		return o
	}
	for name, set := range map[string]func(*world){
		"batch": func(w *world) {
			w.plan.items = 4
			w.fake.answer = func(key assay.Key, _ string) (assay.Outcome, string) {
				return mute("a", key == w.plan.at("red", 2, 1).Key()), ""
			}
		},
		"live": liveOf(4, func(w *world) {
			w.fake.live = func(prompt string, _ int) (assay.Outcome, error) { return mute("a", prompt == "q 2"), nil }
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := assay.Money(1_000_000)
			w := newWorld(t, set, func(w *world) { w.budget, w.plan.price, w.plan.lanes = &budget, 70_000, []string{"red"} })
			w.finished(store.ResultDone)
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			if r.Spent != 60_000 || r.Perhaps != 70_000 || r.Reserved != 0 || r.Unpriced != 1 {
				t.Errorf("spent %s, perhaps %s, reserved %s, %d unpriced; want three answers, and the most that the fourth may cost",
					r.Spent, r.Perhaps, r.Reserved, r.Unpriced)
			}
		})
	}
}

// TestALostReplyIsNotAskedAgainOverAHardBudget loses a reply under a budget that covers each request once.
func TestALostReplyIsNotAskedAgainOverAHardBudget(t *testing.T) {
	t.Parallel()
	budget := assay.Money(3 * 70_000)
	w := newWorld(t, liveOf(3, func(w *world) {
		w.budget, w.plan.price, w.plan.lanes, w.plan.policy.ReserveHigh = &budget, 70_000, []string{"red"}, true
	}))
	w.fake.wobble = func(call string, n int) error {
		if call == "ask" && n == 1 {
			return context.DeadlineExceeded
		}
		return nil
	}
	for range 3 { // it stays so
		_, err := w.drive()
		w.ok(err)
		w.ok(w.s.Leases.RunDue(w.ctx, w.run.No, w.clock.Now()))
	}
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if n := w.fake.calls["ask"]; n > 3 || r.State == store.RunClosed {
		t.Errorf("%d calls under a budget for 3, one of which may be billed twice; the run is %s", n, r.State)
	}
	more := budget + 70_000
	w.ok(w.s.Runs.SetBudget(w.ctx, w.run.No, &more))
	w.finished(store.ResultDone)
	if n := w.fake.calls["ask"]; n != 4 {
		t.Errorf("%d calls", n)
	}
}

func TestATierWithoutAPriceIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, liveOf(3, func(w *world) {
		w.fake.live = func(string, int) (assay.Outcome, error) {
			used := assay.Usage{Known: true, Input: 10, Output: 10}
			return assay.Outcome{Ending: assay.Answered, Text: "a", Tier: "scale", Usage: used}, nil
		}
	}))
	w.finished(store.ResultDone)
	all, err := w.s.Reader.EventsOf(w.ctx, w.run.No, store.TierEvent)
	w.ok(err)
	if r, err := w.s.Reader.Run(w.ctx, w.run.No); err != nil || r.Spent != 60_000 || len(all) != 1 {
		t.Errorf("spent %s, %v: %+v", r.Spent, err, all)
	}
}
