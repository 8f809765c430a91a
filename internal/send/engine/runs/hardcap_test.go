package runs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
	"assay/internal/study/catalog"
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

// TestATierThatNobodyAskedForIsNamed has answers in a tier that no list has, in a dear one, in one without a price, and in one that costs
// the same.
func TestATierThatNobodyAskedForIsNamed(t *testing.T) {
	t.Parallel()
	schedule := func(factor assay.Money) catalog.Schedule {
		rate := catalog.Rate{Million: factor * assay.Dollar, Known: true}
		return catalog.Schedule{Short: catalog.Rates{Input: rate, Output: rate}}
	}
	for tier, c := range map[string]struct {
		spent assay.Money
		word  string
	}{
		"scale":    {60_000, "does not have"},
		"priority": {120_000, "not asked for"},
		"reserved": {0, "not asked for"},
		"default":  {60_000, ""},
	} {
		t.Run(tier, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, liveOf(3, func(w *world) {
				w.plan.tiers = map[string]catalog.Schedule{"priority": schedule(2), "default": schedule(1), "reserved": {}}
				w.fake.live = func(string, int) (assay.Outcome, error) {
					used := assay.Usage{Known: true, Input: 10, Output: 10}
					return assay.Outcome{Ending: assay.Answered, Text: "a", Tier: tier, Usage: used}, nil
				}
			}))
			w.finished(store.ResultDone)
			all, err := w.s.Reader.EventsOf(w.ctx, w.run.No, store.TierEvent)
			w.ok(err)
			if r, err := w.s.Reader.Run(w.ctx, w.run.No); err != nil || r.Spent != c.spent || len(all) != min(len(c.word), 1) ||
				len(all) > 0 && !strings.Contains(all[0].Text, c.word) {
				t.Errorf("spent %s, %v: %+v", r.Spent, err, all)
			}
		})
	}
}

// TestALostCreateCallIsInsideAHardBudget loses the first create call under budgets that cover the job once or twice.
func TestALostCreateCallIsInsideAHardBudget(t *testing.T) {
	t.Parallel()
	const job = assay.Money(3 * 70_000)
	for name, c := range map[string]struct {
		fate     provider.LaunchStatus
		budget   assay.Money
		unmarked bool // jobs have no stamp
		launches int
		spent    assay.Money
	}{
		"it arrives late, and is waited for":                 {fate: "slow", budget: job, launches: 1, spent: 60_000},
		"it arrives late, and nothing shows whose it is":     {fate: "slow", budget: job, unmarked: true, launches: 1, spent: 60_000},
		"it never arrives, and the money is free again":      {fate: "vanished", budget: job, launches: 2, spent: 60_000},
		"it never arrives, and nothing would show":           {fate: "vanished", budget: job, unmarked: true, launches: 2, spent: 60_000},
		"it arrives late, and the budget covers both":        {fate: "slow", budget: 2 * job, launches: 2, spent: 80_000},
		"it never arrives, and the budget would cover a 2nd": {fate: "vanished", budget: 2 * job, launches: 2, spent: 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) {
				w.fake.stamped, w.fake.takes = !c.unmarked, time.Minute
				w.timing.Unfenced, w.timing.LagUnstamped, w.timing.Audit = time.Minute, time.Minute, 3*time.Hour
				w.budget, w.plan.price, w.plan.policy.ReserveHigh = &c.budget, 70_000, true
			})
			w.inline()
			w.fake.launch = func(n int) provider.LaunchStatus {
				if n == 1 {
					return c.fate
				}
				return provider.Accepted
			}
			w.until(func() bool { all := w.segments(); return len(all) > 0 && all[0].LostMost > 0 })
			if r, err := w.s.Reader.Run(w.ctx, w.run.No); err != nil || r.Perhaps != job || r.Reserved > c.budget-job {
				t.Errorf("%v: perhaps %s, reserved %s; want %s of a lost call", err, r.Perhaps, r.Reserved, job)
			}
			w.finished(store.ResultDone)
			w.answers(3)
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			if r.Spent != c.spent || r.Perhaps != 0 || r.Reserved != 0 || w.fake.calls["launch"] != c.launches {
				t.Errorf("spent %s, perhaps %s, reserved %s, %d create calls\n%s", r.Spent, r.Perhaps, r.Reserved, w.fake.calls["launch"],
					w.history())
			}
		})
	}
}
